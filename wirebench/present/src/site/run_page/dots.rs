//! Every round of a series as a mark, in the order measured and by variant; rounds that are not good are hollow.

use crate::report::format::{plural, three_digits};
use crate::report::values::figure;
use crate::site::scale::Linear;
use crate::site::shown::{direction, name, sentence};
use crate::site::svg::{Anchor, Path, Picture, Svg};
use wirebench_judge::summary::Spread;
use wirebench_judge::summary::quality::{outcome, why};
use wirebench_record::metric::{Metric, Notation};
use wirebench_record::run::{Bound, Round, RoundStatus, Series, Variant};

/// One picture with the words above it.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    /// The quantity.
    pub(super) title: &'static str,
    /// How to read it: what is better, or what the line means.
    pub(super) hint: &'static str,
    /// Of each variant its name, empty where there is but one, and the median of its good rounds with their range.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) picture: Picture,
}

/// A number of a round.
struct Quantity {
    title: &'static str,
    hint: &'static str,
    /// `None` for the share of its cores that the driver used, percent.
    metric: Option<Metric>,
    /// A line at this value.
    rule: Option<f64>,
    /// Ticks on the axis are round multiples of this.
    step: f64,
}

const MIB: f64 = 1_048_576.0;

/// The variants that pictures and tables show, in their order.
pub(super) const VARIANTS: [Variant; 3] = [Variant::Baseline, Variant::Candidate, Variant::Reference];

/// A panel for each number that any round of the series has.
pub(super) fn panels(series: &Series) -> Vec<Panel> {
    let mut quantities: Vec<Quantity> = (Metric::OF_SERVER.into_iter())
        .map(|metric| of_metric(metric, series))
        .collect();
    quantities.push(Quantity {
        title: "driver busy, % of its cores",
        hint: "line: client-bound",
        metric: None,
        rule: Some(f64::from(Bound::CLIENT_FROM_PERMILLE) / 10.0),
        step: 1.0,
    });
    quantities
        .iter()
        .filter_map(|quantity| panel(series, quantity))
        .collect()
}

fn of_metric(metric: Metric, series: &Series) -> Quantity {
    let label = match metric {
        Metric::LatencyP50 if series.load.starts.is_some() => "to first answer, p50",
        Metric::LatencyP99 if series.load.starts.is_some() => "to first answer, p99",
        Metric::LatencyP50 if series.load.samples.is_some() => "one iteration, p50",
        Metric::LatencyP99 if series.load.samples.is_some() => "one iteration, p99",
        _ => metric.label(),
    };
    Quantity {
        title: label,
        hint: direction(metric.better()),
        metric: Some(metric),
        rule: None,
        step: if metric.row().notation == Notation::Size {
            MIB
        } else {
            1.0
        },
    }
}

impl Quantity {
    fn read(&self, round: &Round) -> Option<f64> {
        match self.metric {
            Some(metric) => measured(metric, round),
            None => round.driver_busy_permille.map(|permille| f64::from(permille) / 10.0),
        }
    }

    fn write(&self, number: f64) -> String {
        match self.metric {
            Some(metric) => figure(metric, number),
            None => format!("{} %", three_digits(number)),
        }
    }
}

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

