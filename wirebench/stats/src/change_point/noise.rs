//! The noise of the values before a place: standard deviation, autocorrelation and drift. A step must stand out of it.

use crate::change_point::past::middle;

/// The most values used.
const MEMORY: usize = 100;
/// The smallest standard deviation for comparisons, for rows without any noise.
const LEAST_SPREAD: f64 = 0.003;
/// For the autocorrelation, residuals are limited to this many standard deviations.
const REACH_BEFORE: f64 = 2.5;
/// For the mean, new values are limited to this many standard deviations.
const REACH_AFTER: f64 = 3.2;
/// A residual beyond so many standard deviations is an outlier.
const OUTLIER: f64 = 4.0;
/// Weight and value of the prior for the autocorrelation.
const ASSUMED: (f64, f64) = (10.0, 0.1);
/// A slope is used from this many of its standard errors on.
const SURE: f64 = 2.2;
/// A slope needs this many values in each third of a level.
const THIRD: usize = 6;
/// The variance of a median over that of a mean, between that of normal noise (1.57) and that of heavier tails (below 1).
const MEDIAN: f64 = 1.25;

/// The noise of a row before a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Standard deviation of the logarithm around its levels, from measures that outliers do not move.
    pub spread: f64,
    /// Lag-1 autocorrelation around the levels, 0 … 0.95. Estimates of it are low in short rows; this one is corrected.
    pub autocorrelation: f64,
    /// Change of the logarithm per value within the current level; 0 when it is not clear.
    pub slope: f64,
    /// Share of values more than four standard deviations from their level.
    pub outliers: f64,
    /// Values it was read from.
    pub values: usize,
    /// Values of the current level that the slope was read from.
    span: usize,
}

/// What the new values are set against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Against {
    /// The level before.
    pub(super) level: f64,
    /// The standard deviation that the newest values before suggest.
    pub(super) recent: f64,
    /// Values that the level is the median of.
    pub(super) count: usize,
}

impl Noise {
    /// The noise of the values before the end of `row`, whose levels start at `starts`, in order. `None` without
    /// values.
    pub(super) fn of(row: &[f64], starts: impl Iterator<Item = usize>) -> Option<Self> {
        let residuals = residuals(row, starts)?;
        let mut noise = Self::level(&residuals)?;
        noise.find_slope(&residuals);
        Some(noise)
    }

    /// The same, but also `None` if `after` does not stand out: most values do not, and the slope need not be computed.
    pub(super) fn if_clear(
        row: &[f64],
        starts: impl Iterator<Item = usize>,
        against: Against,
        after: &[f64],
        errors: f64,
    ) -> Option<Self> {
        let residuals = residuals(row, starts)?;
        let mut noise = Self::level(&residuals).filter(|noise| noise.clear(against, after, errors))?;
        noise.find_slope(&residuals);
        noise.clear(against, after, errors).then_some(noise)
    }

    /// Without a slope.
    fn level(residuals: &[Vec<f64>]) -> Option<Self> {
        let spread = spread(residuals);
        Some(Self {
            spread,
            autocorrelation: autocorrelation(residuals, REACH_BEFORE * spread),
            slope: 0.0,
            outliers: outliers(residuals, OUTLIER * spread),
            values: residuals.iter().map(Vec::len).sum(),
            span: residuals.last()?.len(),
        })
    }

    fn find_slope(&mut self, residuals: &[Vec<f64>]) {
        let newest = residuals.last().map_or(&[][..], Vec::as_slice);
        let (slope, error) = slope(newest);
        if stands_out(slope, error, newest) {
            self.slope = slope;
        }
    }

    /// Whether [`Self::clear`] may be true, whatever the noise was further back.
    #[expect(clippy::cast_precision_loss, reason = "counts of at most 100")]
    pub(super) fn may_be_clear(against: Against, after: &[f64], errors: f64) -> bool {
        let error = (1.0 / after.len() as f64 + MEDIAN / against.count.max(1) as f64).sqrt();
        let spread = (0.8 * against.recent).max(LEAST_SPREAD);
        let (mut sum, mut sizes, mut farthest) = (0.0, 0.0, 0.0f64);
        for value in after {
            let distance = value - against.level;
            sum += distance;
            sizes += distance.abs();
            farthest = farthest.max(distance.abs());
        }
        // A value beyond the reach of the least spread may count for more, or for less, than it does in this sum.
        let most = if farthest > REACH_AFTER * spread {
            sizes
        } else {
            f64::abs(sum)
        };
        most / after.len() as f64 >= errors * spread * error
    }

