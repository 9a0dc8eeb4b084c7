//! The two sides of a claim as a run measured them.

use crate::claims::judged::quantity::{failed_check, value};
use crate::claims::publication::Quantity;
use wirebench_judge::summary::candidate_rounds;
use wirebench_judge::summary::head_to_head::Multiple;
use wirebench_record::run::{Run, Series};
use wirebench_stats::quantile::median;

/// A quantity of two series on this machine.
#[derive(Debug, Clone)]
pub struct MeasuredPair {
    /// Medians of the two sides, in the quantity's unit.
    pub values: [f64; 2],
    /// The second side as a multiple of the first; `None` if a side has zeros.
    pub times: Option<Multiple>,
    /// A check that its rounds failed.
    pub doubt: Option<String>,
}

impl MeasuredPair {
    /// Measured values of two series, given by their ids; `None` if the run does not have both.
    pub(super) fn of(quantity: Quantity, ids: &[String; 2], run: &Run) -> Option<Self> {
        let [first, second] = pair(ids, run)?;
        let middle = |series| {
            let values = candidate_rounds(series).filter_map(|round| value(quantity, round));
            median(&values.collect::<Vec<f64>>())
        };
        Some(Self {
            values: [middle(first)?, middle(second)?],
            times: Multiple::over(second, first, |round| value(quantity, round)),
            doubt: [first, second].into_iter().find_map(|series| {
                let check = failed_check(series)?;
                Some(format!("{}: {check}", series.id))
            }),
        })
    }

    /// Whether two ratios are told apart: their intervals do not overlap. Where zeros leave no ratio, the medians decide.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        match (self.times, other.times) {
            (Some(one), Some(other)) => one.high < other.low || other.high < one.low,
            _ => {
                let mut values = self.values.iter().zip(other.values);
                values.any(|(one, other)| (one - other).abs() > f64::EPSILON)
            }
        }
    }
}

/// The two series with these ids; `None` if the run does not have both.
pub(super) fn pair<'r>(ids: &[String; 2], run: &'r Run) -> Option<[&'r Series; 2]> {
    let of = |id: &String| run.series.iter().find(|series| series.id == *id);
    Some([of(&ids[0])?, of(&ids[1])?])
}
