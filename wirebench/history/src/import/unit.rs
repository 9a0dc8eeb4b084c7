//! Units: values in a convertible unit do not start a new segment, and a unit says which direction is better, or else the tool
//! does. If they contradict each other, the unit wins: it is stored with the values, while the tool is a setting. Names are not
//! used: there is a suite called "bigger is better" with series of both directions.

use wirebench_record::metric::Better;

/// A unit as a multiple of a base unit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    /// Its dimension and denominator; equal for convertible units.
    pub(super) dimension: String,
    /// Its size in base units.
    pub(super) factor: f64,
}

/// Convertible units, by dimension.
const KNOWN: [(&str, f64, &[&str]); 14] = [
    ("time", 1e-9, &["ns", "nsec", "nanosecond", "nanoseconds"]),
    ("time", 1e-6, &["us", "µs", "μs", "usec", "microsecond", "microseconds"]),
    ("time", 1e-3, &["ms", "msec", "millisecond", "milliseconds"]),
    ("time", 1.0, &["s", "sec", "secs", "second", "seconds"]),
    ("time", 60.0, &["min", "minute", "minutes"]),
    ("bytes", 1.0, &["b", "byte", "bytes"]),
    ("bytes", 1e3, &["kb"]),
    ("bytes", 1e6, &["mb"]),
    ("bytes", 1e9, &["gb"]),
    ("bytes", 1024.0, &["kib"]),
    ("bytes", 1_048_576.0, &["mib"]),
    ("bytes", 1_073_741_824.0, &["gib"]),
    ("allocations", 1.0, &["alloc", "allocs", "allocations"]),
    ("operations", 1.0, &["op", "ops", "operations"]),
];

/// Parses a unit. An unknown unit is convertible to itself only.
pub(super) fn scale(unit: &str) -> Scale {
    let unit = trimmed(unit).to_lowercase().replace(' ', "");
    let (numerator, denominator) = unit.split_once('/').unwrap_or((&unit, ""));
    let denominator = match denominator {
        "sec" | "second" | "seconds" => "s",
        other => other,
    };
    let known = KNOWN.iter().find(|(_, _, names)| names.contains(&numerator));
    let (dimension, factor) = known.map_or((numerator, 1.0), |(dimension, factor, _)| (*dimension, *factor));
    Scale {
        dimension: format!("{dimension}/{denominator}"),
        factor,
    }
}

/// True if a unit is one of time, such as `ms` or `ns/op`.
pub(super) fn is_time(unit: &str) -> bool {
    scale(unit).dimension.starts_with("time/")
}

/// The unit up to its first tab or line break.
pub(super) fn trimmed(unit: &str) -> &str {
    unit.split(['\t', '\n', '\r']).next().unwrap_or_default().trim()
}

/// Concludes the better direction of a series with this unit, measured by this tool, and names the evidence.
pub(super) fn conclude(unit: &str, tool: Option<&str>) -> (Option<Better>, String) {
    let unit = trimmed(unit);
    let tool = tool.unwrap_or_default();
    let of_tool = match tool {
        "customBiggerIsBetter" => Some(Better::Higher),
        "customSmallerIsBetter" => Some(Better::Lower),
        _ => None,
    };
    let of_unit = of_unit(unit);
    let because = match (of_unit, of_tool) {
        (Some(of_unit), Some(of_tool)) if of_unit != of_tool => {
            format!("unit \"{unit}\", although the tool is {tool}")
        }
        (Some(_), _) => format!("unit \"{unit}\""),
        (None, Some(_)) => format!("tool {tool}"),
        (None, None) if unit.is_empty() => "there is no unit".into(),
        (None, None) => format!("unit \"{unit}\" is not known"),
    };
    (of_unit.or(of_tool), because)
}

/// Rates are better higher; times, sizes and counts of costs are better lower.
fn of_unit(unit: &str) -> Option<Better> {
    let unit = unit.to_lowercase().replace("per second", "/s").replace(' ', "");
    let is_rate = ["/s", "/sec", "/second"].iter().any(|end| unit.ends_with(end))
        || matches!(
            unit.as_str(),
            "rps" | "qps" | "tps" | "iops" | "fps" | "bps" | "kbps" | "mbps" | "gbps"
        );
    if is_rate {
        return Some(Better::Higher);
    }
    // The denominator of costs does not matter: ns/op, bytes/iter.
    let cost = unit.split('/').next().unwrap_or_default();
    let is_cost = ["instructions", "cycles"].contains(&cost)
        || (KNOWN.iter()).any(|(dimension, _, names)| *dimension != "operations" && names.contains(&cost));
    is_cost.then_some(Better::Lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_convert_and_other_things_do_not() {
        let ratio = |one: &str, other: &str| {
            let [one, other] = [scale(one), scale(other)];
            (one.dimension == other.dimension).then_some(one.factor / other.factor)
        };
        assert!((ratio("ms", "us").unwrap() - 1000.0).abs() < 1e-6);
        assert_eq!(ratio("ms", "msec"), Some(1.0));
        assert_eq!(ratio("MiB", "B"), Some(1_048_576.0));
        assert_eq!(ratio("ops/sec", "ops/s"), Some(1.0));
        assert!((ratio("ns/iter", "µs/iter").unwrap() - 1e-3).abs() < 1e-9);
        assert_eq!(ratio("ms", "MB"), None);
        assert_eq!(ratio("ns/op", "ns/iter"), None);
        assert_eq!(ratio("points", "Points"), Some(1.0));
        assert_eq!(ratio("points", "ms"), None);
    }
}

#[cfg(test)]
mod direction_tests {
    use super::*;

    fn better(unit: &str, tool: Option<&str>) -> Option<Better> {
        conclude(unit, tool).0
    }

    #[test]
    fn units_say_it() {
        for unit in [
            "ns",
            "ns/iter",
            "µs",
            "ms",
            "sec",
            "ns/op\t 3.000 extra/op",
            "B/op",
            "allocs/op",
            "bytes",
            "MiB",
        ] {
            assert_eq!(better(unit, Some("go")), Some(Better::Lower), "{unit}");
        }
        for unit in [
            "ops/s",
            "ops/sec",
            "req/s",
            "MB/s",
            "iter/sec",
            "requests per second",
            "Mbps",
        ] {
            assert_eq!(better(unit, None), Some(Better::Higher), "{unit}");
        }
    }

    #[test]
    fn the_tool_says_it_where_the_unit_does_not() {
        assert_eq!(better("", Some("customSmallerIsBetter")), Some(Better::Lower));
        assert_eq!(better("points", Some("customBiggerIsBetter")), Some(Better::Higher));
        assert_eq!(better("extra/op", Some("go")), None);
        assert_eq!(better("", None), None);
        assert!(conclude("extra/op", Some("go")).1.contains("extra/op"));
    }

    #[test]
    fn where_unit_and_tool_contradict_each_other_the_unit_wins_and_it_is_said() {
        let (better, because) = conclude("ms", Some("customBiggerIsBetter"));
        assert_eq!(better, Some(Better::Lower));
        assert!(because.contains("although the tool is customBiggerIsBetter"));
    }
}
