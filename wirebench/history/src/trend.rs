//! Follows every series of a history over time, and reports its steps.

use std::path::Path;

use crate::error::HistoryError;
use crate::groups::groups;
use crate::import::traces;
use crate::load::{Beside, load};
pub use crate::query::{NEWEST, TrendQuery};
use crate::runs::{judge_runs, timeline};
use crate::trace::{JudgedTrace, SegmentPlaces};
use wirebench_record::trend::{SCHEMA, Trace, Trend, TrendMethod};
use wirebench_stats::change_point::{LEAST_AFTER, SMALLEST_STEP, WINDOW};

/// The trend of a history.
#[derive(Debug)]
pub struct HistoryTrend {
    /// The trend.
    pub trend: Trend,
    /// Runs that had to be read from their own files because no summary has them.
    pub not_indexed: usize,
}

/// Follows every series × metric of the history in the folder `history` in commit order.
///
/// # Errors
/// If the folder cannot be read or holds no history. Broken files are skipped and named in the trend.
pub fn trend(history: &Path, query: &TrendQuery) -> Result<HistoryTrend, HistoryError> {
    let loaded = load(Some(history), Beside::default())?;
    if loaded.is_empty() {
        return Err(HistoryError::empty(history));
    }
    let timeline = timeline(&loaded.stored);
    let mut judged = judge_runs(&loaded.stored, &timeline, query, |judged, _| judged);
    if query.metric.is_none() {
        for (name, imported) in &loaded.imported {
            for suite in &imported.suites {
                let suite = traces::of_suite(name, suite, query.rules(), |series| query.selects(series));
                judged.extend(suite.traces.into_iter().map(|one| one.judged));
            }
        }
    }
    let split = |judged: JudgedTrace| (judged.trace, judged.segments);
    let (traces, places): (_, Vec<Vec<SegmentPlaces>>) = judged.into_iter().map(split).unzip();
    let places = places.iter().map(Vec::as_slice);
    Ok(HistoryTrend {
        trend: assemble(traces, places, query, loaded.stored.len(), loaded.skipped),
        not_indexed: loaded.not_indexed,
    })
}

/// Makes a trend of traces; `places` says for each of them where its segments lie.
pub(super) fn assemble<'a>(
    traces: Vec<Trace>,
    places: impl Iterator<Item = &'a [SegmentPlaces]>,
    query: &TrendQuery,
    runs: usize,
    skipped: Vec<String>,
) -> Trend {
    let placed: Vec<_> = traces.iter().zip(places).collect();
    let groups = groups(&placed);
    Trend {
        schema: SCHEMA.into(),
        runs,
        method: TrendMethod {
            window: WINDOW,
            least_after: LEAST_AFTER,
            p: 0.001,
            smallest_step_percent: 100.0 * SMALLEST_STEP.exp_m1(),
            newest: query.newest,
        },
        skipped,
        alerts: groups.iter().filter(|group| group.alert).count(),
        open: groups.iter().filter(|group| group.open).count(),
        recent_alerts: groups.iter().filter(|group| group.recent).count(),
        groups,
        traces,
    }
}