    /// Whether the mean of new values is so many standard errors from the level before, and from where a drift would have
    /// led. The standard error knows how many values there are on either side and how they are correlated.
    #[expect(clippy::cast_precision_loss, reason = "counts of at most 100")]
    pub(super) fn clear(&self, against: Against, after: &[f64], errors: f64) -> bool {
        let spread = self.spread.max(0.8 * against.recent).max(LEAST_SPREAD);
        let reach = REACH_AFTER * spread;
        let middle_before = against.count as f64 / 2.0;
        let mean = |slope: f64| {
            let distance = |(place, value): (usize, &f64)| {
                // No further than it was followed.
                let ahead = (middle_before + place as f64).min(self.span as f64);
                (value - against.level - slope * ahead).clamp(-reach, reach)
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
        least >= errors * (1.0 + 1.0 / self.values as f64) * spread * self.error(against.count, after.len())
    }

    /// The standard error of the distance between a mean of `after` values and a median of `before`, in standard deviations.
    #[expect(clippy::cast_precision_loss, reason = "counts of at most 100")]
    pub(super) fn error(&self, before: usize, after: usize) -> f64 {
        let of = |count: usize| variance_of_mean(count, self.autocorrelation) / count.max(1) as f64;
        (of(after) + MEDIAN * of(before)).sqrt()
    }
}

/// Distances of up to [`MEMORY`] values from the medians of their levels, by level. None without values.
fn residuals(row: &[f64], starts: impl Iterator<Item = usize>) -> Option<Vec<Vec<f64>>> {
    let from = row.len().saturating_sub(MEMORY);
    let mut edges = vec![from];
    edges.extend(starts.filter(|start| (from + 1..row.len()).contains(start)));
    edges.push(row.len());
    let levels = edges.windows(2).map(|ends| &row[ends[0]..ends[1]]);
    let of = |level: &[f64]| {
        let middle = selected_middle(level);
        level.iter().map(|value| value - middle).collect()
    };
    (from < row.len()).then(|| levels.map(of).collect())
}

/// The median of values, which are not empty, without sorting all of them.
fn selected_middle(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if even {
        f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), *upper)
    } else {
        *upper
    }
}

/// How much larger the variance of a mean of many values is than that of independent ones.
fn inflation(autocorrelation: f64) -> f64 {
    (1.0 + autocorrelation) / (1.0 - autocorrelation)
}

/// The same for a mean of `count` values of a first-order autoregressive process:
/// 1 + 2 Σ (1 − j/n) rʲ = (1 + r)/(1 − r) − 2r(1 − rⁿ)/(n(1 − r)²).
#[expect(clippy::cast_precision_loss, reason = "counts of at most 100")]
fn variance_of_mean(count: usize, r: f64) -> f64 {
    let n = count.max(1) as f64;
    (inflation(r) - 2.0 * r * (1.0 - r.powf(n)) / (n * (1.0 - r).powi(2))).max(1.0)
}

/// Whether a slope is many of its standard errors, given what is left of its level once the slope is taken away.
#[expect(clippy::cast_precision_loss, reason = "counts of at most 100")]
fn stands_out(slope: f64, error: f64, level: &[f64]) -> bool {
    if slope == 0.0 {
        return false;
    }
    let middle = level.len().saturating_sub(1) as f64 / 2.0;
    let flat = level.iter().enumerate();
    let left = [flat
        .map(|(place, value)| value - slope * (place as f64 - middle))
        .collect()];
    let spread = spread(&left);
    let tied = autocorrelation(&left, REACH_BEFORE * spread);
    slope.abs() >= SURE * error * spread * inflation(tied).sqrt()
}

/// The wider of two robust measures, because either can be blind to the noise it gets.
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

#[expect(clippy::cast_precision_loss, reason = "counts of at most 100")]
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
    let seen = products / squares * values / pairs;
    // The one more: an estimate from n values is low by about 1/n.
    ((pairs * seen + ASSUMED.0 * ASSUMED.1 + 1.0) / (pairs + ASSUMED.0)).clamp(0.0, 0.95)
}

/// Slope per value: between the medians of the first and the last third, and its standard error in standard deviations.
#[expect(clippy::cast_precision_loss, reason = "counts of at most 100")]
fn slope(level: &[f64]) -> (f64, f64) {
    let third = level.len() / 3;
    if third < THIRD {
        return (0.0, f64::INFINITY);
    }
    let apart = (level.len() - third) as f64;
    let rise = middle(&level[level.len() - third..]) - middle(&level[..third]);
    (rise / apart, MEDIAN * (2.0 / third as f64).sqrt() / apart)
}

#[expect(clippy::cast_precision_loss, reason = "counts of at most 100")]
fn outliers(residuals: &[Vec<f64>], limit: f64) -> f64 {
    let all = residuals.iter().flatten();
    let beyond = all.clone().filter(|value| value.abs() > limit).count();
    beyond as f64 / all.count().max(1) as f64
}
