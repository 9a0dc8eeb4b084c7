//! Relative changes and sizes, as people read them.

use crate::report::format::count;

/// From this percentage on, a factor is easier to read.
pub(super) const FACTOR_FROM: f64 = 99.95;

/// A relative change: `+5.2 %`, `−0.3 %`, above +100 % as a factor: `× 2.1`.
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
pub fn interval(low: f64, high: f64) -> String {
    if high >= FACTOR_FROM {
        format!("{} to {}", change(low), change(high))
    } else {
        format!("{} to {} %", signed(low), signed(high))
    }
}

/// A change with its interval: `+8.2 % (+6.9 to +9.4 %)`; alone if counts leave no interval.
pub fn with_interval(percent: f64, low: f64, high: f64) -> String {
    if change(low) == change(high) {
        return change(percent);
    }
    format!("{} ({})", change(percent), interval(low, high))
}

/// A measured size without direction: `3.1 %`.
pub fn size(percent: f64) -> String {
    format!("{} %", digits(percent.abs()))
}

/// A declared size, as it was written: `5 %`, `0.5 %`.
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

/// One decimal, which is finer than almost any interval; two if one would show zero.
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

    proptest! {
        #[test]
        fn no_number_makes_a_long_text(percent in -1e12_f64..1e12) {
            prop_assert!(change(percent).chars().count() < 24 && declared(percent).chars().count() < 24);
            prop_assert!(percent.abs() < 0.01 || (percent < 0.0) == change(percent).starts_with('−'));
        }
    }
}
