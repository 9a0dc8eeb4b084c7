//! Every series followed through its runs, `wirebench.trend/v1`: where it stepped, by how much, and whether that was meant.
//!
//! Percentages are of the metric's own value: throughput that falls is negative. Null means unknown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{Better, Metric};

/// The schema's name, the value of [`Trend::schema`].
pub const SCHEMA: &str = "wirebench.trend/v1";

/// The trend of a history.
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
    /// Pushes at which something got worse that nobody accepted and that the code may be blamed for: one alert for all
    /// series of a push.
    pub alerts: usize,
    /// Open regressions: groups with a step for the worse that is neither taken back nor accepted. However old they are.
    #[serde(default)]
    pub open: usize,
    /// The open regressions that were first reported at one of the newest pushes.
    pub recent_alerts: usize,
    /// Steps by the push at which they happened, by source and in commit order.
    #[serde(default)]
    pub groups: Vec<Group>,
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
    /// How many of the newest pushes count as recent. All runs of a commit are one push.
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
    /// The metric; null for imported values, which only have a unit.
    pub metric: Option<Metric>,
    /// The unit of its values; empty when the imported file gives none.
    pub unit: String,
    /// Which way is better; null if unknown: steps are then shown, without alerts.
    pub better: Option<Better>,
    /// What was judged in its newest segment.
    pub basis: Basis,
    /// Values judged.
    pub points: usize,
    /// Runs that have this series but no value that could be judged: failed, no number, or wild and alone.
    pub left_out: usize,
    /// Why its values are not judged; null if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// Whether the newest 20 pushes have neither a value nor a failure of it; `newest` says when it was last measured.
    #[serde(default)]
    pub stopped: bool,
    /// Its newest value; null when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<Newest>,
    /// Stretches in which values may be set against each other, in order.
    pub segments: Vec<Segment>,
}

impl Trace {
    /// Every step, in order.
    pub fn change_points(&self) -> impl Iterator<Item = &ChangePoint> {
        self.segments.iter().flat_map(|segment| &segment.change_points)
    }
}

/// The newest value of a trace, whether it is judged or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Newest {
    /// Where it was measured.
    pub at: Push,
    /// The value, in the trace's unit; null when it is no number.
    pub value: Option<f64>,
    /// Why it is not judged; null when it is.
    pub left_out: Option<String>,
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
    /// The change at its start, after which earlier values cannot be compared; null for the first.
    pub broken_by: Option<String>,
    /// What was judged.
    #[serde(default = "raw")]
    pub basis: Basis,
    /// The noise that a step must stand out of; null for counts and for too few values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<SeenNoise>,
    /// Its first push.
    pub first: Push,
    /// Its last push.
    pub last: Push,
    /// The places of its first and of its last push among the pushes of its source; not stored.
    #[serde(skip)]
    pub places: (usize, usize),
    /// Values in it.
    pub points: usize,
    /// Median of the newest values since its last change point, in the trace's unit, or a ratio.
    pub level: f64,
    /// The smallest step that would be seen within five pushes in 95 of 100 cases, percent; null with fewer than 15 values.
    pub resolvable_percent: Option<f64>,
    /// Where it stepped, in order.
    pub change_points: Vec<ChangePoint>,
}

const fn raw() -> Basis {
    Basis::Value
}

/// How the newest values of a segment vary without a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeenNoise {
    /// Standard deviation around the level, percent, from measures that outliers do not move.
    pub spread_percent: f64,
    /// How strongly a value follows the one before, 0 … 0.95.
    pub autocorrelation: f64,
    /// Its drift in 100 values, percent; 0 without a clear drift.
    pub drift_percent: f64,
    /// Values far from the level, percent of all.
    pub outliers_percent: f64,
    /// How often the newest 100 values returned to an earlier level: such steps do not come from the code.
    pub returns: usize,
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
    /// First line of the commit's message, where an imported history gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The name of the commit's author, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
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
    /// Where these lie among the pushes of its source; not stored.
    #[serde(skip)]
    pub places: StepPlaces,
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
    /// Why the code is not to blame; null when it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_code: Option<String>,
    /// A worsening that nobody accepted and that the code may be blamed for.
    pub alert: bool,
    /// Whether it is an alert that was not taken back: the level did not return, and no later steps took back half of it.
    #[serde(default)]
    pub open: bool,
    /// Whether it was first reported at one of the newest pushes.
    pub recent: bool,
}

/// The places of a step's pushes among the pushes of its source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StepPlaces {
    /// The place of the last push before it.
    pub last_before: usize,
    /// The place of the first push after it.
    pub first_after: usize,
    /// The place of the push at which it was first reported.
    pub reported: usize,
}

/// What a step means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards what is better.
    Better,
    /// Away from it.
    Worse,
    /// It is unknown which way is better.
    Unknown,
}

/// All steps of a source that may have happened at one push.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The source of its traces.
    pub source: String,
    /// The last push before all of them.
    pub last_before: Push,
    /// The first push after: the change is in one of the commits after `last_before` up to this one.
    pub first_after: Push,
    /// Traces that stepped.
    pub stepped: usize,
    /// Traces of the source that were measured on both sides of it.
    pub measured: usize,
    /// Those that got worse.
    pub worse: usize,
    /// Whether one of its steps is an alert.
    pub alert: bool,
    /// Whether it is an open regression: one of its steps is open.
    #[serde(default)]
    pub open: bool,
    /// Whether one of its open steps was first reported at one of the newest pushes.
    pub recent: bool,
    /// Its steps, open ones first, then other alerts, then the largest first.
    pub steps: Vec<GroupedStep>,
}

/// A step of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupedStep {
    /// The trace's series.
    pub series: String,
    /// The trace's metric; null for imported values.
    pub metric: Option<Metric>,
    /// Its size, percent.
    pub change_percent: f64,
    /// Whether it got better or worse.
    pub direction: Direction,
    /// Whether it is an alert.
    pub alert: bool,
    /// Whether it is open, as in its trace.
    pub open: bool,
}