fn panel(series: &Series, quantity: &Quantity) -> Option<Panel> {
    let good = |variant: Variant| {
        let rounds = series
            .rounds
            .iter()
            .filter(move |round| round.variant == variant && outcome(round) == "ok");
        rounds.filter_map(|round| quantity.read(round)).collect::<Vec<f64>>()
    };
    let all: Vec<f64> = series.rounds.iter().filter_map(|round| quantity.read(round)).collect();
    let whole = Spread::of(&all)?;
    let mut facts = Vec::new();
    for variant in VARIANTS {
        if let Some(spread) = Spread::of(&good(variant)) {
            let write = |number| quantity.write(number);
            let range = format!(
                "{} ({})",
                write(spread.median),
                range(&write(spread.low), &write(spread.high))
            );
            facts.push((variant.name(), range));
        }
    }
    if series.rounds.iter().all(|round| round.variant == Variant::Candidate) {
        facts.iter_mut().for_each(|(variant, _)| *variant = "");
    }
    let ranges: Vec<String> = facts
        .iter()
        .map(|(variant, range)| format!("{variant} {range}"))
        .collect();
    let ranges = if ranges.is_empty() {
        "no good round".into()
    } else {
        ranges.join("; ")
    };
    let bad = series.rounds.iter().filter(|round| outcome(round) != "ok").count();
    let bad = if bad == 0 {
        String::new()
    } else {
        format!("; {} not good", plural(bad, "round"))
    };
    let count = plural(series.rounds.len(), "round");
    let alt = format!(
        "{} of {}, {count}, median and range: {}{bad}",
        quantity.title,
        name(&series.id),
        ranges.trim_start()
    );
    let axis = axis(whole, quantity.rule);
    Some(Panel {
        title: quantity.title,
        hint: quantity.hint,
        facts,
        picture: draw(series, quantity, axis, &alt),
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
fn axis(whole: Spread, rule: Option<f64>) -> Linear {
    let (low, high) = rule.map_or((whole.low, whole.high), |rule| {
        (whole.low.min(rule), whole.high.max(rule))
    });
    let reach = ((high - low) * 1.1)
        .max(whole.median.abs() * 0.2)
        .max(f64::MIN_POSITIVE);
    let middle = f64::midpoint(low, high);
    let floor = if low >= 0.0 {
        (middle - reach / 2.0).max(0.0)
    } else {
        middle - reach / 2.0
    };
    Linear::new((floor, HEIGHT - BOTTOM), (floor + reach, TOP))
}

fn draw(series: &Series, quantity: &Quantity, axis: Linear, alt: &str) -> Picture {
    let mut svg = Svg::new(WIDTH, HEIGHT);
    for tick in axis.ticks(3.0, quantity.step) {
        let y = axis.at(tick);
        svg.line("grid", (LEFT, y), (WIDTH - RIGHT, y));
        svg.text("tick", (LEFT - 6.0, y + 4.0), Anchor::End, &quantity.write(tick));
    }
    if let Some(at) = quantity.rule {
        svg.line("rule", (LEFT, axis.at(at)), (WIDTH - RIGHT, axis.at(at)));
    }
    let places = Places::of(series);
    places.label(&mut svg);
    for variant in VARIANTS {
        let mut dots = Path::default();
        for round in series.rounds.iter().filter(|round| round.variant == variant) {
            let found = quantity.read(round);
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
        let (mut numbers, mut variants) = (Vec::new(), Vec::new());
        for round in &series.rounds {
            numbers.push((round.stage, round.round));
            variants.push(round.variant);
        }
        numbers.sort_unstable();
        numbers.dedup();
        variants.sort_unstable();
        variants.dedup();
        Self { numbers, variants }
    }

    #[expect(clippy::cast_precision_loss, reason = "rounds are few")]
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
    #[expect(clippy::cast_precision_loss, reason = "rounds are few")]
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
    fn every_round_has_its_mark_in_every_panel() {
        let mut run = samples::reference();
        samples::with_baseline(&mut run);
        let panels = panels(&run.series[4]);
        assert_eq!(panels.len(), 6);
        for panel in &panels {
            let text = panel.picture.to_string();
            assert_eq!(text.matches("h0").count(), 6, "{text}");
            assert_eq!(
                panel.facts.iter().map(|fact| fact.0).collect::<Vec<_>>(),
                ["baseline", "candidate"]
            );
        }
        assert!(panels[5].picture.to_string().contains("class=\"rule\"") && panels[5].hint == "line: client-bound");
    }

    #[test]
    fn what_is_not_good_is_hollow_and_says_why() {
        let mut run = samples::reference();
        samples::spoil(&mut run);
        let text = panels(&run.series[4])[1].picture.to_string();
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
        let axis = axis(
            Spread {
                median: 100.0,
                low: 99.9,
                high: 100.1,
            },
            None,
        );
        let tall = (axis.at(99.9) - axis.at(100.1)).abs();
        assert!(tall < 2.0, "{tall}");
    }
}
