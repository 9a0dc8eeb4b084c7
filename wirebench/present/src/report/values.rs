//! Values of metrics with their units, as people read them.

use crate::report::format::{bytes, count, number, three_digits, time};
use wirebench_record::metric::{Metric, Notation};

/// A value with its unit: `10.5 µs`, `83,304 req/s`; a dash without a value. The unit may be text of the record.
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
pub fn figure(metric: Metric, value: f64) -> String {
    match metric.row().notation {
        Notation::Time => time(value),
        Notation::Size => bytes(value),
        Notation::Bytes => format!("{} B", number(value)),
        Notation::Number => number(value),
        Notation::NumberAndUnit => self::value(Some(value), metric.unit()),
    }
}

/// How often a request causes a system call: `0.02`, `0.0033`.
pub fn rate(calls: f64) -> String {
    if calls < 0.01 {
        format!("{calls:.4}")
    } else {
        number(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
