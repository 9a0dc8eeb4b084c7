//! The rounds of a series as a table, one line each, with every number that was measured; and each as a mark in a picture.

use std::collections::BTreeSet;

use crate::report::format::{count, direction, figure, plural, three_digits, time};
use crate::site::scale::Linear;
use crate::site::shown::{name, sentence};
use crate::site::svg::{Anchor, Markup, Path, Svg};
use wirebench_judge::summary::Spread;
use wirebench_judge::summary::quality::{outcome, why};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, Round, RoundStatus, Series, Variant};

/// The heads of columns, each with its cell for a round.
type Others = &'static [(&'static str, fn(&Round) -> String)];

const NAMES: Others = &[
    ("round", |round| {
        if round.stage > 1 {
            format!("{} of stage {}", round.round, round.stage)
        } else {
            round.round.to_string()
        }
    }),
    ("variant", |round| round.variant.name().into()),
    ("status", |round| outcome(round).into()),
];

const LATENCIES: Others = &[("max", |round| number(round.latency_ns.map(|latency| latency.max), time))];

const CORES: Others = &[
    ("server busy", |round| permille(round.server_busy_permille)),
    ("driver busy", |round| permille(round.driver_busy_permille)),
    ("in flight", |round| permille(round.in_flight_permille)),
];

const COUNTS: Others = &[
    ("steal", |round| number(round.host_steal_ns, time)),
    ("good", |round| number(round.ok_count, count)),
    ("failed", |round| number(round.failed_count, count)),
    ("left out", |round| number(round.dropped_count, count)),
    ("remark", remark),
];

/// The table of all rounds by columns: a head, and a cell for each round in the order measured. The first three columns and the
/// last are words; of the others those without a value are left out.
pub(super) fn table(series: &Series) -> Vec<(&'static str, Vec<String>)> {
    let cells = |cell: &dyn Fn(&Round) -> String| series.rounds.iter().map(cell).collect::<Vec<String>>();
    let others = |others: Others| others.iter().map(|(head, cell)| (*head, cells(cell)));
    let mut columns: Vec<_> = others(NAMES).collect();
    for metric in Metric::columns(Metric::is_timed) {
        let row = metric.row();
        // The cells have the unit: a head that is nothing else would not name the metric.
        let head = if row.head == row.unit { row.label } else { row.head };
        // The value as it was measured, also if the round failed a check.
        let cell = |round: &Round| measured(metric, round).map_or("–".into(), |value| figure(metric, value));
        columns.push((head, cells(&cell)));
        match metric {
            Metric::LatencyP99 => columns.extend(others(LATENCIES)),
            Metric::DriverCpu => columns.extend(others(CORES)),
            _ => {}
        }
    }
    columns.extend(others(COUNTS));
    let is_word = |head: &str| head == "remark" || NAMES.iter().any(|(name, _)| *name == head);
    columns.retain(|(head, cells)| is_word(head) || cells.iter().any(|cell| cell != "–"));
    columns
}

fn permille(value: Option<u32>) -> String {
    value.map_or("–".into(), |permille| {
        format!("{} %", three_digits(f64::from(permille) / 10.0))
    })
}

fn number(value: Option<u64>, write: fn(f64) -> String) -> String {
    value.map_or("–".into(), |value| write(value as f64))
}

