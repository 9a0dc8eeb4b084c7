//! The levels and the noise of a trace's values, for charts.

use std::collections::BTreeMap;

use crate::follow::TraceValues;
use wirebench_record::site::Level;
use wirebench_stats::quantile::median;

const WEEK: i64 = 7 * 86_400;
/// The first Monday after 1 January 1970, s since then.
const MONDAY: i64 = 4 * 86_400;
/// Differences of successive values that a week needs.
const FEWEST: usize = 3;
/// The standard deviation of normal values, as a multiple of the median absolute difference of two of them.
const OF_DIFFERENCES: f64 = 1.048_4;

/// The start of a week, s since 1970.
#[must_use]
pub const fn monday(week: i64) -> i64 {
    MONDAY + week * WEEK
}

impl TraceValues {
    /// The judged values: ratios if there are any, otherwise the values themselves.
    #[must_use]
    pub fn judged(&self) -> &[f64] {
        if self.ratios.is_empty() {
            &self.values
        } else {
            &self.ratios
        }
    }

    /// The medians of the judged values between breaks and steps. Only segments with the basis of the newest one have levels,
    /// because levels of values cannot be drawn among ratios.
    #[must_use]
    pub fn levels(&self) -> Vec<Level> {
        let mut found = Vec::new();
        let newest = self.segments.last().map(|segment| segment.basis);
        for segment in self.segments.iter().filter(|segment| Some(segment.basis) == newest) {
            let mut from = segment.first;
            let ends = segment.steps.iter().map(|step| (step.last_before, step.first_after));
            for (to, next) in ends.chain([(segment.last, segment.last)]) {
                let within = self.judged().get(from..=to).unwrap_or_default().iter().copied();
                let within: Vec<f64> = within.filter(|value| value.is_finite()).collect();
                if let Some(level) = median(&within) {
                    found.push(Level { from, to, level });
                }
                from = next;
            }
        }
        found
    }

    /// The noise of each week, percent, by the number of the week (see [`monday`]): from the differences of successive values
    /// that may be compared and are not a step. `at` gives the time of a place, s since 1970.
    #[must_use]
    pub fn weekly_noise(&self, at: impl Fn(usize) -> Option<i64>) -> BTreeMap<i64, f64> {
        let mut found: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
        for segment in &self.segments {
            let mut before: Option<f64> = None;
            let places = self.judged().iter().copied().enumerate().take(segment.last + 1);
            for (place, value) in places.skip(segment.first) {
                if !value.is_finite() || value <= 0.0 {
                    continue;
                }
                let stepped = segment.steps.iter().any(|step| step.first_after == place);
                if let (Some(earlier), Some(at), false) = (before, at(place), stepped) {
                    let difference = 200.0 * (value - earlier).abs() / (value + earlier);
                    let week = (at - MONDAY).div_euclid(WEEK);
                    found.entry(week).or_default().push(difference);
                }
                before = Some(value);
            }
        }
        let noise = |(week, differences): (i64, Vec<f64>)| {
            let middle = median(&differences).filter(|_| differences.len() >= FEWEST)?;
            Some((week, OF_DIFFERENCES * middle))
        };
        found.into_iter().filter_map(noise).collect()
    }
}
