//! The order in which functions are listed, the one to blame first.

use std::cmp::Ordering;

use crate::compare::functions::costs::Costs;

/// A function of the project is listed before other code only if its change is at least this share of the metric's change, or
/// exact.
const LEADS: f64 = 0.05;
/// A function with more than this share of the whole cost, with all that it calls, is around everything else, as `main` and
/// the loop that serves connections are.
const AROUND_ALL: f64 = 0.8;
/// The weight of such a function's change in the order: it is to blame only if no other function of the project is.
const AROUND_ALL_WEIGHT: f64 = 0.2;

/// The order of two functions.
pub(super) struct Ranking {
    /// The sign of the metric's change.
    direction: f64,
    /// The change from which a function of the project is listed before other code.
    leads_from: f64,
    /// The inclusive cost from which a function is around everything else.
    around_all: f64,
}

impl Ranking {
    /// For a metric with these values.
    pub(super) fn new(baseline: f64, candidate: f64) -> Self {
        Self {
            direction: if candidate < baseline { -1.0 } else { 1.0 },
            leads_from: LEADS * (candidate - baseline).abs(),
            around_all: AROUND_ALL * baseline.max(candidate),
        }
    }

    /// Functions that changed in the metric's direction first; of these the project's own; of these the largest change.
    pub(super) fn order(&self, one: &Costs, other: &Costs) -> Ordering {
        let (weight, other_weight) = (self.weight(one), self.weight(other));
        let is_late = |costs: &Costs, weight: f64| {
            let opposite = costs.change() * self.direction < 0.0;
            (
                opposite,
                !(costs.is_exact || (costs.own_code && weight >= self.leads_from)),
            )
        };
        is_late(one, weight)
            .cmp(&is_late(other, other_weight))
            .then_with(|| other_weight.total_cmp(&weight))
    }

    fn weight(&self, costs: &Costs) -> f64 {
        let size = costs.change().abs();
        if costs.own_code && costs.inclusive >= self.around_all {
            size * AROUND_ALL_WEIGHT
        } else {
            size
        }
    }
}
