//! Traces → series with their metrics, each with its page, its files' names and how it stands.

use crate::report::comparison::words::{figure, value};
use crate::site::names::{Pages, word};
use crate::site::timeline::{Mark, mark, timeline};
use wirebench_history::follow::{Followed, Line, RUNS, Values};
use wirebench_history::standing::{Stands, stands};
use wirebench_record::history::Released;
use wirebench_record::metric::Metric;
use wirebench_record::run::short_commit;
use wirebench_record::site::Timeline;
use wirebench_record::trend::{Basis, Trace};

/// A source with all its series.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) line: &'a Line,
    pub(super) timeline: Timeline,
    /// What its end is set against.
    pub(super) mark: Mark,
    pub(super) series: Vec<Series<'a>>,
}

/// A series with its metrics.
#[derive(Debug)]
pub(super) struct Series<'a> {
    /// `scenario@server@driver`, or the imported benchmark's name.
    pub(super) name: &'a str,
    /// To which a colour is bound.
    pub(super) server: &'a str,
    /// The name of its page, without folder and ending.
    pub(super) page: String,
    pub(super) metrics: Vec<Drawn<'a>>,
}

/// A metric of a series.
#[derive(Debug)]
pub(super) struct Drawn<'a> {
    pub(super) trace: &'a Trace,
    pub(super) values: &'a Values,
    /// The name of its files, without folder and ending.
    pub(super) column: String,
    /// The word that chooses it in the page's address.
    pub(super) word: String,
    pub(super) label: &'a str,
    pub(super) stands: Stands,
    /// What ratios are to.
    pub(super) reference: Option<String>,
}

/// Every source, in the history's order.
pub(super) fn gather<'a>(followed: &'a Followed, releases: &[Released]) -> Vec<Source<'a>> {
    let mut pages = Pages::default();
    let mut sources: Vec<Source> = followed
        .lines
        .iter()
        .map(|line| {
            let timeline = timeline(line, releases);
            Source {
                mark: mark(&timeline),
                line,
                timeline,
                series: Vec::new(),
            }
        })
        .collect();
    for (trace, values) in followed.trend.traces.iter().zip(&followed.rows) {
        let source = &mut sources[values.line];
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
            stands: stands(trace, values, mark),
            reference,
        });
    }
    sources
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

/// What the newest ratios are to: a release's name, else a commit.
fn reference(line: &Line, trace: &Trace, releases: &[Released]) -> Option<String> {
    if trace.basis == Basis::Value || line.source != RUNS {
        return None;
    }
    let newest = line.runs.iter().rev().find_map(|run| run.reference.as_deref())?;
    let named = releases
        .iter()
        .find(|release| release.commit.len() >= 7 && newest.starts_with(&release.commit));
    Some(named.map_or_else(|| short_commit(newest).to_owned(), |release| release.name.clone()))
}

impl Drawn<'_> {
    /// What is said before a value: the metric; nothing of imported series, whose name says it.
    pub(super) fn what(&self) -> String {
        self.trace
            .metric
            .map_or_else(String::new, |metric| format!("{} ", metric.label()))
    }

    /// The newest value, with its unit, whether it is judged or not.
    pub(super) fn newest(&self) -> String {
        match &self.trace.newest {
            Some(newest) if newest.left_out.is_some() => {
                let value = newest
                    .value
                    .map_or_else(|| "no number".into(), |value| self.text(value));
                format!("{value} (not judged)")
            }
            _ => {
                let newest = self.values.values.iter().rev().copied().find(|value| value.is_finite());
                newest.map_or_else(|| "–".into(), |newest| self.text(newest))
            }
        }
    }

    /// A value with its unit.
    pub(super) fn text(&self, number: f64) -> String {
        match self.trace.metric {
            Some(metric) if metric.is_counted() => figure(metric, number),
            _ => value(Some(number), &self.trace.unit),
        }
    }

    /// What is judged: ratios where there are any, else values.
    pub(super) fn judged(&self) -> &[f64] {
        if self.values.ratios.is_empty() {
            &self.values.values
        } else {
            &self.values.ratios
        }
    }

    /// The smallest step that would be seen within five pushes, percent.
    pub(super) fn resolvable(&self) -> Option<f64> {
        self.trace.segments.last()?.resolvable_percent
    }

    /// Which way is better, in words; empty when nothing says so.
    pub(super) fn direction(&self) -> &'static str {
        use wirebench_record::metric::Better;
        match self.trace.better {
            Some(Better::Lower) => "lower is better",
            Some(Better::Higher) => "higher is better",
            None => "",
        }
    }
}
