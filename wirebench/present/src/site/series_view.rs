//! A metric of a series as pages show it: values, verdict, change and remark, each decided once; and the sentence of a source.

use crate::report::format::{direction, figure, plural, significant, three_digits, with_interval};
use crate::report::trend::{BETTER, CHANGED, TOO_NOISY, WORSE, open_regressions};
use crate::site::gather::{Drawn, Source, day};
use crate::site::spark;
use wirebench_history::standing::{FEWEST_VALUES, Standing};
use wirebench_record::run::short_commit;
use wirebench_stats::quantile::median;

/// The class of a standing, its shape with a word, and the colour of its badge.
const fn shown(standing: Standing) -> [&'static str; 3] {
    match standing {
        Standing::Worse => ["worse", WORSE, "red"],
        Standing::Better => ["better", BETTER, "brightgreen"],
        Standing::Accepted => ["accepted", "~ accepted", "yellow"],
        Standing::Changed => ["changed", CHANGED, "blue"],
        Standing::Noise => ["noise", "≈ within noise", "green"],
        Standing::Few => ["few", "· too few values", "lightgrey"],
        Standing::Fixed => ["fixed", "✓ fixed", "green"],
        Standing::Stopped => ["stopped", "□ stopped", "lightgrey"],
        Standing::Withheld => ["withheld", "! no good value", "orange"],
    }
}

/// The word for scripts and style sheets.
pub(super) const fn state(standing: Standing) -> &'static str {
    shown(standing)[0]
}

/// The shape of a standing with a word.
pub(super) const fn verdict(standing: Standing) -> &'static str {
    shown(standing)[1]
}

/// shields.io's names of colours; the message always says the same in words.
pub(super) const fn color(standing: Standing) -> &'static str {
    shown(standing)[2]
}

impl Drawn<'_> {
    /// The words before a value: the metric; empty for imported series, whose name says it.
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
            Some(metric) => figure(metric, number),
            None => imported(number, &self.trace.unit),
        }
    }

    /// The smallest step that would be seen within five pushes, percent.
    pub(super) fn resolvable(&self) -> Option<f64> {
        self.trace.segments.last()?.resolvable_percent
    }

    /// Which way is better, in words; empty when nothing says so.
    pub(super) fn direction(&self) -> &'static str {
        self.trace.better.map_or("", direction)
    }

    /// The word of its standing for scripts and style sheets.
    pub(super) fn state(&self) -> &'static str {
        state(self.stands.standing)
    }

    /// Shape and word of its standing.
    pub(super) fn verdict(&self) -> &'static str {
        verdict(self.stands.standing)
    }

    /// Its change since the mark, with its interval: `+8.2 % (+6.9 to +9.4 %)`, without one where counts leave none; a dash
    /// without a change.
    pub(super) fn change(&self) -> String {
        let change = self.stands.change;
        change.map_or("–".into(), |found| {
            with_interval(found.percent, found.low, found.high)
        })
    }

    /// Its newest values as SVG path data.
    pub(super) fn spark(&self) -> String {
        spark::path(self.values.judged())
    }

    /// The smallest step that would be detected, in words; a dash when it is not known.
    pub(super) fn seen(&self) -> String {
        match self.resolvable() {
            Some(percent) if percent > TOO_NOISY => "too noisy to judge".into(),
            Some(percent) => format!("{} %", three_digits(percent)),
            None => "–".into(),
        }
    }

    /// A sentence for verdicts that would mislead alone; empty for the others.
    pub(super) fn remark(&self) -> String {
        let stands = &self.stands;
        match (&stands.withheld, &stands.broken_by) {
            (Some(why), _) => format!("The newest run has no value that is judged: {why}"),
            (None, _) if self.trace.not_judged.is_some() => self.trace.not_judged.clone().unwrap_or_default(),
            (None, _) if self.trace.stopped => stopped(self),
            (None, _) if stands.standing == Standing::Few => format!("verdicts start at {FEWEST_VALUES} values"),
            (None, Some(why)) => format!("only since {why}"),
            (None, None) => String::new(),
        }
    }
}

