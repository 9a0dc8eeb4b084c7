//! Converts units: values in a convertible unit do not start a new segment.

use crate::import::direction::trimmed;

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
