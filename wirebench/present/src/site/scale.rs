//! From values to places on a picture, and the round values that stand on an axis.

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

    /// Round values on it, about `count` of them: multiples of 1, 2 or 5 times a power of ten.
    pub fn ticks(&self, count: f64) -> Vec<f64> {
        let (low, high) = (self.from.0, self.to.0);
        let wanted = (high - low) / count;
        let power = 10_f64.powf(wanted.log10().floor());
        let mut steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power);
        let step = steps.find(|step| *step >= wanted * (1.0 - 1e-9));
        let Some(step) = step.filter(|step| step.is_finite() && *step > 0.0) else {
            return Vec::new();
        };
        let first = (low / step).ceil();
        let ticks = (0..20).map(|number| (first + f64::from(number)) * step);
        ticks.take_while(|tick| *tick <= high + step * 1e-9).collect()
    }
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

    /// The smallest and the largest value on it.
    pub const fn range(&self) -> (f64, f64) {
        self.1
    }
}

/// Where a change of so many percent stands: straight around 0, logarithmic further out, so that 1 % and × 2 can be seen
/// on one axis.
pub fn stretched(percent: f64) -> f64 {
    (percent / 2.0).asinh()
}

// Ratios on a logarithmic axis around × 1, as two pages draw them.

/// The axis reaches at least so far to either side of 1.
const REACH: f64 = 1.25;

/// The axis that holds these intervals of ratios, between two places of a picture.
pub fn axis(intervals: impl Iterator<Item = (f64, f64)>, ends: (f64, f64)) -> Log {
    let start = (1.0 / REACH, REACH);
    let (low, high) = intervals.fold(start, |(low, high), one| (low.min(one.0), high.max(one.1)));
    Log::new((low / 1.08, ends.0), (high * 1.08, ends.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            Linear::new((0.0, 0.0), (10.0, 100.0)).ticks(5.0),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        );
        assert_eq!(Linear::new((91.0, 0.0), (104.0, 1.0)).ticks(3.0), [95.0, 100.0]);
        assert_eq!(Linear::new((3.0, 0.0), (3.0, 1.0)).ticks(3.0), Vec::<f64>::new());
    }

    #[test]
    fn values_stand_in_order_and_what_cannot_stand_does_no_harm() {
        let log = Log::new((1.0, 100.0), (1_000.0, 0.0));
        assert!(log.at(1.0) > log.at(10.0) && (log.at(0.0) - 100.0).abs() < 1e-9);
        assert!((Linear::new((5.0, 0.0), (5.0, 10.0)).at(5.0) - 5.0).abs() < 1e-9);
        assert!(stretched(-5.0) < stretched(0.1) && stretched(100.0) < stretched(200.0));
    }
}