/// When a series was last measured.
fn stopped(drawn: &Drawn) -> String {
    let last = drawn.trace.newest.as_ref().map(|newest| &newest.at);
    last.map_or_else(String::new, |push| {
        format!(
            "stopped: its last value is of {} at {}",
            day(push),
            short_commit(&push.commit)
        )
    })
}

/// A value of any unit with at most four digits that mean something, times in the unit that fits: `1.255 µs/op`, `3 extra/op`.
fn imported(number: f64, unit: &str) -> String {
    const TIMES: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (first, rest) = unit.split_at(unit.find('/').unwrap_or(unit.len()));
    let time = TIMES.iter().find(|(name, _)| *name == first);
    match time {
        Some((_, ns)) if number > 0.0 && number.is_finite() => {
            let whole = number * ns;
            let fits = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];
            let (name, size) = fits.into_iter().find(|(_, size)| whole >= *size).unwrap_or(("ns", 1.0));
            format!("{} {name}{rest}", significant(whole / size, 4))
        }
        _ => format!("{} {unit}", significant(number, 4)).trim_end().to_owned(),
    }
}

/// The verdict sentence of a source: how many regressions are open, and how many of its metrics have each standing.
pub(super) fn sentence(source: &Source) -> String {
    let (count, compared) = (|standing| source.count(standing), source.compared());
    if source.metrics().next().is_none() {
        return if source.line.failed.is_empty() {
            "No data yet.".into()
        } else {
            "No series has a good value yet.".into()
        };
    }
    let since = &source.mark.name;
    let moved = compared - count(Standing::Noise);
    let metrics = plural(compared, "metric");
    if source.open > 0 {
        let (worse, open) = (count(Standing::Worse), open_regressions(source.open));
        let earlier = match source.open_before_mark {
            0 => String::new(),
            all if all == source.open => format!(", from before {since}"),
            earlier => format!(", {earlier} of them from before {since}"),
        };
        return format!("{worse} of {metrics} worse: {open}{earlier}.");
    }
    if compared == 0 {
        let runs = plural(source.timeline.pushes, "run");
        let rest = match count(Standing::Stopped) {
            0 => String::new(),
            stopped => format!(" {} no longer measured.", plural(stopped, "metric")),
        };
        return format!("Nothing to compare yet: {runs} so far; verdicts start at {FEWEST_VALUES} values.{rest}");
    }
    if moved > 0 {
        return format!("No open regression in {metrics}, compared with {since}.");
    }
    // The median over the metrics of the smallest step that five pushes would show.
    let steps: Vec<f64> = source.metrics().filter_map(Drawn::resolvable).collect();
    let smallest = median(&steps).map(|percent| format!(", smallest detectable change {} %", three_digits(percent)));
    let stopped = match count(Standing::Stopped) {
        0 => String::new(),
        stopped => format!("; {stopped} no longer measured"),
    };
    format!(
        "Nothing beyond noise since {since}. {metrics} compared{}{stopped}.",
        smallest.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_values_have_four_digits_and_times_a_unit_that_fits() {
        let found = [
            (1_255.3, "ns/op"),
            (8_123_456.0, "ns/iter"),
            (0.0, "allocs/op"),
            (3.0, "extra/op"),
            (261.04, "sec"),
            (12_345_678.0, "B"),
            (0.001_234_56, ""),
            (2_500.0, "ms"),
        ]
        .map(|(number, unit)| imported(number, unit));
        let expected = [
            "1.255 µs/op",
            "8.123 ms/iter",
            "0 allocs/op",
            "3 extra/op",
            "261 sec",
            "12,350,000 B",
            "0.001235",
            "2.5 s",
        ];
        assert_eq!(found, expected);
    }
}
