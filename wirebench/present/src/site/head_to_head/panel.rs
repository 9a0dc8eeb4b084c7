//! Servers side by side as dots with whiskers: one small picture for each metric, all over the same × axis.

use crate::report::format::three_digits;
use crate::site::head_to_head::protocol::is_grpc;
use crate::site::head_to_head::quantity::{QUANTITIES, Quantity, Read};
use crate::site::scale::Log;
use crate::site::shown::name;
use crate::site::svg::{Anchor, Path, Picture, Svg};
use wirebench_judge::summary::Row;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, Run};

const WIDTH: f64 = 284.0;
const ROW: f64 = 20.0;
const HEAD: f64 = 8.0;
const FOOT: f64 = 18.0;
/// Where names end, and where the numbers begin.
const PLOT: (f64, f64) = (92.0, 236.0);
/// The axis reaches at least so far to either side of 1.
const REACH: f64 = 1.25;

/// The picture of one quantity.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) key: &'static str,
    pub(super) label: &'static str,
    pub(super) better: &'static str,
    pub(super) picture: Picture,
}

/// A server's ratio to the first one, with the ends of its interval where it has one.
#[derive(Debug, Clone, Copy)]
struct Ratio {
    low: f64,
    at: f64,
    high: f64,
}

/// A picture for each quantity that the first server and another one have.
pub(super) fn panels(run: &Run, rows: &[&Row]) -> Vec<Panel> {
    let all: Vec<(&Quantity, Vec<Option<Ratio>>)> = QUANTITIES
        .iter()
        .map(|quantity| (quantity, ratios(run, quantity, rows)))
        .filter(|(_, ratios)| ratios.iter().skip(1).any(Option::is_some))
        .collect();
    let ends = || all.iter().flat_map(|(_, ratios)| ratios.iter().flatten());
    let low = ends().map(|ratio| ratio.low).fold(1.0 / REACH, f64::min);
    let high = ends().map(|ratio| ratio.high).fold(REACH, f64::max);
    let axis = Log::new((low / 1.08, PLOT.0), (high * 1.08, PLOT.1));
    all.iter()
        .map(|(quantity, ratios)| Panel {
            key: quantity.key,
            label: quantity.label,
            better: quantity.better,
            picture: picture(axis, quantity, rows, ratios),
        })
        .collect()
}

fn ratios(run: &Run, quantity: &Quantity, rows: &[&Row]) -> Vec<Option<Ratio>> {
    let first = rows.first().and_then(|row| quantity.read.value(run, row));
    let ratio = |row: &&Row| {
        let at = quantity.read.value(run, row)? / first?;
        let known = quantity.read.ratio(row, rows[0]);
        let ends = known.map_or((at, at), |beside| (beside.low, beside.high));
        let at = known.map_or(at, |beside| beside.times);
        let found = Ratio {
            low: ends.0.min(at),
            at,
            high: ends.1.max(at),
        };
        (found.low > 0.0 && found.high.is_finite()).then_some(found)
    };
    rows.iter().map(ratio).collect()
}

/// What the driver's own ceiling shows in.
fn is_limited(quantity: &Quantity, row: &Row) -> bool {
    let of_load = matches!(
        quantity.read,
        Read::Timed(Metric::Throughput | Metric::LatencyP50 | Metric::LatencyP99)
    );
    of_load && row.bound == Some(Bound::Client)
}

#[expect(clippy::cast_precision_loss, reason = "a handful of servers")]
fn picture(axis: Log, quantity: &Quantity, rows: &[&Row], ratios: &[Option<Ratio>]) -> Picture {
    let height = HEAD + ROW * rows.len() as f64;
    let mut svg = Svg::new(WIDTH, height + FOOT);
    for tick in axis.ticks() {
        svg.line("grid", (axis.at(tick), HEAD), (axis.at(tick), height));
        let label = format!("× {}", three_digits(tick).trim_end_matches(".00").trim_end_matches('0'));
        svg.text("tick", (axis.at(tick), height + 13.0), Anchor::Middle, &label);
    }
    svg.line("one", (axis.at(1.0), HEAD - 4.0), (axis.at(1.0), height));
    let mut said = Vec::new();
    for (number, (row, ratio)) in rows.iter().zip(ratios).enumerate() {
        let middle = HEAD + ROW * (number as f64 + 0.5);
        let server = name(&row.series.server);
        svg.text("name", (0.0, middle + 4.0), Anchor::Start, &short(&server));
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
        said.push(format!("{server} {times}{ceiling}"));
    }
    svg.finish("ratios", &format!("{}: {}", quantity.label, said.join("; ")))
}

/// A name that fits beside the plot.
fn short(server: &str) -> String {
    if server.chars().count() <= 15 {
        return server.to_owned();
    }
    server.chars().take(14).chain(['…']).collect()
}
