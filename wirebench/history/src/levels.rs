//! The levels of a trace's values, for charts.

use crate::follow::TraceValues;
use wirebench_record::site::Level;
use wirebench_stats::quantile::median;

impl TraceValues {
    /// The judged values: ratios if there are any, otherwise the values themselves.
    pub fn judged(&self) -> &[f64] {
        if self.ratios.is_empty() {
            &self.values
        } else {
            &self.ratios
        }
    }

    /// The medians of the judged values between breaks and steps. Only segments with the basis of the newest one have levels,
    /// because levels of values cannot be drawn among ratios.
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
}
