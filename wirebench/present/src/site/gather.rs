//! Traces → series with their metrics, each with its page, its files' names and how it stands.

use crate::site::names::{Pages, word};
use crate::site::timeline::{Mark, mark, timeline};
use wirebench_history::follow::{FollowedHistory, RUNS_SOURCE, SourceTimeline, TraceValues};
use wirebench_history::standing::{TraceStanding, standing_since};
use wirebench_record::history::Released;
use wirebench_record::metric::Metric;
use wirebench_record::run::short_commit;
use wirebench_record::site::Timeline;
use wirebench_record::trend::{Basis, Group, Trace};

/// A source with all its series.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) line: &'a SourceTimeline,
    pub(super) timeline: Timeline,
    /// The push that the newest one is compared with.
    pub(super) mark: Mark,
    /// How many regressions are open, as the history counts them.
    pub(super) open: usize,
    /// How many of them began before the mark.
    pub(super) open_before_mark: usize,
    pub(super) series: Vec<Series<'a>>,
}

/// A series with its metrics.
#[derive(Debug)]
pub(super) struct Series<'a> {
    /// `scenario@server@driver`, or the imported benchmark's name.
    pub(super) name: &'a str,
    /// The server, which decides the colour.
    pub(super) server: &'a str,
    /// The name of its page, without folder and ending.
    pub(super) page: String,
    pub(super) metrics: Vec<Drawn<'a>>,
}

/// A metric of a series.
#[derive(Debug)]
pub(super) struct Drawn<'a> {
    pub(super) trace: &'a Trace,
    pub(super) values: &'a TraceValues,
    /// The name of its files, without folder and ending.
    pub(super) column: String,
    /// The word that chooses it in the page's address.
    pub(super) word: String,
    pub(super) label: &'a str,
    pub(super) stands: TraceStanding,
    /// The reference that ratios are to: a release or a commit.
    pub(super) reference: Option<String>,
}

/// Every source, in the history's order.
pub(super) fn gather<'a>(followed: &'a FollowedHistory, releases: &[Released]) -> Vec<Source<'a>> {
    let mut pages = Pages::default();
    let mut sources: Vec<Source> = followed
        .timelines
        .iter()
        .map(|line| {
            let timeline = timeline(line, releases);
            let mark = mark(&timeline, &line.pushes);
            let groups = followed.trend.groups.iter();
            let open = || (groups.clone()).filter(|group| group.open && group.source == line.source);
            let is_before_mark = |group: &Group| {
                let first = line
                    .pushes
                    .iter()
                    .position(|push| push.commit == group.first_after.commit);
                first.is_some_and(|first| first <= mark.at)
            };
            Source {
                open: open().count(),
                open_before_mark: open().filter(|group| is_before_mark(group)).count(),
                line,
                timeline,
                mark,
                series: Vec::new(),
            }
        })
        .collect();
    for (trace, values) in followed.trend.traces.iter().zip(&followed.values) {
        let source = &mut sources[values.timeline];
        if source.series.last().is_none_or(|series| series.name != trace.series) {
            source.series.push(Series {
                name: &trace.series,
                server: server(trace),
                page: pages.name(&trace.source, &trace.series),
                metrics: Vec::new(),
            });
        }
        let mark = source.mark.at;
        let reference = reference(source.line, trace, releases);
        let Some(series) = source.series.last_mut() else {
            continue;
        };
        let name = trace
            .metric
            .map_or_else(|| "value".to_owned(), |metric| word(metric.name()));
        series.metrics.push(Drawn {
            trace,
            values,
            column: format!("{}.{name}", series.page),
            word: trace.metric.map_or("value", Metric::name).to_owned(),
            label: label(trace),
            stands: standing_since(trace, values, mark),
            reference,
        });
    }
    sources
}

/// Whether there may be runs: imported histories have none.
pub(super) fn may_have_runs(sources: &[Source]) -> bool {
    sources.is_empty() || sources.iter().any(|source| source.line.source == RUNS_SOURCE)
}

/// What is drawn, in words.
fn label(trace: &Trace) -> &str {
    match trace.metric {
        Some(metric) => metric.label(),
        None if trace.unit.is_empty() => "value",
        None => &trace.unit,
    }
}

fn server(trace: &Trace) -> &str {
    match trace.metric {
        Some(_) => trace.series.split('@').nth(1).unwrap_or(&trace.series),
        None => &trace.series,
    }
}

/// The reference of the newest ratios: a release's name, else a commit.
fn reference(line: &SourceTimeline, trace: &Trace, releases: &[Released]) -> Option<String> {
    if trace.basis == Basis::Value || line.source != RUNS_SOURCE {
        return None;
    }
    let newest = line.runs.iter().rev().find_map(|run| run.reference.as_deref())?;
    let named = releases
        .iter()
        .find(|release| release.commit.len() >= 7 && newest.starts_with(&release.commit));
    Some(named.map_or_else(|| short_commit(newest).to_owned(), |release| release.name.clone()))
}
