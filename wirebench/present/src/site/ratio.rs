//! Ratios on a logarithmic axis around × 1, as two pages draw them.

use crate::report::format::three_digits;
use crate::site::scale::Log;
use crate::site::svg::{Anchor, Svg};
use wirebench_judge::summary::multiple::Multiple;

/// The axis reaches at least so far to either side of 1.
const REACH: f64 = 1.25;

/// A ratio with the ends of its interval; all three are equal where it has none.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    /// The lower end.
    pub low: f64,
    /// The ratio.
    pub at: f64,
    /// The upper end.
    pub high: f64,
}

impl From<Multiple> for Ratio {
    fn from(multiple: Multiple) -> Self {
        Self {
            low: multiple.low,
            at: multiple.times,
            high: multiple.high,
        }
    }
}

/// The axis that holds every ratio, between two places of a picture.
pub fn axis<'a>(ratios: impl Iterator<Item = &'a Ratio> + Clone, ends: (f64, f64)) -> Log {
    let low = ratios.clone().map(|ratio| ratio.low).fold(1.0 / REACH, f64::min);
    let high = ratios.map(|ratio| ratio.high).fold(REACH, f64::max);
    Log::new((low / 1.08, ends.0), (high * 1.08, ends.1))
}

/// Draws the lines of the axis from `top` to `bottom`, with their labels below.
pub fn draw_ticks(svg: &mut Svg, axis: Log, top: f64, bottom: f64) {
    for tick in axis.ticks() {
        svg.line("grid", (axis.at(tick), top), (axis.at(tick), bottom));
        let label = format!("× {}", three_digits(tick).trim_end_matches(".00").trim_end_matches('0'));
        svg.text("tick", (axis.at(tick), bottom + 13.0), Anchor::Middle, &label);
    }
}
