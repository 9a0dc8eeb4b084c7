//! The noise of the values before a place: standard deviation, autocorrelation and drift. A step must exceed it.

use crate::change_point::level::median_of;

/// The most values used.
const MEMORY: usize = 100;
/// The smallest standard deviation for comparisons, for rows without any noise.
const LEAST_SPREAD: f64 = 0.003;
/// For the autocorrelation, residuals are limited to this many standard deviations.
const REACH_BEFORE: f64 = 2.5;
/// For the mean, new values are limited to this many standard deviations.
const REACH_AFTER: f64 = 3.2;
/// A residual beyond this many standard deviations is an outlier.
const OUTLIER: f64 = 4.0;
/// Weight and value of the prior for the autocorrelation.
const ASSUMED: (f64, f64) = (10.0, 0.1);
/// A slope is used from this many of its standard errors on.
const SURE: f64 = 2.2;
/// A slope needs this many values in each third of a level.
const THIRD: usize = 6;
/// Values on either side of a step are many if the standard error is at most this, in standard deviations: 17 of independent
/// noise after 17.
const MANY: f64 = 0.45;
/// The variance of a median over that of a mean, between that of normal noise (1.57) and that of heavier tails (below 1).
const MEDIAN: f64 = 1.25;

/// The noise of a row before a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Standard deviation of the logarithm around its levels, from measures that outliers do not move.
    pub spread: f64,
    /// Lag-1 autocorrelation around the levels, 0 … 0.95. Plain estimates are too low for few values; this one is corrected.
    pub autocorrelation: f64,
    /// Change of the logarithm per value within the current level; 0 when it is not clear.
    pub slope: f64,
    /// Share of values more than four standard deviations from their level.
    pub outliers: f64,
    /// The number of values it is computed from.
    pub values: usize,
    /// The number of values of the current level, from which the slope is computed.
    span: usize,
}

/// The level before a step, with which the new values are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct OldLevel<'a> {
    /// Its newest values.
    pub(super) values: &'a [f64],
    /// Their median.
    pub(super) median: f64,
    /// The standard deviation of the newest values before the step; 0 if it is not used.
    pub(super) recent_spread: f64,
}

impl Noise {
    /// The noise of the values before the end of `row`, whose levels start at `starts`, in order. `None` without
    /// values.
    pub(super) fn of(row: &[f64], starts: impl Iterator<Item = usize>) -> Option<Self> {
        let residuals = residuals(row, starts)?;
        let newest = residuals.last()?;
        let spread = spread(&residuals);
        let (slope, error) = slope(newest);
        Some(Self {
            spread,
            autocorrelation: autocorrelation(&residuals, REACH_BEFORE * spread),
            slope: if is_clear_slope(slope, error, newest) {
                slope
            } else {
                0.0
            },
            outliers: outliers(&residuals, OUTLIER * spread),
            values: residuals.iter().map(Vec::len).sum(),
            span: newest.len(),
        })
    }

    /// Whether new values exceed this noise: their mean is at least `errors` standard errors from the old level, or many of
    /// them lie apart from it.
    pub(super) fn is_exceeded(&self, old: OldLevel<'_>, after: &[f64], errors: f64) -> bool {
        self.is_mean_beyond(old, after, errors) || self.are_many_apart(old, after)
    }

    /// Whether no new value lies among the old ones, with so many of both that this is no chance. The spread does not count,
    /// because it is overestimated for skewed values; a drift sets values apart, too.
    fn are_many_apart(&self, old: OldLevel<'_>, after: &[f64]) -> bool {
        self.slope == 0.0 && self.error(old.values.len(), after.len()) <= MANY && are_apart(old.values, after)
    }

    /// Whether the mean of new values is at least `errors` standard errors from the old level, and from where a drift would
    /// have led. The standard error depends on the number of values on either side and on their autocorrelation.
    fn is_mean_beyond(&self, old: OldLevel<'_>, after: &[f64], errors: f64) -> bool {
        let spread = self.spread.max(0.8 * old.recent_spread).max(LEAST_SPREAD);
        let reach = REACH_AFTER * spread;
        let middle_before = old.values.len() as f64 / 2.0;
        let mean = |slope: f64| {
            let distance = |(place, value): (usize, &f64)| {
                // A drift is continued no further than it was observed.
                let ahead = (middle_before + place as f64).min(self.span as f64);
                (value - old.median - slope * ahead).clamp(-reach, reach)
            };
            after.iter().enumerate().map(distance).sum::<f64>() / after.len() as f64
        };
        let flat = mean(0.0);
        let drifted = if self.slope == 0.0 { flat } else { mean(self.slope) };
        let least = if flat * drifted > 0.0 {
            flat.abs().min(drifted.abs())
        } else {
            0.0
        };
        least >= errors * (1.0 + 1.0 / self.values as f64) * spread * self.error(old.values.len(), after.len())
    }

