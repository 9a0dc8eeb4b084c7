//! Concludes which direction is better, from the unit, or else from the tool. If they contradict each other, the unit wins: it is
//! stored with the values, while the tool is a setting. Names are not used: there is a suite called "bigger is better" with series
//! of both directions.

use wirebench_record::metric::Better;

/// The better direction, and the evidence for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConcludedDirection {
    /// `None` if unknown.
    pub(super) better: Option<Better>,
    /// For people.
    pub(super) because: String,
}

/// The unit up to its first tab or line break.
pub(super) fn trimmed(unit: &str) -> &str {
    unit.split(['\t', '\n', '\r']).next().unwrap_or_default().trim()
}

/// Concludes the better direction of a series with this unit, measured by this tool.
pub(super) fn conclude(unit: &str, tool: Option<&str>) -> ConcludedDirection {
    let unit = trimmed(unit);
    let tool = tool.unwrap_or_default();
    let of_tool = match tool {
        "customBiggerIsBetter" => Some(Better::Higher),
        "customSmallerIsBetter" => Some(Better::Lower),
        _ => None,
    };
    let of_unit = of_unit(unit);
    let contradiction = of_unit
        .zip(of_tool)
        .is_some_and(|(of_unit, of_tool)| of_unit != of_tool);
    let because = match (of_unit, of_tool) {
        (Some(_), _) if contradiction => format!("unit \"{unit}\", although the tool is {tool}"),
        (Some(_), _) => format!("unit \"{unit}\""),
        (None, Some(_)) => format!("tool {tool}"),
        (None, None) if unit.is_empty() => "there is no unit".into(),
        (None, None) => format!("unit \"{unit}\" is not known"),
    };
    ConcludedDirection {
        better: of_unit.or(of_tool),
        because,
    }
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
    let is_cost = matches!(
        unit.split('/').next().unwrap_or_default(),
        "ns" | "us"
            | "µs"
            | "μs"
            | "ms"
            | "s"
            | "sec"
            | "secs"
            | "second"
            | "seconds"
            | "min"
            | "minutes"
            | "nanoseconds"
            | "microseconds"
            | "milliseconds"
            | "b"
            | "byte"
            | "bytes"
            | "kb"
            | "kib"
            | "mb"
            | "mib"
            | "gb"
            | "gib"
            | "alloc"
            | "allocs"
            | "allocations"
            | "instructions"
            | "cycles"
    );
    is_cost.then_some(Better::Lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn better(unit: &str, tool: Option<&str>) -> Option<Better> {
        conclude(unit, tool).better
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
        assert!(conclude("extra/op", Some("go")).because.contains("extra/op"));
    }

    #[test]
    fn where_unit_and_tool_contradict_each_other_the_unit_wins_and_it_is_said() {
        let found = conclude("ms", Some("customBiggerIsBetter"));
        assert_eq!(found.better, Some(Better::Lower));
        assert!(found.because.contains("although the tool is customBiggerIsBetter"));
    }
}
