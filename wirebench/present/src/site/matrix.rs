//! The newest values of a source by series and metric: a line for each series, a column for each metric.

use crate::site::gather::{Drawn, Series, Source};
use wirebench_history::standing::Standing;
use wirebench_record::metric::Metric;

/// Series that have the same kind of metrics.
#[derive(Debug)]
pub(super) struct Matrix<'a> {
    /// What the columns show.
    pub(super) heads: Vec<&'static str>,
    pub(super) lines: Vec<Line<'a>>,
}

/// A series.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) series: &'a Series<'a>,
    /// A cell for each column; none where the series has no such metric.
    pub(super) cells: Vec<Option<&'a Drawn<'a>>>,
}

/// What kind of metrics a series has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Load,
    Other,
    Counted,
}

fn kind(series: &Series) -> Kind {
    let metrics = || series.metrics.iter().filter_map(|drawn| drawn.trace.metric);
    if metrics().any(|metric| metric == Metric::Throughput) {
        Kind::Load
    } else if metrics().any(Metric::is_counted) {
        Kind::Counted
    } else {
        Kind::Other
    }
}

/// The matrices of a source, one for each kind of series; none of imported values, which have no metrics.
pub(super) fn matrices<'a>(source: &'a Source) -> Vec<Matrix<'a>> {
    let kinds = [Kind::Load, Kind::Other, Kind::Counted];
    let of = |wanted| {
        let series = source.series.iter().filter(|series| {
            let measured = series.metrics.iter().any(|drawn| drawn.trace.metric.is_some());
            measured && kind(series) == wanted && !stopped(series)
        });
        matrix(&series.collect::<Vec<_>>())
    };
    kinds.into_iter().filter_map(of).collect()
}

/// Whether no metric of a series is measured any more, and none is worse.
fn stopped(series: &Series) -> bool {
    let mut all = series.metrics.iter();
    all.all(|drawn| drawn.stands.standing == Standing::Stopped)
}

fn matrix<'a>(series: &[&'a Series<'a>]) -> Option<Matrix<'a>> {
    let has = |metric: &Metric| {
        let mut all = series.iter().flat_map(|series| &series.metrics);
        all.any(|drawn| drawn.trace.metric == Some(*metric))
    };
    let metrics: Vec<Metric> = Metric::all().filter(has).collect();
    let line = |series: &&'a Series<'a>| Line {
        series,
        cells: metrics
            .iter()
            .map(|metric| series.metrics.iter().find(|drawn| drawn.trace.metric == Some(*metric)))
            .collect(),
    };
    (!metrics.is_empty()).then(|| Matrix {
        heads: metrics.iter().map(|metric| metric.label()).collect(),
        lines: series.iter().map(line).collect(),
    })
}

impl Drawn<'_> {
    /// The value in a cell; empty if the newest run has no valid one.
    pub(super) fn cell_value(&self) -> String {
        match self.stands.standing {
            Standing::Withheld => String::new(),
            _ => self.newest(),
        }
    }

    /// Shape and word in a cell; empty for a value within noise, and for too few values.
    pub(super) fn cell_verdict(&self) -> &'static str {
        match self.stands.standing {
            Standing::Noise | Standing::Few => "",
            _ => self.verdict(),
        }
    }
}
