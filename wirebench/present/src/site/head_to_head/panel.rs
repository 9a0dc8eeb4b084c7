//! Servers side by side as dots with whiskers: one small picture for each metric, all over the same × axis.

use crate::report::format::{shortened, three_digits};
use crate::site::head_to_head::quantity::{QUANTITIES, Quantity};
use crate::site::ratio::{self, Ratio};
use crate::site::scale::Log;
use crate::site::shown::name;
use crate::site::svg::{Anchor, Path, Picture, Svg};
use wirebench_judge::summary::Row;
use wirebench_judge::summary::head_to_head::is_grpc;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, Run};

const WIDTH: f64 = 284.0;
const ROW: f64 = 20.0;
const HEAD: f64 = 8.0;
const FOOT: f64 = 18.0;
/// Where names end, and where the numbers begin.
const PLOT: (f64, f64) = (92.0, 236.0);
/// Characters of a server's name.
const NAME: usize = 15;

/// The picture of one quantity.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) quantity: &'static Quantity,
    pub(super) picture: Picture,
}

/// A picture for each quantity that the first server and another one have.
pub(super) fn panels(run: &Run, rows: &[&Row]) -> Vec<Panel> {
    let all: Vec<(&'static Quantity, Vec<Option<Ratio>>)> = QUANTITIES
        .iter()
        .map(|quantity| (quantity, ratios(run, quantity, rows)))
        .filter(|(_, ratios)| ratios.iter().skip(1).any(Option::is_some))
        .collect();
    let axis = ratio::axis(all.iter().flat_map(|(_, ratios)| ratios.iter().flatten()), PLOT);
    all.iter()
        .map(|(quantity, ratios)| Panel {
            quantity,
            picture: picture(axis, quantity, rows, ratios),
        })
        .collect()
}

/// The ratio of each server to the first one.
fn ratios(run: &Run, quantity: &Quantity, rows: &[&Row]) -> Vec<Option<Ratio>> {
    let first = rows.first().and_then(|row| quantity.value(run, row));
    let ratio = |row: &&Row| {
        let at = quantity.value(run, row)? / first?;
        let known = quantity.ratio(row, rows[0]);
        let ends = known.map_or((at, at), |beside| (beside.low, beside.high));
        let at = known.map_or(at, |beside| beside.times);
        let ratio = Ratio {
            low: ends.0.min(at),
            at,
            high: ends.1.max(at),
        };
        (ratio.low > 0.0 && ratio.high.is_finite()).then_some(ratio)
    };
    rows.iter().map(ratio).collect()
}

/// Whether the driver, not the server, limited a quantity.
fn is_limited(quantity: &Quantity, row: &Row) -> bool {
    let of_load = matches!(
        quantity.metric,
        Metric::Throughput | Metric::LatencyP50 | Metric::LatencyP99
    );
    of_load && row.bound == Some(Bound::Client)
}

#[expect(clippy::cast_precision_loss, reason = "a handful of servers")]
fn picture(axis: Log, quantity: &Quantity, rows: &[&Row], ratios: &[Option<Ratio>]) -> Picture {
    let height = HEAD + ROW * rows.len() as f64;
    let mut svg = Svg::new(WIDTH, height + FOOT);
    ratio::draw_ticks(&mut svg, axis, HEAD, height);
    svg.line("one", (axis.at(1.0), HEAD - 4.0), (axis.at(1.0), height));
    let mut alt = Vec::new();
    for (number, (row, ratio)) in rows.iter().zip(ratios).enumerate() {
        let middle = HEAD + ROW * (number as f64 + 0.5);
        let server = name(&row.series.server);
        svg.text("name", (0.0, middle + 4.0), Anchor::Start, &shortened(&server, NAME));
        let Some(ratio) = ratio else {
            svg.text("tick", (PLOT.1 + 4.0, middle + 4.0), Anchor::Start, "no value");
            continue;
        };
        let class = if is_grpc(&row.series.protocol) { "grpc" } else { "http" };
        svg.line(
            &format!("whisker {class}"),
            (axis.at(ratio.low), middle),
            (axis.at(ratio.high), middle),
        );
        let mut dot = Path::default();
        let limited = is_limited(quantity, row);
        if limited {
            dot.ring((axis.at(ratio.at), middle));
        } else {
            dot.dot((axis.at(ratio.at), middle));
        }
        let kind = if limited { "ring" } else { "point" };
        svg.path(&format!("{kind} {class}"), &dot, "");
        let times = format!("× {}", three_digits(ratio.at));
        svg.text("times", (PLOT.1 + 4.0, middle + 4.0), Anchor::Start, &times);
        let ceiling = if limited { ", client-bound" } else { "" };
        alt.push(format!("{server} {times}{ceiling}"));
    }
    svg.finish("ratios", &format!("{}: {}", quantity.label, alt.join("; ")))
}
