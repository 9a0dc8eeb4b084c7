//! A row of values as a line the size of a word.

use std::fmt::Write as _;

/// Size in pixels.
const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 24.0;
/// The newest values shown.
const NEWEST: usize = 60;

/// The path of the newest values as SVG path data, with gaps where there is no value; empty when there are fewer than two.
pub(super) fn path(values: &[f64]) -> String {
    let shown = &values[values.len().saturating_sub(NEWEST)..];
    let known = || shown.iter().copied().filter(|value| value.is_finite());
    let (low, high) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if known().count() < 2 {
        return String::new();
    }
    // A flat line in the middle, and no noise blown up to full height: at least 4 % of the value are shown.
    let reach = (high - low).max(0.04 * high.abs()).max(f64::MIN_POSITIVE);
    let floor = f64::midpoint(low, high) - reach / 2.0;
    let mut path = String::new();
    let mut pen = 'M';
    for (place, value) in shown.iter().enumerate() {
        if !value.is_finite() {
            pen = 'M';
            continue;
        }
        let x = 1.0 + (WIDTH - 2.0) * ratio(place, NEWEST.min(values.len()) - 1);
        let y = HEIGHT - 2.0 - (HEIGHT - 4.0) * (value - floor) / reach;
        let _ = write!(path, "{pen}{x:.0} {y:.1}");
        pen = 'L';
    }
    path
}

/// The path of the values around a place, of those from the first to the last place given: first, place, last.
pub(super) fn around(values: &[f64], (first, place, last): (usize, usize, usize)) -> String {
    let end = (place + NEWEST / 2).min(last + 1).min(values.len());
    let from = end.saturating_sub(NEWEST).max(first).min(end);
    path(&values[from..end])
}

#[expect(clippy::cast_precision_loss, reason = "at most 60 places")]
fn ratio(place: usize, last: usize) -> f64 {
    place as f64 / last.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_a_place_nothing_is_drawn_of_another_segment() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(around(&values, (100, 104, 199)), path(&values[100..134]));
        assert_eq!(around(&values, (0, 100, 199)), path(&values[70..130]));
        assert_eq!(around(&values, (0, 199, 199)), path(&values[140..]));
        assert_eq!(around(&[], (0, 5, 9)), "");
    }

    #[test]
    fn a_gap_lifts_the_pen_and_one_value_is_no_line() {
        assert_eq!(path(&[1.0, 2.0]), "M1 22.0L119 2.0");
        assert_eq!(path(&[1.0, f64::NAN, 2.0]).matches('M').count(), 2);
        assert_eq!(path(&[5.0]), "");
        assert_eq!(path(&[5.0, 5.0]), "M1 12.0L119 12.0");
    }
}
