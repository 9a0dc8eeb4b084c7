//! The newest values of a source by series and metric: a line for each series, a column for each metric.

use crate::site::gather::{Drawn, Series, Source};
use crate::site::words::{state, verdict};
use wirebench_history::standing::Standing;
use wirebench_record::metric::Metric;

/// Series that have the same kind of metrics.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Matrix {
    /// What the columns show.
    pub(super) heads: Vec<&'static str>,
    pub(super) lines: Vec<Line>,
}

/// A series.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) series: String,
    pub(super) page: String,
    /// A cell for each column; none where the series has no such metric.
    pub(super) cells: Vec<Option<Cell>>,
}

/// A value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) label: &'static str,
    pub(super) value: String,
    /// The word that chooses the metric in the address of the series.
    pub(super) word: String,
    pub(super) state: &'static str,
    /// Shape and word; empty for a value within noise, and for too few values.
    pub(super) verdict: &'static str,
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
pub(super) fn matrices(source: &Source) -> Vec<Matrix> {
    let kinds = [Kind::Load, Kind::Other, Kind::Counted];
    let of = |wanted| {
        let series = source.series.iter().filter(|series| {
            let measured = series.metrics.iter().any(|drawn| drawn.trace.metric.is_some());
            measured && kind(series) == wanted && !ended(series)
        });
        matrix(&series.collect::<Vec<_>>())
    };
    kinds.into_iter().filter_map(of).collect()
}

/// Whether no metric of a series is measured any more.
fn ended(series: &Series) -> bool {
    let mut all = series.metrics.iter();
    all.all(|drawn| drawn.stands.standing == Standing::Ended)
}

fn matrix(series: &[&Series]) -> Option<Matrix> {
    let has = |metric: &Metric| {
        let mut all = series.iter().flat_map(|series| &series.metrics);
        all.any(|drawn| drawn.trace.metric == Some(*metric))
    };
    let metrics: Vec<Metric> = Metric::all().filter(has).collect();
    let line = |series: &&Series| Line {
        series: series.name.to_owned(),
        page: series.page.clone(),
        cells: metrics
            .iter()
            .map(|metric| {
                let found = series.metrics.iter().find(|drawn| drawn.trace.metric == Some(*metric));
                found.map(|drawn| cell(*metric, drawn))
            })
            .collect(),
    };
    (!metrics.is_empty()).then(|| Matrix {
        heads: metrics.iter().map(|metric| metric.label()).collect(),
        lines: series.iter().map(line).collect(),
    })
}

fn cell(metric: Metric, drawn: &Drawn) -> Cell {
    let standing = drawn.stands.standing;
    let notable = !matches!(standing, Standing::Noise | Standing::Few);
    Cell {
        label: metric.label(),
        value: match standing {
            Standing::Withheld => String::new(),
            _ => drawn.newest(),
        },
        word: drawn.word.clone(),
        state: state(standing),
        verdict: if notable { verdict(standing) } else { "" },
    }
}
