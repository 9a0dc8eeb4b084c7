//! From values to places on a picture, and the round values that stand on an axis.

use crate::report::format::three_digits;
use crate::site::svg::{Anchor, Svg};
use wirebench_judge::summary::head_to_head::Multiple;

/// A linear axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear {
    from: (f64, f64),
    to: (f64, f64),
}

impl Linear {
    /// Values `from.0`…`to.0` at pixels `from.1`…`to.1`.
    pub const fn new(from: (f64, f64), to: (f64, f64)) -> Self {
        Self { from, to }
    }

    /// Where a value stands.
    pub fn at(&self, value: f64) -> f64 {
        let reach = self.to.0 - self.from.0;
        if reach == 0.0 {
            return f64::midpoint(self.from.1, self.to.1);
        }
        self.from.1 + (value - self.from.0) / reach * (self.to.1 - self.from.1)
    }

    /// Round multiples of `unit` on it, about `count` of them.
    pub fn ticks(&self, count: f64, unit: f64) -> Vec<f64> {
        let (low, high) = (self.from.0.min(self.to.0), self.from.0.max(self.to.0));
        let step = round_step((high - low) / count / unit) * unit;
        if !step.is_finite() || step <= 0.0 {
            return Vec::new();
        }
        let mut ticks = Vec::new();
        let mut tick = (low / step).ceil() * step;
        while tick <= high + step * 1e-9 && ticks.len() < 20 {
            ticks.push(tick);
            tick += step;
        }
        ticks
    }
}

/// The next of 1, 2, 5, 10, … not below a step.
fn round_step(step: f64) -> f64 {
    if !step.is_finite() || step <= 0.0 {
        return 0.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let found = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= step * (1.0 - 1e-9));
    found.unwrap_or(10.0) * power
}

/// A logarithmic axis for values above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Log(Linear, (f64, f64));

impl Log {
    /// Values `from.0`…`to.0`, both above 0, at pixels `from.1`…`to.1`.
    pub fn new(from: (f64, f64), to: (f64, f64)) -> Self {
        let range = (from.0.min(to.0), from.0.max(to.0));
        Self(Linear::new((from.0.log10(), from.1), (to.0.log10(), to.1)), range)
    }

    /// Where a value stands; what is not above 0 stands at the smallest.
    pub fn at(&self, value: f64) -> f64 {
        self.0.at(value.max(self.1.0).log10())
    }

    /// 1, 2 and 5 of each power of ten; over more than two powers only the powers.
    pub fn ticks(&self) -> Vec<f64> {
        let (low, high) = self.1;
        let factors: &[f64] = match (high / low).log10() {
            powers if powers > 2.0 => &[1.0],
            powers if powers > 1.0 => &[1.0, 3.0],
            _ => &[1.0, 2.0, 5.0],
        };
        let mut ticks = Vec::new();
        let mut power = 10_f64.powf(low.log10().floor());
        while power <= high && ticks.len() < 40 {
            ticks.extend(factors.iter().map(|factor| factor * power));
            power *= 10.0;
        }
        let inside = |tick: &f64| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9);
        ticks.retain(inside);
        ticks
    }
}

/// An axis of either kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Axis {
    /// Linear.
    Linear(Linear),
    /// Logarithmic.
    Log(Log),
}

impl Axis {
    /// Where a value stands.
    pub fn at(&self, value: f64) -> f64 {
        match self {
            Self::Linear(axis) => axis.at(value),
            Self::Log(axis) => axis.at(value),
        }
    }

    /// Round values on it; about `count` on a linear one.
    pub fn ticks(&self, count: f64) -> Vec<f64> {
        match self {
            Self::Linear(axis) => axis.ticks(count, 1.0),
            Self::Log(axis) => axis.ticks(),
        }
    }
}

/// Where quantiles stand so that the tail is seen: each further nine is as wide as the one before.
///
/// The place of quantile q < 1 is −log₁₀(1 − q).
pub fn tail(quantile: f64) -> f64 {
    -(1.0 - quantile).log10()
}

/// Where a change of so many percent stands: straight around 0, logarithmic further out, so that 1 % and × 2 can be seen
/// on one axis.
pub fn stretched(percent: f64) -> f64 {
    (percent / 2.0).asinh()
}

// Ratios on a logarithmic axis around × 1, as two pages draw them.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            Linear::new((0.0, 0.0), (10.0, 100.0)).ticks(5.0, 1.0),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        );
        assert_eq!(Linear::new((91.0, 0.0), (104.0, 1.0)).ticks(3.0, 1.0), [95.0, 100.0]);
        assert_eq!(Linear::new((3.0, 0.0), (3.0, 1.0)).ticks(3.0, 1.0), Vec::<f64>::new());
        assert_eq!(Log::new((150.0, 0.0), (700.0, 1.0)).ticks(), [200.0, 500.0]);
        assert_eq!(
            Log::new((90.0, 0.0), (20_000.0, 1.0)).ticks(),
            [100.0, 1_000.0, 10_000.0]
        );
    }

    #[test]
    fn values_stand_in_order_and_what_cannot_stand_does_no_harm() {
        let log = Log::new((1.0, 100.0), (1_000.0, 0.0));
        assert!(log.at(1.0) > log.at(10.0) && (log.at(0.0) - 100.0).abs() < 1e-9);
        assert!((Linear::new((5.0, 0.0), (5.0, 10.0)).at(5.0) - 5.0).abs() < 1e-9);
        assert!((tail(0.99) - 2.0).abs() < 1e-9 && tail(0.0).abs() < 1e-9);
        assert!(stretched(-5.0) < stretched(0.1) && stretched(100.0) < stretched(200.0));
    }
}
