//! Every effect of a comparison in one picture: a row for each metric, in it a whisker for each series; worse to the right.

use crate::report::comparison::rows::effect;
use crate::report::comparison::verdict::class;
use crate::report::format::declared;
use crate::site::scale::{Linear, stretched};
use crate::site::shown::name;
use crate::site::svg::{Anchor, Markup, Path, Svg};
use wirebench_judge::summary::comparison::{Row, RowStatus};
use wirebench_record::comparison::ComparedMetric;
use wirebench_record::metric::{Better, Metric};

/// As wide as a phone shows without making text smaller.
const WIDTH: f64 = 366.0;
/// Where the names of metrics end.
const NAMES: f64 = 126.0;
const HEAD: f64 = 32.0;
/// Space above and below the whiskers of a metric, and the least height of its row.
const PAD: f64 = 3.0;
const LEAST: f64 = 15.0;
/// Height of a whisker that says something, and of one of an unchanged metric.
const LOUD: f64 = 9.0;
const QUIET: f64 = 3.0;
/// All whiskers together are made to fit into this; a picture is no taller than a screen.
const ROOM: f64 = 520.0;

/// The picture; none when no row has a metric. The rows must be sorted by status; `alt` says in words what the picture shows.
pub(super) fn draw(rows: &[Row], alt: &str) -> Option<Markup> {
    let of = |metric: Metric| {
        let of_metric = |row: &&Row| row.metric.is_some_and(|one| one.metric == metric);
        (metric, rows.iter().filter(of_metric).collect::<Vec<_>>())
    };
    let metrics: Vec<(Metric, Vec<&Row>)> = Metric::all().map(of).filter(|(_, rows)| !rows.is_empty()).collect();
    if metrics.is_empty() {
        return None;
    }
    let all: f64 = rows.iter().map(lane).sum();
    let shrink = (ROOM / all).min(1.0);
    let heights: Vec<f64> = metrics
        .iter()
        .map(|(_, rows)| rows.iter().map(|row| lane(row) * shrink).sum::<f64>())
        .map(|height| (height + 2.0 * PAD).max(LEAST))
        .collect();
    let height = HEAD + heights.iter().sum::<f64>() + PAD;
    let axis = Axis::within(rows);
    let mut svg = Svg::new(WIDTH, height);
    axis.draw_head(&mut svg);
    svg.line("zero", (axis.at(0.0), HEAD), (axis.at(0.0), height));
    let mut top = HEAD;
    for ((metric, rows), height) in metrics.iter().zip(&heights) {
        svg.line("grid", (0.0, top), (WIDTH, top));
        let label = metric.label().trim_end_matches(" per request");
        svg.text("name", (0.0, top + height / 2.0 + 4.0), Anchor::Start, label);
        let used: f64 = rows.iter().map(|row| lane(row) * shrink).sum();
        let mut at = top + (height - used) / 2.0;
        for row in rows {
            let lane = lane(row) * shrink;
            whisker(&mut svg, axis, row, at + lane / 2.0);
            at += lane;
        }
        top += height;
    }
    Some(svg.finish("effects", alt))
}

const fn is_quiet(row: &Row) -> bool {
    matches!(row.status, RowStatus::Unchanged)
}

fn lane(row: &Row) -> f64 {
    if is_quiet(row) { QUIET } else { LOUD }
}

fn whisker(svg: &mut Svg, axis: Axis, row: &Row, middle: f64) {
    let Some(metric) = row.metric else {
        return;
    };
    let class = class(row.status);
    let (low, dot, high) = axis.places(metric);
    if let (Some(low), Some(high)) = (low, high) {
        let kind = if is_quiet(row) { "whisker faint" } else { "whisker" };
        svg.line(&format!("{kind} {class}"), (low, middle), (high, middle));
    }
    if let Some(dot) = dot {
        let mut path = Path::default();
        path.dot((dot, middle));
        let size = if is_quiet(row) { "point small" } else { "point" };
        let title = format!("{} {}: {}", name(&row.series.id), metric.metric.label(), effect(metric));
        svg.path(&format!("{size} {class}"), &path, &title);
    }
}

// The axis that all effects of a comparison share: worse to the right, whichever way the metric counts.

const EDGE: f64 = 8.0;
/// The axis reaches at least so far, and at most so far, percent.
const REACH: (f64, f64) = (2.0, 1_000.0);
/// What may stand on the axis, percent.
const TICKS: [f64; 9] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
/// Labels closer than this run into each other, px.
const APART: f64 = 34.0;

/// The axis of one comparison.
#[derive(Debug, Clone, Copy)]
struct Axis {
    scale: Linear,
    reach: f64,
}

impl Axis {
    /// Wide enough for every interval, between the names of metrics and the end of the picture.
    fn within(rows: &[Row]) -> Self {
        let metrics = rows.iter().filter_map(|row| row.metric);
        let reached = metrics.flat_map(|metric| {
            [
                metric.effect_percent,
                metric.effect_low_percent,
                metric.effect_high_percent,
            ]
        });
        let far = reached
            .flatten()
            .map(f64::abs)
            .filter(|end| end.is_finite())
            .fold(REACH.0, f64::max);
        let reach = (far * 1.1).min(REACH.1);
        let end = stretched(reach);
        Self {
            scale: Linear::new((-end, NAMES + EDGE), (end, WIDTH - EDGE)),
            reach,
        }
    }

    /// Where a change towards what is worse stands, percent.
    fn at(&self, percent: f64) -> f64 {
        self.scale.at(stretched(percent.clamp(-self.reach, self.reach)))
    }

    /// Where the lower end, the estimate and the upper end of an effect stand, as far as they are known.
    fn places(&self, metric: &ComparedMetric) -> (Option<f64>, Option<f64>, Option<f64>) {
        let at = |percent: f64| match metric.better {
            Better::Lower => self.at(percent),
            Better::Higher => self.at(-percent),
        };
        (
            metric.effect_low_percent.map(at),
            metric.effect_percent.map(at),
            metric.effect_high_percent.map(at),
        )
    }

    /// Draws it at the head of a picture.
    fn draw_head(&self, svg: &mut Svg) {
        let zero = self.at(0.0);
        svg.text("end", (NAMES + EDGE, 11.0), Anchor::Start, "← better");
        svg.text("end", (WIDTH - EDGE, 11.0), Anchor::End, "worse →");
        svg.text("tick", (zero, 26.0), Anchor::Middle, "0");
        let mut last = zero;
        for tick in TICKS.into_iter().filter(|tick| *tick <= self.reach) {
            let x = self.at(tick);
            if x - last < APART || x > WIDTH - EDGE {
                continue;
            }
            last = x;
            let label = declared(tick);
            svg.text("tick", (x.min(WIDTH - 16.0), 26.0), Anchor::Middle, &label);
            let mirrored = (2.0 * zero - x).max(NAMES + 16.0);
            svg.text("tick", (mirrored, 26.0), Anchor::Middle, &label);
        }
    }
}
