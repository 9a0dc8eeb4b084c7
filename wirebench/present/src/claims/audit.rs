//! Published figures held against each other: arithmetic that needs no measurement. Pure.

use crate::report::format::{count, three_digits};
use wirebench_declare::claims::{Audit, Check};

/// In a closed loop, rate × latency is the number of requests in flight, less what clients spend between two requests.
const IN_FLIGHT: std::ops::RangeInclusive<f64> = 0.75..=1.05;
/// By how much figures may miss each other through rounding.
const ROUNDING: f64 = 0.015;

/// By how much a share may miss what was stated with two digits after the point, percent.
const HALF_A_DIGIT: f64 = 0.005;

/// What the arithmetic says of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// They fit each other.
    Consistent,
    /// They cannot all be true of one measurement.
    CannotBe,
    /// The two sides were not asked the same.
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

/// The arithmetic of a check in one line, and what it says.
#[must_use]
pub fn audited(audit: &Audit) -> (String, Agreement) {
    let fits = |fits: bool| {
        if fits {
            Agreement::Consistent
        } else {
            Agreement::CannotBe
        }
    };
    match &audit.check {
        Check::LittlesLaw {
            throughput_rps,
            latency_ms,
            in_flight,
        } => {
            let product = throughput_rps * latency_ms / 1e3;
            let text = format!(
                "{} × {} ms = {} requests in flight, of {}",
                figure(*throughput_rps),
                figure(*latency_ms),
                figure(product),
                figure(*in_flight)
            );
            (text, fits(IN_FLIGHT.contains(&(product / in_flight))))
        }
        Check::BytesPerAnswer {
            mb_per_s,
            throughput_rps,
            bytes: [least, most],
        } => {
            let each = mb_per_s * 1e6 / throughput_rps;
            let range = if least < most {
                format!("{} to {}", figure(*least), figure(*most))
            } else {
                figure(*least)
            };
            let text = format!(
                "{} MB/s ÷ {}/s = {} bytes an answer, beside {range}",
                figure(*mb_per_s),
                figure(*throughput_rps),
                figure(each)
            );
            (
                text,
                fits(each >= least * (1.0 - ROUNDING) && each <= most * (1.0 + ROUNDING)),
            )
        }
        Check::Rising { percentiles_ms } => {
            let words: Vec<String> = percentiles_ms.iter().map(|one| figure(*one)).collect();
            (format!("{} ms", words.join(" ≤ ")), fits(percentiles_ms.is_sorted()))
        }
        Check::Total {
            requests,
            seconds,
            throughput_rps,
        } => {
            let rate = requests / seconds;
            let text = format!(
                "{} ÷ {} s = {}/s, beside {}/s",
                figure(*requests),
                figure(*seconds),
                figure(rate),
                figure(*throughput_rps)
            );
            (text, fits((rate / throughput_rps - 1.0).abs() <= ROUNDING))
        }
        Check::MorePercent { from, to, percent } => {
            let more = (to / from - 1.0) * 100.0;
            let text = format!(
                "{} ÷ {} = {more:+.1} %, beside {percent:+} %",
                figure(*to),
                figure(*from)
            );
            (text, fits((more - percent).abs() <= 1.0))
        }
        Check::Share { part, of, percent } => {
            let share = part / of * 100.0;
            let text = format!("{} ÷ {} = {share:.2} %, beside {percent} %", figure(*part), figure(*of));
            (text, fits((share - percent).abs() <= HALF_A_DIGIT))
        }
        Check::NotTheSame { because } => (because.clone(), Agreement::NotTheSame),
    }
}

/// A figure of a sentence: whole from 100 on, with thousands separators.
fn figure(value: f64) -> String {
    if value >= 99.95 {
        count(value)
    } else {
        three_digits(value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn said(check: Check) -> (String, Agreement) {
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
            said(little(22.6)),
            (
                "4,424 × 22.6 ms = 100 requests in flight, of 100".into(),
                Agreement::Consistent
            )
        );
        assert_eq!(said(little(5.0)).1, Agreement::CannotBe);
        assert_eq!(said(little(30.0)).1, Agreement::CannotBe);
        let bytes = |mb_per_s, bytes| Check::BytesPerAnswer {
            mb_per_s,
            throughput_rps: 10_000.0,
            bytes,
        };
        assert_eq!(said(bytes(4.5, [450.0, 450.0])).1, Agreement::Consistent);
        assert_eq!(
            said(bytes(45.0, [450.0, 460.0])),
            (
                "45.0 MB/s ÷ 10,000/s = 4,500 bytes an answer, beside 450 to 460".into(),
                Agreement::CannotBe
            )
        );
        let rising = |percentiles_ms: &[f64]| Check::Rising {
            percentiles_ms: percentiles_ms.to_vec(),
        };
        assert_eq!(
            said(rising(&[1.5, 3.1, 4.2])),
            ("1.50 ≤ 3.10 ≤ 4.20 ms".into(), Agreement::Consistent)
        );
        assert_eq!(said(rising(&[1.5, 1.1])).1, Agreement::CannotBe);
        let total = |seconds| Check::Total {
            requests: 100_000.0,
            seconds,
            throughput_rps: 4_424.0,
        };
        assert_eq!(said(total(22.6)).1, Agreement::Consistent);
        assert_eq!(said(total(20.0)).1, Agreement::CannotBe);
        let more = |percent| Check::MorePercent {
            from: 4_362.0,
            to: 7_840.0,
            percent,
        };
        assert_eq!(
            said(more(80.0)),
            ("7,840 ÷ 4,362 = +79.7 %, beside +80 %".into(), Agreement::Consistent)
        );
        assert_eq!(said(more(60.0)).1, Agreement::CannotBe);
        let share = |part| Check::Share {
            part,
            of: 76_881.0,
            percent: 99.99,
        };
        assert_eq!(
            said(share(76_874.0)),
            (
                "76,874 ÷ 76,881 = 99.99 %, beside 99.99 %".into(),
                Agreement::Consistent
            )
        );
        assert_eq!(said(share(76_800.0)).1, Agreement::CannotBe);
        let asked = said(Check::NotTheSame {
            because: "London and Kyiv".into(),
        });
        assert_eq!(asked, ("London and Kyiv".into(), Agreement::NotTheSame));
    }

    proptest! {
        #[test]
        fn a_rate_made_of_its_own_total_is_consistent(requests in 1.0f64..1e9, seconds in 0.1f64..1e4, off in 0.9f64..1.1) {
            let check = |throughput_rps| Check::Total { requests, seconds, throughput_rps };
            prop_assert_eq!(said(check(requests / seconds)).1, Agreement::Consistent);
            let (_, found) = said(check(requests / seconds * off));
            prop_assert!((found == Agreement::Consistent) == ((1.0 / off - 1.0).abs() <= ROUNDING));
        }
    }
}
