//! Numbers as the distances between integers: small in a file, and quick to read.

use wirebench_record::site::Row;

/// Values to four digits or more, NaN as null.
pub(super) fn row(values: &[f64]) -> Row {
    let scale = scale(values);
    let mut before = 0_i64;
    let deltas = values.iter().map(|value| {
        let now = whole(value / scale)?;
        let delta = now - before;
        before = now;
        Some(delta)
    });
    Row {
        deltas: deltas.collect(),
        scale,
    }
}

/// The power of ten by which all but the smallest hundredth of the values keep four digits.
fn scale(values: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = values
        .iter()
        .map(|value| value.abs())
        .filter(|size| size.is_finite() && *size > 0.0)
        .collect();
    sizes.sort_by(f64::total_cmp);
    // Integers above 2^53 would not come out of JSON as they went in.
    let (Some(small), Some(large)) = (sizes.get(sizes.len() / 100), sizes.last()) else {
        return 1.0;
    };
    let four_digits = small.log10().floor() - 3.0;
    let safe = large.log10().floor() - 14.0;
    10_f64.powi(to_power(four_digits.max(safe)))
}

fn to_power(power: f64) -> i32 {
    power as i32
}

fn whole(value: f64) -> Option<i64> {
    value.is_finite().then(|| value.round() as i64)
}

/// The values of a row, as the scripts decode them.
#[cfg(test)]
pub(super) fn decoded(row: &Row) -> Vec<f64> {
    let mut sum = 0;
    let value = |delta: &Option<i64>| {
        delta.map_or(f64::NAN, |delta| {
            sum += delta;
            sum as f64 * row.scale
        })
    };
    row.deltas.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gaps_stay_gaps_and_do_not_shift_what_follows() {
        let found = row(&[f64::NAN, 1000.0, f64::NAN, 1001.0]);
        assert_eq!(found.deltas, [None, Some(1000), None, Some(1)]);
        assert_eq!(found.scale, 1.0);
        assert_eq!(row(&[]).deltas, []);
        assert_eq!(row(&[0.0, 0.0]).deltas, [Some(0), Some(0)]);
    }

    proptest! {
        #[test]
        fn four_digits_come_back(values in prop::collection::vec(prop_oneof![1e-3..1e9, Just(f64::NAN)], 1..50)) {
            let found = decoded(&row(&values));
            let smallest = values.iter().copied().filter(|value| value.is_finite()).fold(f64::INFINITY, f64::min);
            for (was, is) in values.iter().zip(&found) {
                prop_assert_eq!(was.is_nan(), is.is_nan());
                if !was.is_nan() {
                    prop_assert!((was - is).abs() <= 0.0006 * smallest, "{} became {}", was, is);
                }
            }
        }
    }
}