fn remark(round: &Round) -> String {
    let bound = match round.bound {
        Some(Bound::Client) => Some("client-bound"),
        Some(Bound::Neither) => Some("neither side busy"),
        Some(Bound::Server) | None => None,
    };
    let parts = [why(round).map(sentence), bound.map(str::to_owned)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

// Every round of a series as a mark, in the order measured and by variant; rounds that are not good are hollow.

/// One picture with the words above it.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    /// The quantity.
    pub(super) title: &'static str,
    /// Which way is better.
    pub(super) hint: &'static str,
    /// Of each variant its name, empty where there is but one, and the median of its good rounds with their range.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) picture: Markup,
}

/// The variants that pictures and tables show, in their order.
pub(super) const VARIANTS: [Variant; 3] = [Variant::Baseline, Variant::Candidate, Variant::Reference];

/// A metric's value in a round that was measured, whether its checks passed or not.
pub(super) fn measured(metric: Metric, round: &Round) -> Option<f64> {
    metric.read(round).filter(|_| round.status != RoundStatus::Failed)
}

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 132.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 22.0;

/// The picture of the throughput, or of the latency of a series without one; none when no round has either.
pub(super) fn panel(series: &Series) -> Option<Panel> {
    let has = |metric: &Metric| series.rounds.iter().any(|round| measured(*metric, round).is_some());
    let metric = [Metric::Throughput, Metric::LatencyP50].into_iter().find(has)?;
    let title = match metric {
        Metric::LatencyP50 if series.load.starts.is_some() => "to first answer, p50",
        Metric::LatencyP50 if series.load.samples.is_some() => "one iteration, p50",
        _ => metric.label(),
    };
    let good = |variant: Variant| {
        let rounds = series
            .rounds
            .iter()
            .filter(move |round| round.variant == variant && outcome(round) == "ok");
        rounds.filter_map(|round| measured(metric, round)).collect::<Vec<f64>>()
    };
    let all: Vec<f64> = series
        .rounds
        .iter()
        .filter_map(|round| measured(metric, round))
        .collect();
    let whole = Spread::of(&all)?;
    let is_alone = series.rounds.iter().all(|round| round.variant == Variant::Candidate);
    let fact = |variant: Variant| {
        let Spread { median, low, high } = Spread::of(&good(variant))?;
        let [median, low, high] = [median, low, high].map(|number| figure(metric, number));
        let name = if is_alone { "" } else { variant.name() };
        Some((name, format!("{median} ({})", range(&low, &high))))
    };
    let facts: Vec<(&str, String)> = VARIANTS.into_iter().filter_map(fact).collect();
    let ranges: Vec<String> = facts
        .iter()
        .map(|(variant, range)| format!("{variant} {range}"))
        .collect();
    let ranges = if ranges.is_empty() {
        "no good round".into()
    } else {
        ranges.join("; ")
    };
    let bad = match series.rounds.iter().filter(|round| outcome(round) != "ok").count() {
        0 => String::new(),
        bad => format!("; {} not good", plural(bad, "round")),
    };
    let count = plural(series.rounds.len(), "round");
    let (id, ranges) = (name(&series.id), ranges.trim_start());
    let alt = format!("{title} of {id}, {count}, median and range: {ranges}{bad}");
    Some(Panel {
        title,
        hint: direction(metric.better()),
        facts,
        picture: draw(series, metric, axis(whole), &alt),
    })
}

/// `1.30 to 1.34 ms`: the unit once, where it is the same.
fn range(low: &str, high: &str) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// The values that are shown: all of them, and at least a fifth of the median, so that equal scatter looks equal and no
/// noise is blown up.
fn axis(whole: Spread) -> Linear {
    let (low, high) = (whole.low, whole.high);
    let reach = ((high - low) * 1.1)
        .max(whole.median.abs() * 0.2)
        .max(f64::MIN_POSITIVE);
    let floor = f64::midpoint(low, high) - reach / 2.0;
    let floor = if low >= 0.0 { floor.max(0.0) } else { floor };
    Linear::new((floor, HEIGHT - BOTTOM), (floor + reach, TOP))
}

fn draw(series: &Series, metric: Metric, axis: Linear, alt: &str) -> Markup {
    let mut svg = Svg::new(WIDTH, HEIGHT);
    for tick in axis.ticks(3.0) {
        let y = axis.at(tick);
        svg.line("grid", (LEFT, y), (WIDTH - RIGHT, y));
        svg.text("tick", (LEFT - 6.0, y + 4.0), Anchor::End, &figure(metric, tick));
    }
    let places = Places::of(series);
    places.label(&mut svg);
    for variant in VARIANTS {
        let mut dots = Path::default();
        for round in series.rounds.iter().filter(|round| round.variant == variant) {
            let found = measured(metric, round);
            let at = (
                places.at(round),
                axis.at(found.unwrap_or(f64::NEG_INFINITY)).min(HEIGHT - BOTTOM),
            );
            match (outcome(round), variant) {
                ("ok", _) if found.is_none() => {}
                ("ok", Variant::Reference) => dots.diamond(at),
                ("ok", _) => dots.dot(at),
                (how, _) => hollow(&mut svg, round, at, how),
            }
        }
        svg.path(&format!("dots {}", variant.name()), &dots, "");
    }
    svg.finish("panel", alt)
}

/// A round that is not good: a cross where a check failed or nothing was measured, a ring where the pair was dropped.
fn hollow(svg: &mut Svg, round: &Round, at: (f64, f64), how: &str) {
    let mut mark = Path::default();
    if how == "dropped" {
        mark.ring(at);
    } else {
        mark.cross(at);
    }
    let why = sentence(why(round).unwrap_or_default());
    let title = format!("round {} of the {}, {how}: {why}", round.round, round.variant.name());
    svg.path(&format!("hollow {}", round.variant.name()), &mark, &title);
}

/// Where rounds stand from left to right: the rounds of all variants with one number close together.
struct Places {
    numbers: Vec<(u32, u32)>,
    variants: Vec<Variant>,
}

impl Places {
    fn of(series: &Series) -> Self {
        let rounds = || series.rounds.iter();
        let numbers: BTreeSet<(u32, u32)> = rounds().map(|round| (round.stage, round.round)).collect();
        let variants: BTreeSet<Variant> = rounds().map(|round| round.variant).collect();
        Self {
            numbers: numbers.into_iter().collect(),
            variants: variants.into_iter().collect(),
        }
    }

    fn at(&self, round: &Round) -> f64 {
        let place = self
            .numbers
            .binary_search(&(round.stage, round.round))
            .unwrap_or_default();
        let step = (WIDTH - LEFT - RIGHT) / self.numbers.len().max(1) as f64;
        let variant = self
            .variants
            .iter()
            .position(|variant| *variant == round.variant)
            .unwrap_or_default();
        let shift = variant as f64 - (self.variants.len().max(1) - 1) as f64 / 2.0;
        LEFT + (place as f64 + 0.5) * step + shift * (step * 0.3).min(8.0)
    }

    /// The numbers of the first and the last round, and where a stage begins.
    fn label(&self, svg: &mut Svg) {
        let base = HEIGHT - 6.0;
        let step = (WIDTH - LEFT - RIGHT) / self.numbers.len().max(1) as f64;
        let (Some(first), Some(last)) = (self.numbers.first(), self.numbers.last()) else {
            return;
        };
        svg.text("tick", (LEFT, base), Anchor::Start, &format!("round {}", first.1));
        if self.numbers.len() > 1 {
            svg.text("tick", (WIDTH - RIGHT, base), Anchor::End, &last.1.to_string());
        }
        for (place, pair) in self.numbers.windows(2).enumerate() {
            if pair[0].0 != pair[1].0 {
                let x = LEFT + (place as f64 + 1.0) * step;
                svg.line("stage", (x, TOP), (x, HEIGHT - BOTTOM));
                svg.text("tick", (x, base), Anchor::Middle, &format!("stage {}", pair[1].0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;

    #[test]
    fn every_round_has_its_mark() {
        let mut run = samples::reference();
        samples::with_baseline(&mut run);
        let panel = panel(&run.series[4]).unwrap();
        let text = panel.picture.to_string();
        assert_eq!(text.matches("h0").count(), 6, "{text}");
        let variants: Vec<&str> = panel.facts.iter().map(|fact| fact.0).collect();
        assert_eq!(variants, ["baseline", "candidate"]);
    }

    #[test]
    fn what_is_not_good_is_hollow_and_says_why() {
        let mut run = samples::reference();
        samples::spoil(&mut run);
        let text = panel(&run.series[4]).unwrap().picture.to_string();
        assert_eq!(text.matches("class=\"hollow").count(), 3, "{text}");
        assert!(text.contains("invalid: 3 of 100,000 answers had status 503"), "{text}");
        assert!(text.contains("failed: the server did not become ready"), "{text}");
        assert!(
            text.contains("dropped: the hypervisor took 12 %") && text.contains("3 rounds not good"),
            "{text}"
        );
    }

    #[test]
    fn ranges_say_their_unit_once_unless_it_changes() {
        assert_eq!(range("1.30 ms", "1.34 ms"), "1.30 to 1.34 ms");
        assert_eq!(range("850 µs", "1.34 ms"), "850 µs to 1.34 ms");
    }

    #[test]
    fn no_scatter_is_blown_up() {
        let axis = axis(Spread {
            median: 100.0,
            low: 99.9,
            high: 100.1,
        });
        let tall = (axis.at(99.9) - axis.at(100.1)).abs();
        assert!(tall < 2.0, "{tall}");
    }
}