    /// The standard error of the distance between a mean of `after` values and a median of `before`, in standard deviations.
    pub(super) fn error(&self, before: usize, after: usize) -> f64 {
        let of = |count: usize| variance_of_mean(count, self.autocorrelation) / count.max(1) as f64;
        (of(after) + MEDIAN * of(before)).sqrt()
    }
}

/// Whether every value of one row is above every value of the other.
fn are_apart(one: &[f64], other: &[f64]) -> bool {
    let lowest = |row: &[f64]| row.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = |row: &[f64]| row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    highest(one) < lowest(other) || highest(other) < lowest(one)
}

/// Distances of up to [`MEMORY`] values from the medians of their levels, by level. `None` without values.
fn residuals(row: &[f64], starts: impl Iterator<Item = usize>) -> Option<Vec<Vec<f64>>> {
    let from = row.len().saturating_sub(MEMORY);
    let mut edges = vec![from];
    edges.extend(starts.filter(|start| (from + 1..row.len()).contains(start)));
    edges.push(row.len());
    let levels = edges.windows(2).map(|ends| &row[ends[0]..ends[1]]);
    let of = |level: &[f64]| {
        let middle = median_of(level);
        level.iter().map(|value| value - middle).collect()
    };
    (from < row.len()).then(|| levels.map(of).collect())
}

/// How much larger the variance of a mean of many values is than that of independent ones.
fn inflation(autocorrelation: f64) -> f64 {
    (1.0 + autocorrelation) / (1.0 - autocorrelation)
}

/// The same for a mean of `count` values of a first-order autoregressive process:
/// 1 + 2 Σ (1 − j/n) rʲ = (1 + r)/(1 − r) − 2r(1 − rⁿ)/(n(1 − r)²).
fn variance_of_mean(count: usize, r: f64) -> f64 {
    let n = count.max(1) as f64;
    (inflation(r) - 2.0 * r * (1.0 - r.powf(n)) / (n * (1.0 - r).powi(2))).max(1.0)
}

/// Whether a slope is many of its standard errors, given the values of its level after subtracting the slope.
fn is_clear_slope(slope: f64, error: f64, level: &[f64]) -> bool {
    if slope == 0.0 {
        return false;
    }
    let middle = level.len().saturating_sub(1) as f64 / 2.0;
    let flat = level.iter().enumerate();
    let left = [flat
        .map(|(place, value)| value - slope * (place as f64 - middle))
        .collect()];
    let spread = spread(&left);
    let autocorrelation = autocorrelation(&left, REACH_BEFORE * spread);
    slope.abs() >= SURE * error * spread * inflation(autocorrelation).sqrt()
}

/// The larger of two robust estimates of the standard deviation: either can miss some kinds of noise.
fn spread(residuals: &[Vec<f64>]) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().flatten().map(|value| value.abs()).collect();
    let last = sizes.len() - 1;
    let mut at = |tenths: usize| {
        let place = (sizes.len() * tenths / 10).min(last);
        *sizes.select_nth_unstable_by(place, f64::total_cmp).1
    };
    // Of normal noise, half lie within 0.6745 standard deviations and four in five within 1.2816.
    (at(5) / 0.6745).max(at(8) / 1.2816)
}

fn autocorrelation(residuals: &[Vec<f64>], reach: f64) -> f64 {
    let (mut products, mut squares, mut pairs, mut values) = (0.0, 0.0, 0.0, 0.0);
    for level in residuals {
        let bounded: Vec<f64> = level.iter().map(|value| value.clamp(-reach, reach)).collect();
        products += bounded.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        squares += bounded.iter().map(|value| value * value).sum::<f64>();
        pairs += level.len().saturating_sub(1) as f64;
        values += level.len() as f64;
    }
    if squares <= 0.0 || pairs < 1.0 {
        return ASSUMED.1;
    }
    let estimate = products / squares * values / pairs;
    // 1 is added because an estimate from n values is low by about 1/n.
    ((pairs * estimate + ASSUMED.0 * ASSUMED.1 + 1.0) / (pairs + ASSUMED.0)).clamp(0.0, 0.95)
}

/// Slope per value: between the medians of the first and the last third, and its standard error in standard deviations.
fn slope(level: &[f64]) -> (f64, f64) {
    let third = level.len() / 3;
    if third < THIRD {
        return (0.0, f64::INFINITY);
    }
    let apart = (level.len() - third) as f64;
    let rise = median_of(&level[level.len() - third..]) - median_of(&level[..third]);
    (rise / apart, MEDIAN * (2.0 / third as f64).sqrt() / apart)
}

fn outliers(residuals: &[Vec<f64>], limit: f64) -> f64 {
    let all = residuals.iter().flatten();
    let beyond = all.clone().filter(|value| value.abs() > limit).count();
    beyond as f64 / all.count().max(1) as f64
}
