//! Follows every series of a history over time, and reports its steps.

use std::path::Path;

use globset::GlobMatcher;

use crate::error::HistoryError;
use crate::follow::{FollowedHistory, followed};
use crate::groups::groups;
use crate::load::{Beside, load};
use crate::trace::SegmentPlaces;
use wirebench_record::accepted::Acceptance;
use wirebench_record::history::Facts;
use wirebench_record::metric::Metric;
use wirebench_record::trend::{SCHEMA, Trace, Trend, TrendMethod};
use wirebench_stats::change_point::{LEAST_AFTER, SMALLEST_STEP, WINDOW};

/// Follows every series × metric of the history in the folder `history` in commit order.
///
/// # Errors
/// If the folder cannot be read or holds no history. Broken files are skipped and named in the trend.
pub fn trend(history: &Path, query: &TrendQuery) -> Result<FollowedHistory, HistoryError> {
    let loaded = load(Some(history), Beside::default())?;
    if loaded.is_empty() {
        return Err(HistoryError::empty(history));
    }
    Ok(followed(loaded, Facts::default(), query))
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

/// How many of the newest pushes count as recent by default.
pub const NEWEST: usize = 5;

/// Selects the traces of a history, and holds the parameters of judging them.
#[derive(Debug)]
pub struct TrendQuery {
    /// The series to judge; `None` for all.
    pub series: Option<GlobMatcher>,
    /// The metric to judge; `None` for all, and for imported values too.
    pub metric: Option<Metric>,
    /// The project's acceptances.
    pub accepted: Vec<Acceptance>,
    /// How many of the newest pushes count as recent.
    pub newest: usize,
}

impl TrendQuery {
    pub(super) fn selects(&self, series: &str) -> bool {
        self.series.as_ref().is_none_or(|glob| glob.is_match(series))
    }
}
