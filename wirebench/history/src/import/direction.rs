//! Which direction is better, from the unit, or else from the tool. If they contradict each other, the unit wins: it is
//! stored with the values, the tool is a setting. Names are not used: there is a suite called "bigger is better" that
//! holds both.

use wirebench_record::metric::Better;

/// The direction, and what it was derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Concluded {
    /// `None` if unknown.
    pub(super) better: Option<Better>,
    /// For people.
    pub(super) because: String,
    /// Whether unit and tool contradict each other.
    pub(super) contradiction: bool,
}

/// The unit itself: the text before the first tab or line break.
pub(super) fn proper(unit: &str) -> &str {
    unit.split(['\t', '\n', '\r']).next().unwrap_or_default().trim()
}

/// The direction of a series with a unit, measured by a tool.
pub(super) fn conclude(unit: &str, tool: Option<&str>) -> Concluded {
    let unit = proper(unit);
    let by_tool = match tool {
        Some("customBiggerIsBetter") => Some(Better::Higher),
        Some("customSmallerIsBetter") => Some(Better::Lower),
        _ => None,
    };
    let tool = tool.unwrap_or_default();
    let (better, because) = match (of_unit(unit), by_tool) {
        (Some(unit_says), Some(tool_says)) if unit_says != tool_says => {
            let because = format!("unit \"{unit}\", although the tool is {tool}");
            return Concluded {
                better: Some(unit_says),
                because,
                contradiction: true,
            };
        }
        (Some(better), _) => (Some(better), format!("unit \"{unit}\"")),
        (None, Some(better)) => (Some(better), format!("tool {tool}")),
        (None, None) if unit.is_empty() => (None, "there is no unit".into()),
        (None, None) => (None, format!("unit \"{unit}\" is not known")),
    };
    Concluded {
        better,
        because,
        contradiction: false,
    }
}

/// Rates are better higher; times, sizes and counts of costly things better lower.
fn of_unit(unit: &str) -> Option<Better> {
    let unit = unit.to_lowercase().replace("per second", "/s").replace(' ', "");
    if ["/s", "/sec", "/second"].iter().any(|end| unit.ends_with(end))
        || ["rps", "qps", "tps", "iops", "fps", "bps", "kbps", "mbps", "gbps"].contains(&unit.as_str())
    {
        return Some(Better::Higher);
    }
    // The denominator does not matter: ns/op, bytes/iter.
    let counted = unit.split('/').next().unwrap_or_default();
    let cost = [
        "ns",
        "us",
        "µs",
        "μs",
        "ms",
        "s",
        "sec",
        "secs",
        "second",
        "seconds",
        "min",
        "minutes",
        "nanoseconds",
        "microseconds",
        "milliseconds",
        "b",
        "byte",
        "bytes",
        "kb",
        "kib",
        "mb",
        "mib",
        "gb",
        "gib",
        "alloc",
        "allocs",
        "allocations",
        "instructions",
        "cycles",
    ];
    cost.contains(&counted).then_some(Better::Lower)
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
        assert!(found.contradiction && found.because.contains("although the tool is customBiggerIsBetter"));
    }
}
