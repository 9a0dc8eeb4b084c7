//! What stands for a verdict and how a change is written: the same words and shapes wherever a comparison is read.

use crate::report::comparison::reasons;
use crate::report::format::{bytes, count, number, three_digits, time};
use wirebench_judge::summary::comparison::{Row, Standing};
use wirebench_record::comparison::ComparedMetric;
use wirebench_record::metric::{Metric, Notation};

/// Text made up of our own words and of names from the record; the names must be made inert for where it is shown.
pub type Inert = fn(&str) -> String;

/// One word.
#[must_use]
pub const fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Regressed => "regressed",
        Standing::Invalid => "invalid",
        Standing::Inconclusive => "inconclusive",
        Standing::Accepted => "accepted",
        Standing::Improved => "improved",
        Standing::Unchanged => "unchanged",
        Standing::NotJudged => "not judged",
    }
}

/// A shape that does without colour. No arrows: throughput that falls and CPU time that rises are both worse.
#[must_use]
pub const fn symbol(standing: Standing) -> &'static str {
    match standing {
        Standing::Regressed => "✗",
        Standing::Invalid => "!",
        Standing::Inconclusive => "?",
        Standing::Accepted => "~",
        Standing::Improved => "✓",
        Standing::Unchanged => "=",
        Standing::NotJudged => "–",
    }
}

/// What is known of a row beside its numbers, in one sentence without its end: the same wherever the row is shown. May hold
/// text of the record, to be made inert by whoever shows it.
#[must_use]
pub fn sentence(row: &Row) -> String {
    let Some(metric) = row.metric else {
        return series_reason(row);
    };
    match row.standing {
        Standing::Unchanged => no_worsening(metric).unwrap_or_else(|| reasons::metric(&metric.reason)),
        Standing::Accepted => {
            let why = metric.accepted.as_deref().unwrap_or_default();
            format!("{}, meant: {why}", reasons::metric(&metric.reason))
        }
        Standing::NotJudged => "shown, not judged".into(),
        Standing::Regressed | Standing::Improved | Standing::Inconclusive | Standing::Invalid => {
            reasons::metric(&metric.reason)
        }
    }
}

fn series_reason(row: &Row) -> String {
    let reason = row.series.reason.as_ref();
    reason.map_or_else(|| "no reason recorded".into(), reasons::series)
}

fn no_worsening(metric: &ComparedMetric) -> Option<String> {
    let percent = metric.worse_at_most_percent?;
    let same = |percent: Option<f64>| percent.is_some_and(|percent| percent.abs() < 1e-9);
    if metric.metric.is_counted() && same(metric.effect_percent) && same(metric.worse_at_most_percent) {
        return Some("exactly equal".into());
    }
    Some(reasons::no_worsening(percent))
}

/// What an interval leaves open, and what could not have been seen; none without an interval.
#[must_use]
pub fn bounds(metric: &ComparedMetric) -> Option<String> {
    let (low, high) = (metric.effect_low_percent?, metric.effect_high_percent?);
    let between = format!("between {} and {}", change(low), change(high));
    Some(match metric.resolvable_percent {
        Some(percent) => format!("{between}; smaller than {} cannot be seen here", size(percent)),
        None => between,
    })
}

/// How often a system call is made: `0.02`, `0.0033`.
#[must_use]
pub fn rate(calls: f64) -> String {
    if calls < 0.01 {
        format!("{calls:.4}")
    } else {
        number(calls)
    }
}

/// The change with its interval: `+11.8 % (+9.9 to +13.6 %)`, without one where a count is exact; a dash when it is not
/// known.
#[must_use]
pub fn effect(metric: &ComparedMetric) -> String {
    let Some(percent) = metric.effect_percent else {
        let (baseline, candidate) = (metric.baseline, metric.candidate);
        return match baseline.zip(candidate) {
            Some((from, to)) if metric.metric.is_counted() => format!("from {} to {}", number(from), number(to)),
            _ => "–".into(),
        };
    };
    match (metric.effect_low_percent, metric.effect_high_percent) {
        (Some(low), Some(high)) if metric.metric.is_counted() && change(low) == change(high) => change(percent),
        (Some(low), Some(high)) => format!("{} ({})", change(percent), interval(low, high)),
        _ => change(percent),
    }
}

/// A value with its unit: `10.5 µs`, `83,304 req/s`; a dash when there is none. May hold text of the record.
#[must_use]
pub fn value(value: Option<f64>, unit: &str) -> String {
    let Some(value) = value else {
        return "–".into();
    };
    match unit {
        "ns" => time(value),
        "bytes" => bytes(value),
        _ if value.abs() < 1000.0 => format!("{} {unit}", three_digits(value)),
        _ => format!("{} {unit}", count(value)),
    }
}

