//! A row of values as a line the size of a word.

use std::fmt::Write as _;

/// Size in pixels.
const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 24.0;
/// The newest values shown.
const NEWEST: usize = 60;

/// The path of the newest values as SVG path data, with gaps where there is no value, and a dot for a value alone between gaps;
/// empty when there are fewer than two.
pub(super) fn path(values: &[f64]) -> String {
    let shown = &values[values.len().saturating_sub(NEWEST)..];
    course(shown, shown.len()).before
}

/// Values around a step as SVG path data: those before it, and those from it on, joined by the step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Course {
    pub(super) before: String,
    pub(super) after: String,
}

/// The course of at most 60 values, of which those from `step` on come after the step.
fn course(shown: &[f64], step: usize) -> Course {
    let known = || shown.iter().copied().filter(|value| value.is_finite());
    let (low, high) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let mut course = Course::default();
    if known().count() < 2 {
        return course;
    }
    // A flat line in the middle, and no noise blown up to full height: at least 4 % of the value are shown.
    let reach = (high - low).max(0.04 * high.abs()).max(f64::MIN_POSITIVE);
    let floor = f64::midpoint(low, high) - reach / 2.0;
    let mut pen = 'M';
    let mut last: Option<(f64, f64)> = None;
    for (place, value) in shown.iter().enumerate() {
        if !value.is_finite() {
            pen = 'M';
            continue;
        }
        let x = 1.0 + (WIDTH - 2.0) * (place as f64 / (shown.len() - 1) as f64);
        let y = HEIGHT - 2.0 - (HEIGHT - 4.0) * (value - floor) / reach;
        let line = if place < step {
            &mut course.before
        } else {
            &mut course.after
        };
        if let (true, true, Some((x, y))) = (line.is_empty(), pen == 'L', last) {
            let _ = write!(line, "M{x:.0} {y:.1}");
        }
        // No way at all is a dot, where line ends are round.
        let dot = if pen == 'M' { "h0" } else { "" };
        let _ = write!(line, "{pen}{x:.0} {y:.1}{dot}");
        (pen, last) = ('L', Some((x, y)));
    }
    course
}

/// The course around a step at a place, of the values from the first to the last place given: first, place, last.
pub(super) fn around(values: &[f64], (first, place, last): (usize, usize, usize)) -> Course {
    let end = (place + NEWEST / 2).min(last + 1).min(values.len());
    let from = end.saturating_sub(NEWEST).max(first).min(end);
    course(&values[from..end], place.saturating_sub(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_a_place_nothing_is_drawn_of_another_segment() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(around(&values, (100, 104, 199)), course(&values[100..134], 4));
        assert_eq!(around(&values, (0, 100, 199)), course(&values[70..130], 30));
        assert_eq!(around(&values, (0, 199, 199)), course(&values[140..], 59));
        assert_eq!(around(&[], (0, 5, 9)), Course::default());
    }

    #[test]
    fn the_step_belongs_to_what_comes_after_it() {
        let found = course(&[1.0, 1.0, 2.0, 2.0], 2);
        assert_eq!(
            (&*found.before, &*found.after),
            ("M1 22.0h0L40 22.0", "M40 22.0L80 2.0L119 2.0")
        );
        let gap = course(&[1.0, f64::NAN, 2.0], 2);
        assert_eq!((&*gap.before, &*gap.after), ("M1 22.0h0", "M119 2.0h0"));
    }

    #[test]
    fn a_gap_lifts_the_pen_and_one_value_is_no_line() {
        assert_eq!(path(&[1.0, 2.0]), "M1 22.0h0L119 2.0");
        assert_eq!(path(&[1.0, f64::NAN, 2.0]).matches('M').count(), 2);
        assert_eq!(path(&[5.0]), "");
        assert_eq!(path(&[5.0, 5.0]), "M1 12.0h0L119 12.0");
    }
}
