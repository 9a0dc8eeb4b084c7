//! Units that measure the same thing: values in one are brought to the other instead of breaking a series.

use crate::import::direction::proper;

/// A unit as a size of something.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    /// What it measures, and by what it is counted: equal for units that convert.
    pub(super) of: String,
    /// How many base units it is.
    pub(super) factor: f64,
}

/// Units that convert, by what they measure.
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

/// What a unit measures. An unknown one converts to nothing but itself.
pub(super) fn scale(unit: &str) -> Scale {
    let written = proper(unit).to_lowercase().replace(' ', "");
    let (counted, by) = match written.split_once('/') {
        Some((counted, by)) => (counted, by),
        None => (written.as_str(), ""),
    };
    let by = if ["sec", "second", "seconds"].contains(&by) {
        "s"
    } else {
        by
    };
    let known = KNOWN.iter().find(|(_, _, names)| names.contains(&counted));
    let (of, factor) = known.map_or((counted, 1.0), |(of, factor, _)| (*of, *factor));
    Scale {
        of: format!("{of}/{by}"),
        factor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_convert_and_other_things_do_not() {
        let ratio = |one: &str, other: &str| {
            let [one, other] = [scale(one), scale(other)];
            (one.of == other.of).then_some(one.factor / other.factor)
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