/// A value of a metric: `10.5 µs`, `83,304 req/s`, `163 B`, `16,148`.
#[must_use]
pub fn figure(metric: Metric, value: f64) -> String {
    match metric.row().notation {
        Notation::Time => time(value),
        Notation::Size => bytes(value),
        Notation::Bytes => format!("{} B", number(value)),
        Notation::Number => number(value),
        Notation::NumberAndUnit => self::value(Some(value), metric.unit()),
    }
}

/// From here on a factor is easier to read than a percentage.
const FACTOR_FROM: f64 = 99.95;

/// A relative change: `+5.2 %`, `−0.3 %`, above +100 % as a factor: `× 2.1`.
#[must_use]
pub fn change(percent: f64) -> String {
    if percent >= FACTOR_FROM {
        let factor = 1.0 + percent / 100.0;
        return if factor < 10.0 {
            format!("× {factor:.1}")
        } else {
            format!("× {}", count(factor))
        };
    }
    format!("{} %", signed(percent))
}

/// The bounds of a change: `+9.9 to +13.6 %`, `+85.0 % to × 2.3`.
#[must_use]
pub fn interval(low: f64, high: f64) -> String {
    if high >= FACTOR_FROM {
        format!("{} to {}", change(low), change(high))
    } else {
        format!("{} to {} %", signed(low), signed(high))
    }
}

/// A measured size without direction: `3.1 %`.
#[must_use]
pub fn size(percent: f64) -> String {
    format!("{} %", digits(percent.abs()))
}

/// A size that somebody set, as it was written: `5 %`, `0.5 %`.
#[must_use]
pub fn declared(percent: f64) -> String {
    if percent.abs() < 10_000.0 {
        format!("{percent} %")
    } else {
        size(percent)
    }
}

/// A change in percent with its sign and without its unit: `+5.2`, `−0.3`.
pub(super) fn signed(percent: f64) -> String {
    let digits = digits(percent.abs());
    match percent {
        _ if digits == "0.0" => digits,
        p if p < 0.0 => format!("−{digits}"),
        _ => format!("+{digits}"),
    }
}

/// One decimal is finer than almost any interval; two where there would be nothing left otherwise.
fn digits(percent: f64) -> String {
    match percent {
        p if p < 0.005 => "0.0".into(),
        p if p < 0.095 => format!("{p:.2}"),
        p if p < FACTOR_FROM => format!("{p:.1}"),
        p => count(p),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    #[test]
    fn changes_have_a_sign_and_sensible_digits() {
        let found = [
            5.24, -0.31, 0.0, -0.0, 0.004, -0.04, 11.84, -62.3, 99.9, 99.96, 110.0, 3000.0,
        ]
        .map(change);
        let expected = [
            "+5.2 %",
            "−0.3 %",
            "0.0 %",
            "0.0 %",
            "0.0 %",
            "−0.04 %",
            "+11.8 %",
            "−62.3 %",
            "+99.9 %",
            "× 2.0",
            "× 2.1",
            "× 31",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn intervals_say_their_unit_once() {
        assert_eq!(interval(-0.4, 1.2), "−0.4 to +1.2 %");
        assert_eq!(interval(85.0, 130.0), "+85.0 % to × 2.3");
    }

    #[test]
    fn sizes_have_one_decimal_or_are_as_they_were_declared() {
        assert_eq!(
            [1.0, 3.12, 0.04, 140.2, 0.0].map(size),
            ["1.0 %", "3.1 %", "0.04 %", "140 %", "0.0 %"]
        );
        assert_eq!([5.0, 0.5, 1e300].map(declared)[..2], ["5 %", "0.5 %"]);
    }

    #[test]
    fn values_carry_their_unit() {
        let found = [
            (10_512.0, "ns"),
            (8_493_465.0, "bytes"),
            (83_304.2, "req/s"),
            (12.5, "req/s"),
        ];
        assert_eq!(
            found.map(|(number, unit)| value(Some(number), unit)),
            ["10.5 µs", "8.10 MiB", "83,304 req/s", "12.5 req/s"]
        );
        assert_eq!(value(None, "ns"), "–");
    }

    proptest! {
        #[test]
        fn no_number_makes_a_long_text(percent in -1e12_f64..1e12) {
            prop_assert!(change(percent).chars().count() < 24 && declared(percent).chars().count() < 24);
            prop_assert!(percent.abs() < 0.01 || (percent < 0.0) == change(percent).starts_with('−'));
        }
    }
}
