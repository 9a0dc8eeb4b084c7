//! The latency of each round from its quickest to its slowest answer, the tail drawn out.

use crate::report::format::time;
use crate::site::run_page::dots::VARIANTS;
use crate::site::scale::{Log, tail};
use crate::site::shown::name;
use crate::site::svg::{Anchor, Path, Picture, Svg};
use wirebench_judge::summary::quality::outcome;
use wirebench_record::run::{Latency, Series, Variant};
use wirebench_stats::quantile::median;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 40.0;

/// Where the maximum stands: beyond p99.9.
const LAST: f64 = 3.6;

/// A point of the curve: its name, its place on the axis, and how its latency is read.
type Point = (&'static str, f64, fn(&Latency) -> u64);

fn points() -> [Point; 7] {
    [
        ("min", 0.0, |latency| latency.min),
        ("p50", tail(0.5), |latency| latency.p50),
        ("p90", tail(0.9), |latency| latency.p90),
        ("p95", tail(0.95), |latency| latency.p95),
        ("p99", tail(0.99), |latency| latency.p99),
        ("p99.9", tail(0.999), |latency| latency.p999),
        ("max", LAST, |latency| latency.max),
    ]
}

/// The picture; `None` when no good round has latencies.
pub(super) fn draw(series: &Series) -> Option<Picture> {
    let rounds = |variant: Variant| {
        let good = series
            .rounds
            .iter()
            .filter(move |round| round.variant == variant && outcome(round) == "ok");
        good.filter_map(|round| round.latency_ns).collect::<Vec<Latency>>()
    };
    let variants = VARIANTS.map(|variant| (variant, rounds(variant)));
    let all = || variants.iter().flat_map(|(_, rounds)| rounds);
    let low = all().map(|latency| latency.min).min()?.max(1);
    let high = all().map(|latency| latency.max).max()?.max(low + 1);
    #[expect(clippy::cast_precision_loss, reason = "latencies stay far below 2^53 ns")]
    let axis = Log::new((low as f64 / 1.1, HEIGHT - BOTTOM), (high as f64 * 1.1, TOP));
    let x = |place: f64| LEFT + place / LAST * (WIDTH - LEFT - RIGHT);
    let mut svg = Svg::new(WIDTH, HEIGHT);
    for tick in axis.ticks() {
        svg.line("grid", (LEFT, axis.at(tick)), (WIDTH - RIGHT, axis.at(tick)));
        svg.text("tick", (LEFT - 6.0, axis.at(tick) + 4.0), Anchor::End, &time(tick));
    }
    for (label, place, _) in points() {
        svg.line("grid", (x(place), TOP), (x(place), HEIGHT - BOTTOM));
        svg.text("tick", (x(place), HEIGHT - BOTTOM + 16.0), Anchor::Middle, label);
    }
    svg.text("end", (4.0, 11.0), Anchor::Start, "latency, log axis");
    let below = (x(LAST / 2.0), HEIGHT - 5.0);
    svg.text(
        "end",
        below,
        Anchor::Middle,
        "share of answers that were quicker, the tail drawn out",
    );
    let mut alt = Vec::new();
    for (variant, rounds) in variants.iter().filter(|(_, rounds)| !rounds.is_empty()) {
        let mut each = Path::default();
        for latency in rounds {
            each.through(points().map(|(_, place, read)| (x(place), axis.at(as_number(read(latency))))));
        }
        svg.path(&format!("curves {}", variant.name()), &each, "");
        let middle: Vec<(&str, f64, f64)> = (points().into_iter())
            .filter_map(|(label, place, read)| Some((label, place, middle(rounds, read)?)))
            .collect();
        let mut whole = Path::default();
        whole.through(middle.iter().map(|(_, place, value)| (x(*place), axis.at(*value))));
        svg.path(&format!("curve {}", variant.name()), &whole, "");
        let values: Vec<String> = middle
            .iter()
            .map(|(label, _, value)| format!("{label} {}", time(*value)))
            .collect();
        alt.push(format!("{}: {}", variant.name(), values.join(", ")));
    }
    let fact = format!(
        "Latency of {} by quantile, medians over the good rounds. {}",
        name(&series.id),
        alt.join("; ")
    );
    Some(svg.finish("quantiles", &fact))
}

fn middle(rounds: &[Latency], read: fn(&Latency) -> u64) -> Option<f64> {
    median(
        &rounds
            .iter()
            .map(|latency| as_number(read(latency)))
            .collect::<Vec<_>>(),
    )
}

#[expect(clippy::cast_precision_loss, reason = "latencies stay far below 2^53 ns")]
const fn as_number(ns: u64) -> f64 {
    ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;
    use wirebench_record::run::RoundStatus;

    #[test]
    fn a_curve_holds_every_good_round_and_says_its_medians() {
        let mut run = samples::reference();
        let whole = draw(&run.series[4]).unwrap().to_string();
        assert!(whole.contains("p99.9") && whole.contains("candidate: min "), "{whole}");
        let curves = |text: &str| {
            text.split("class=\"curves")
                .nth(1)
                .unwrap()
                .split("/>")
                .next()
                .unwrap()
                .matches('M')
                .count()
        };
        assert_eq!(curves(&whole), 3);
        samples::spoil(&mut run);
        assert!(draw(&run.series[4]).is_none(), "no good round is left");
        run.series[5].rounds[0].status = RoundStatus::Invalid;
        assert_eq!(curves(&draw(&run.series[5]).unwrap().to_string()), 2);
    }
}
