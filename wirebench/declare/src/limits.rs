//! Limits as they are written: `p99 < 50ms`, `throughput > 5000/s`, `instructions < 40000`.

use std::sync::LazyLock;

use regex::Regex;
use wirebench_record::limit::Limit;
use wirebench_record::metric::{Better, Metric};

use crate::read::{DeclareError, Place};

static LIMIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(\w+)\s*(<=?|>=?)\s*([0-9][0-9_.]*)\s*([a-zA-Zµ/]*)\s*$").expect("a constant pattern")
});

/// Units that a bound may have, each with its size in the metric's own unit.
const UNITS: [(&str, &[(&str, f64)]); 3] = [
    ("ns", &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]),
    (
        "bytes",
        &[
            ("B", 1.0),
            ("kB", 1e3),
            ("KiB", 1024.0),
            ("MB", 1e6),
            ("MiB", 1_048_576.0),
            ("GB", 1e9),
            ("GiB", 1_073_741_824.0),
        ],
    ),
    ("req/s", &[("/s", 1.0), ("req/s", 1.0)]),
];

/// Checks the limits of a scenario.
///
/// # Errors
/// At the first that is not a limit; the message says what was expected.
pub(super) fn check(texts: &[String], place: &Place) -> Result<Vec<Limit>, DeclareError> {
    let each = texts.iter().enumerate();
    each.map(|(index, text)| parse(text).map_err(|why| place.wrong(&format!("limits[{index}]"), why)))
        .collect()
}

fn parse(text: &str) -> Result<Limit, String> {
    let parts = LIMIT.captures(text).ok_or_else(|| {
        format!(
            "expected a metric, < or >, and a value, such as \"p99 < 50ms\" or \"throughput > 5000/s\", found {text:?}"
        )
    })?;
    let metric = metric(&parts[1])?;
    let (right, why) = match metric.better() {
        Better::Lower => ("<", "less is better"),
        Better::Higher => (">", "more is better"),
    };
    let name = &parts[1];
    if !parts[2].starts_with(right) {
        return Err(format!("expected {name} {right} …, as {why} there, found {text:?}"));
    }
    let number = parts[3].replace('_', "").parse::<f64>();
    let number = number.map_err(|_| format!("expected a number, found {:?}", &parts[3]))?;
    let bound = number * scale(metric, &parts[4])?;
    if bound <= 0.0 {
        return Err(format!("expected a value above 0, found {text:?}"));
    }
    Ok(Limit { metric, bound })
}

/// A metric by its name, or a percentile by its short name.
fn metric(name: &str) -> Result<Metric, String> {
    let known = |metric: &Metric| metric.name() == name || metric.short() == name;
    Metric::all().find(known).ok_or_else(|| {
        let names: Vec<&str> = Metric::all().map(Metric::name).collect();
        format!("unknown metric {name:?}; there are p50, p99, {}", names.join(", "))
    })
}

fn scale(metric: Metric, unit: &str) -> Result<f64, String> {
    let Some((_, units)) = UNITS.iter().find(|(own, _)| *own == metric.unit()) else {
        return if unit.is_empty() {
            Ok(1.0)
        } else {
            Err(format!("{} has no unit here, found {unit:?}", metric.name()))
        };
    };
    let found = units.iter().find(|(name, _)| *name == unit);
    found.map(|(_, scale)| *scale).ok_or_else(|| {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        format!("expected one of the units {}, found {unit:?}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn limits_are_read_in_the_unit_of_their_metric() {
        for (text, metric, bound) in [
            ("p99 < 50ms", Metric::LatencyP99, 50e6),
            ("latency_p50<=1.5 s", Metric::LatencyP50, 1.5e9),
            ("throughput > 5_000/s", Metric::Throughput, 5000.0),
            ("server_cpu < 40us", Metric::ServerCpu, 40e3),
            ("peak_rss < 64MiB", Metric::PeakRss, 67_108_864.0),
            ("instructions < 40000", Metric::Instructions, 40_000.0),
        ] {
            assert_eq!(parse(text).unwrap(), Limit { metric, bound }, "{text}");
        }
    }

    #[test]
    fn what_is_no_limit_is_refused_with_what_was_expected() {
        for (text, expected) in [
            ("p99", "expected a metric, < or >"),
            ("p99 < -5ms", "expected a metric, < or >"),
            ("p98 < 5ms", "unknown metric \"p98\"; there are p50, p99"),
            ("p99 > 5ms", "expected p99 < …, as less is better"),
            ("throughput < 5/s", "expected throughput > …, as more is better"),
            ("p99 < 5", "expected one of the units ns, us, µs, ms, s, found \"\""),
            ("p99 < 5/s", "expected one of the units"),
            ("instructions < 5ms", "instructions has no unit here"),
            ("p99 < 0ms", "expected a value above 0"),
            ("p99 < 1.2.3ms", "expected a number"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_or_accept_nonsense(text in "(p99|p50|throughput|x)? ?[<>]=? ?[0-9._]{0,6} ?[a-z/]{0,3}") {
            if let Ok(limit) = parse(&text) {
                prop_assert!(limit.bound > 0.0 && limit.bound.is_finite());
            }
        }
    }
}
