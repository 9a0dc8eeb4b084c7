//! Checks published figures against each other: arithmetic that needs no measurement.

use crate::claims::figures::figure;
use crate::claims::publication::{Audit, Check};

/// In a closed loop, rate × latency is the number of requests in flight, less what clients spend between two requests.
const IN_FLIGHT: std::ops::RangeInclusive<f64> = 0.75..=1.05;
/// The largest relative difference that rounding explains.
const ROUNDING: f64 = 0.015;

/// The largest rounding error of a share that was stated with two decimals, percent.
const HALF_A_DIGIT: f64 = 0.005;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// The figures agree.
    Consistent,
    /// They cannot all be true of one measurement.
    CannotBe,
    /// The two sides did not get the same requests.
    NotTheSame,
}

impl Agreement {
    /// Its words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Consistent => "✓ consistent",
            Self::CannotBe => "✗ cannot be",
            Self::NotTheSame => "✗ not the same question",
        }
    }
}

/// The arithmetic of a check in one line, and its result.
#[must_use]
pub fn audited(audit: &Audit) -> (String, Agreement) {
    let (arithmetic, agrees) = match audit.check {
        Check::LittlesLaw {
            throughput_rps,
            latency_ms,
            in_flight,
        } => {
            let product = throughput_rps * latency_ms / 1e3;
            let [rate, latency, found, stated] = [throughput_rps, latency_ms, product, in_flight].map(figure);
            let text = format!("{rate} × {latency} ms = {found} requests in flight, of {stated}");
            (text, IN_FLIGHT.contains(&(product / in_flight)))
        }
        Check::BytesPerAnswer {
            mb_per_s,
            throughput_rps,
            bytes: [least, most],
        } => {
            let each = mb_per_s * 1e6 / throughput_rps;
            let [volume, rate, found, from, to] = [mb_per_s, throughput_rps, each, least, most].map(figure);
            let stated = if least < most { format!("{from} to {to}") } else { from };
            let text = format!("{volume} MB/s ÷ {rate}/s = {found} bytes an answer, beside {stated}");
            (
                text,
                each >= least * (1.0 - ROUNDING) && each <= most * (1.0 + ROUNDING),
            )
        }
        Check::Rising { ref percentiles_ms } => {
            let figures: Vec<String> = percentiles_ms.iter().copied().map(figure).collect();
            (format!("{} ms", figures.join(" ≤ ")), percentiles_ms.is_sorted())
        }
        Check::Total {
            requests,
            seconds,
            throughput_rps,
        } => {
            let [all, time, found, stated] = [requests, seconds, requests / seconds, throughput_rps].map(figure);
            let text = format!("{all} ÷ {time} s = {found}/s, beside {stated}/s");
            (text, (requests / seconds / throughput_rps - 1.0).abs() <= ROUNDING)
        }
        Check::MorePercent { from, to, percent } => {
            let more = (to / from - 1.0) * 100.0;
            let text = format!("{} ÷ {} = {more:+.1} %, beside {percent:+} %", figure(to), figure(from));
            (text, (more - percent).abs() <= 1.0)
        }
        Check::Share { part, of, percent } => {
            let share = part / of * 100.0;
            let text = format!("{} ÷ {} = {share:.2} %, beside {percent} %", figure(part), figure(of));
            (text, (share - percent).abs() <= HALF_A_DIGIT)
        }
        Check::NotTheSame { ref because } => return (because.clone(), Agreement::NotTheSame),
    };
    if agrees {
        (arithmetic, Agreement::Consistent)
    } else {
        (arithmetic, Agreement::CannotBe)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn result(check: Check) -> (String, Agreement) {
        audited(&Audit {
            about: "x".into(),
            check,
            explained_by: None,
            shown_by: None,
        })
    }

    #[test]
    fn figures_that_fit_each_other_are_consistent_and_others_cannot_be() {
        let little = |latency_ms| Check::LittlesLaw {
            throughput_rps: 4_424.0,
            latency_ms,
            in_flight: 100.0,
        };
        assert_eq!(
            result(little(22.6)),
            (
                "4,424 × 22.6 ms = 100 requests in flight, of 100".into(),
                Agreement::Consistent
            )
        );
        assert_eq!(result(little(5.0)).1, Agreement::CannotBe);
        assert_eq!(result(little(30.0)).1, Agreement::CannotBe);
        let bytes = |mb_per_s, bytes| Check::BytesPerAnswer {
            mb_per_s,
            throughput_rps: 10_000.0,
            bytes,
        };
        assert_eq!(result(bytes(4.5, [450.0, 450.0])).1, Agreement::Consistent);
        assert_eq!(
            result(bytes(45.0, [450.0, 460.0])),
            (
                "45.0 MB/s ÷ 10,000/s = 4,500 bytes an answer, beside 450 to 460".into(),
                Agreement::CannotBe
            )
        );
        let rising = |percentiles_ms: &[f64]| Check::Rising {
            percentiles_ms: percentiles_ms.to_vec(),
        };
        assert_eq!(
            result(rising(&[1.5, 3.1, 4.2])),
            ("1.50 ≤ 3.10 ≤ 4.20 ms".into(), Agreement::Consistent)
        );
        assert_eq!(result(rising(&[1.5, 1.1])).1, Agreement::CannotBe);
        let total = |seconds| Check::Total {
            requests: 100_000.0,
            seconds,
            throughput_rps: 4_424.0,
        };
        assert_eq!(result(total(22.6)).1, Agreement::Consistent);
        assert_eq!(result(total(20.0)).1, Agreement::CannotBe);
        let more = |percent| Check::MorePercent {
            from: 4_362.0,
            to: 7_840.0,
            percent,
        };
        assert_eq!(
            result(more(80.0)),
            ("7,840 ÷ 4,362 = +79.7 %, beside +80 %".into(), Agreement::Consistent)
        );
        assert_eq!(result(more(60.0)).1, Agreement::CannotBe);
        let share = |part| Check::Share {
            part,
            of: 76_881.0,
            percent: 99.99,
        };
        assert_eq!(
            result(share(76_874.0)),
            (
                "76,874 ÷ 76,881 = 99.99 %, beside 99.99 %".into(),
                Agreement::Consistent
            )
        );
        assert_eq!(result(share(76_800.0)).1, Agreement::CannotBe);
        let other = result(Check::NotTheSame {
            because: "London and Kyiv".into(),
        });
        assert_eq!(other, ("London and Kyiv".into(), Agreement::NotTheSame));
    }

    proptest! {
        #[test]
        fn a_rate_made_of_its_own_total_is_consistent(requests in 1.0f64..1e9, seconds in 0.1f64..1e4, off in 0.9f64..1.1) {
            let check = |throughput_rps| Check::Total { requests, seconds, throughput_rps };
            prop_assert_eq!(result(check(requests / seconds)).1, Agreement::Consistent);
            let (_, found) = result(check(requests / seconds * off));
            prop_assert!((found == Agreement::Consistent) == ((1.0 / off - 1.0).abs() <= ROUNDING));
        }
    }
}
