//! Every series followed through its runs, `wirebench.trend/v1`: where it stepped, by how much, and whether that was meant.
//!
//! Percentages are of the metric's own value: throughput that falls is negative. Null means that it cannot be said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::metric::{Better, Metric};

/// The schema's name, the value of [`Trend::schema`].
pub const SCHEMA: &str = "wirebench.trend/v1";

/// What a history says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// Always `wirebench.trend/v1`.
    pub schema: String,
    /// Runs in the history, imported ones left out.
    pub runs: usize,
    /// How steps were looked for.
    pub method: TrendMethod,
    /// Files that were left out, and why.
    pub skipped: Vec<String>,
    /// Worsenings that nobody accepted.
    pub alerts: usize,
    /// Those among them that were first reported at one of the newest pushes: the ones that `--fail-on-alert` is about.
    pub recent_alerts: usize,
    /// Every series × metric, by source, series and metric.
    pub traces: Vec<Trace>,
}

/// How steps were looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrendMethod {
    /// Values looked at on either side of a step, at most.
    pub window: usize,
    /// Values after a step before it is reported.
    pub least_after: usize,
    /// The probability of such ranks without a step, one-sided.
    pub p: f64,
    /// The smallest step reported, percent.
    pub smallest_step_percent: f64,
    /// How many of the newest pushes count as recent.
    pub newest: usize,
}

/// One metric of one series in commit order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Where it is from: `runs`, or `imported/NAME` with the suite.
    pub source: String,
    /// `scenario@server@driver`, or the imported benchmark's name.
    pub series: String,
    /// The metric; null for imported values, which are what their unit says.
    pub metric: Option<Metric>,
    /// The unit of its values; empty when the imported file gives none.
    pub unit: String,
    /// Which way is better; null when nothing says so: its steps are shown and are no alerts.
    pub better: Option<Better>,
    /// What was judged.
    pub basis: Basis,
    /// Values judged.
    pub points: usize,
    /// Runs that have this series but no value that could be judged: not measured, zero or absurd.
    pub left_out: usize,
    /// Stretches in which values may be set against each other, in order.
    pub segments: Vec<Segment>,
}

/// What a trace is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Ratios to a reference measured in the same run: a slower machine cancels out.
    Ratio,
    /// Raw values.
    Value,
}

/// A stretch of a trace with one question, and one reference or one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// What changed at its start, so that nothing earlier is set against it; null for the first.
    pub broken_by: Option<String>,
    /// Its first push.
    pub first: Push,
    /// Its last push.
    pub last: Push,
    /// Values in it.
    pub points: usize,
    /// Median of the newest values since its last change point, in the trace's unit, or a ratio.
    pub level: f64,
    /// The smallest step that would be seen within five pushes in 95 of 100 cases, percent; null with fewer than 15 values.
    pub resolvable_percent: Option<f64>,
    /// Where it stepped, in order.
    pub change_points: Vec<ChangePoint>,
}

/// A run as a place in a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// The run's id; null for imported ones.
    pub run: Option<String>,
    /// The commit measured.
    pub commit: String,
    /// When the commit was made, else when it was measured, RFC 3339.
    pub at: Option<String>,
}

/// A step to a new level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePoint {
    /// The last push before it.
    pub last_before: Push,
    /// The first push after it: the change is in one of the commits after `last_before` up to this one.
    pub first_after: Push,
    /// The push at which it was first reported.
    pub reported: Push,
    /// Its size, percent.
    pub change_percent: f64,
    /// Lower end of the size's 95 % interval.
    pub low_percent: f64,
    /// Upper end of the size's 95 % interval.
    pub high_percent: f64,
    /// Whether it got better or worse.
    pub direction: Direction,
    /// Why it is meant, when an acceptance covers it.
    pub accepted: Option<String>,
    /// A worsening that nobody accepted.
    pub alert: bool,
    /// Whether it was first reported at one of the newest pushes.
    pub recent: bool,
}

/// What a step means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards what is better.
    Better,
    /// Away from it.
    Worse,
    /// Nothing says which way is better.
    Unknown,
}
