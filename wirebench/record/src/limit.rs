//! Limits: absolute bounds that a scenario declares, such as "p99 below 50 ms", and the verdict of a run on each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{Better, Metric};
use crate::names;

/// A bound on a metric of the candidate: the most where less is better, the least where more is better.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The metric.
    pub metric: Metric,
    /// The bound, in the metric's unit.
    pub bound: f64,
}

/// Whether a limit holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitVerdict {
    /// The whole interval is within the bound.
    Holds,
    /// The whole interval is beyond the bound: the gate fails.
    Broken,
    /// The interval contains the bound, or there are too few rounds for an interval.
    CannotTell,
}

/// A limit of one series, and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedLimit {
    /// The series.
    #[serde(deserialize_with = "names::series")]
    pub series: String,
    /// The limit.
    pub limit: Limit,
    /// Whether it holds.
    pub verdict: LimitVerdict,
    /// The median over the candidate's good rounds, or the counted value, in the metric's unit; null without a value.
    pub value: Option<f64>,
    /// The lower end of the median's interval (95 %, by order, no distribution assumed); null with fewer than six rounds.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Good rounds of the candidate.
    pub rounds: u32,
}

impl Limit {
    /// The verdict for the interval of the measured values; `CannotTell` without an interval.
    pub fn verdict(self, interval: Option<(f64, f64)>) -> LimitVerdict {
        let Some((low, high)) = interval else {
            return LimitVerdict::CannotTell;
        };
        let (best, worst) = match self.metric.better() {
            Better::Lower => (low - self.bound, high - self.bound),
            Better::Higher => (self.bound - high, self.bound - low),
        };
        if worst <= 0.0 {
            LimitVerdict::Holds
        } else if best > 0.0 {
            LimitVerdict::Broken
        } else {
            LimitVerdict::CannotTell
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_holds_breaks_or_is_left_open_by_the_whole_interval() {
        let most = Limit {
            metric: Metric::LatencyP99,
            bound: 50.0,
        };
        let least = Limit {
            metric: Metric::Throughput,
            bound: 50.0,
        };
        for (interval, of_most, of_least) in [
            ((10.0, 50.0), LimitVerdict::Holds, LimitVerdict::CannotTell),
            ((10.0, 49.0), LimitVerdict::Holds, LimitVerdict::Broken),
            ((49.0, 51.0), LimitVerdict::CannotTell, LimitVerdict::CannotTell),
            ((50.0, 51.0), LimitVerdict::CannotTell, LimitVerdict::Holds),
            ((51.0, 52.0), LimitVerdict::Broken, LimitVerdict::Holds),
        ] {
            assert_eq!(most.verdict(Some(interval)), of_most, "{interval:?}");
            assert_eq!(least.verdict(Some(interval)), of_least, "{interval:?}");
        }
    }
}
