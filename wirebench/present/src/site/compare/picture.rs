//! Every effect of a comparison in one picture: a row for each metric, in it a whisker for each series; worse to the right.

use crate::report::comparison::cells::effect;
use crate::site::compare::colour::class;
use crate::site::compare::effects::Axis;
use crate::site::shown::name;
use crate::site::svg::{Anchor, Path, Picture, Svg};
use wirebench_judge::summary::comparison::{Row, RowStatus};
use wirebench_record::metric::Metric;

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

/// The picture; none when no row has a metric. `alt` says in words what it shows.
pub(super) fn draw(rows: &[&Row], alt: &str) -> Option<Picture> {
    let mut metrics: Vec<Metric> = rows.iter().filter_map(|row| Some(row.metric?.metric)).collect();
    metrics.sort_unstable();
    metrics.dedup();
    let metrics: Vec<Metric> = Metric::all().filter(|metric| metrics.contains(metric)).collect();
    if metrics.is_empty() {
        return None;
    }
    let of = |metric: Metric| -> Vec<&Row> {
        let of_metric = |row: &&Row| row.metric.is_some_and(|one| one.metric == metric);
        let mut rows: Vec<&Row> = rows.iter().copied().filter(of_metric).collect();
        rows.sort_by_key(|row| row.status);
        rows
    };
    let all: f64 = rows.iter().map(|row| lane(row)).sum();
    let shrink = (ROOM / all).min(1.0);
    let heights: Vec<f64> = metrics
        .iter()
        .map(|metric| of(*metric).iter().map(|row| lane(row) * shrink).sum::<f64>())
        .map(|height| (height + 2.0 * PAD).max(LEAST))
        .collect();
    let height = HEAD + heights.iter().sum::<f64>() + PAD;
    let axis = Axis::within(rows.iter().copied(), (NAMES, WIDTH));
    let mut svg = Svg::new(WIDTH, height);
    axis.draw_head(&mut svg);
    svg.line("zero", (axis.at(0.0), HEAD), (axis.at(0.0), height));
    let mut top = HEAD;
    for (metric, height) in metrics.iter().zip(&heights) {
        svg.line("grid", (0.0, top), (WIDTH, top));
        let label = metric.label().trim_end_matches(" per request");
        svg.text("name", (0.0, top + height / 2.0 + 4.0), Anchor::Start, label);
        let rows = of(*metric);
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
