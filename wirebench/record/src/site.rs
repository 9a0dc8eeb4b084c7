//! The files that the dashboard's scripts load: `wirebench.site/v1`, the manifest; `wirebench.pushes/v1`, a stretch of
//! a timeline; `wirebench.column/v1`, one metric of one series; `wirebench.points/v1`, all its values.
//!
//! A place is the number of a push in its timeline, from 0, in commit order. Percentages are of the metric's own value:
//! throughput that falls is negative. Null means no value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{Better, Metric};
use crate::trend::{Basis, Direction};

/// The manifest's schema, the value of [`Manifest::schema`].
pub const MANIFEST: &str = "wirebench.site/v1";
/// The value of [`Pushes::schema`].
pub const PUSHES: &str = "wirebench.pushes/v1";
/// The value of [`Column::schema`].
pub const COLUMN: &str = "wirebench.column/v1";
/// The value of [`PointsFile::schema`].
pub const POINTS: &str = "wirebench.points/v1";

/// Pushes in one file of a timeline.
pub const PUSHES_A_FILE: usize = 1_000;
/// A column of more points than this is drawn from as many buckets, and its points are a file of their own.
pub const MOST_POINTS: usize = 400;

/// `data/manifest.json`: the timelines and series that can be drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Always `wirebench.site/v1`.
    pub schema: String,
    /// When the site was built, RFC 3339.
    pub made_at: String,
    /// The version of wirebench that built it.
    pub wirebench: String,
    /// `owner/name` on GitHub, from which links to commits are made.
    pub repository: Option<String>,
    /// Whether the history is made up, to demonstrate the site.
    pub synthetic: bool,
    /// Every timeline.
    pub timelines: Vec<Timeline>,
    /// Every column.
    pub columns: Vec<ColumnHead>,
}

/// The pushes of one source, in commit order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// A word for file names: `runs`, or `imported-…`. Its files are `data/pushes/<id>.<number>.json`, 1,000 pushes each.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// `owner/name` on GitHub of its commits, where an imported history names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// How many pushes it has.
    pub pushes: usize,
    /// The releases among them, in order.
    pub releases: Vec<Release>,
}

/// A push that was released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Release {
    /// Its place.
    pub at: usize,
    /// `v1.4.0`.
    pub name: String,
}

/// A column in the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnHead {
    /// Its file is `data/columns/<column>.json`: the page's name, a full stop and the metric's.
    pub column: String,
    /// The page of its series is `series/<page>.html`.
    pub page: String,
    /// `scenario@server@driver`, or the imported benchmark's name.
    pub series: String,
    /// The server's name, to which a colour is bound; the imported benchmark's name.
    pub server: String,
    /// What the metric is called: `server CPU per request`. Of imported series, their unit.
    pub label: String,
    /// The id of its timeline.
    pub timeline: String,
    /// How many values it has.
    pub points: usize,
}

/// `data/pushes/<timeline>.<number>.json`: a stretch of a timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pushes {
    /// Always `wirebench.pushes/v1`.
    pub schema: String,
    /// The place of its first push.
    pub from: usize,
    /// Of each push the first twelve digits of its commit.
    pub commits: Vec<String>,
    /// Of each push when its commit was made, s since 1970.
    pub at: Vec<Option<i64>>,
    /// Of each push the first line of its message and its author; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Option<String>>,
    /// Of each push the id of its run when that has a page, `run/<id>.html`.
    pub runs: Vec<Option<String>>,
    /// Places of runs that are in no history: local ones, and those of pull requests. Drawn hollow.
    pub provisional: Vec<usize>,
}

/// `data/columns/<column>.json`: one metric of one series through its timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// Always `wirebench.column/v1`.
    pub schema: String,
    /// `scenario@server@driver`, or the imported benchmark's name.
    pub series: String,
    /// The server's name, to which a colour is bound; the imported benchmark's name.
    pub server: String,
    /// The metric; null for imported values.
    pub metric: Option<Metric>,
    /// What it is called. Of imported series, their unit.
    pub label: String,
    /// The unit of its values: `ns`, `bytes`, `req/s`, …; of imported series as it was written.
    pub unit: String,
    /// Which way is better; null if unknown.
    pub better: Option<Better>,
    /// Whether ratios to a reference or values were judged; the same are drawn first.
    pub basis: Basis,
    /// What ratios are to: a name or a commit; null when the basis is values.
    pub reference: Option<String>,
    /// The id of its timeline.
    pub timeline: String,
    /// How many places the timeline has.
    pub places: usize,
    /// Where the newest values may no longer be set against earlier ones. No line crosses one.
    pub breaks: Vec<Break>,
    /// Levels between breaks and steps, in order, on the basis.
    pub levels: Vec<Level>,
    /// Where it stepped, in order.
    pub steps: Vec<Step>,
    /// Runs that have the series but no value of it.
    pub failures: Vec<Failure>,
    /// Every value, when they are at most 400.
    pub points: Option<Points>,
    /// Otherwise a summary of them: `data/columns/<column>.points.json` has every one.
    pub buckets: Option<Buckets>,
}

/// What changed at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Break {
    /// The first place after it.
    pub at: usize,
    /// What changed: machine, question, reference or unit.
    pub why: String,
}

/// A level that held for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// Its first place.
    pub from: usize,
    /// Its last place.
    pub to: usize,
    /// Median of its values, on the basis.
    pub level: f64,
}

/// A change point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The last place that surely lies before it.
    pub last_before: usize,
    /// The first place that surely lies after it.
    pub first_after: usize,
    /// The place at which it was first reported.
    pub reported: usize,
    /// Its size, percent.
    pub change_percent: f64,
    /// Lower end of the size's 95 % interval.
    pub low_percent: f64,
    /// Upper end of the interval.
    pub high_percent: f64,
    /// Whether it got better or worse.
    pub direction: Direction,
    /// Why it is meant, when an acceptance covers it.
    pub accepted: Option<String>,
    /// A worsening that nobody accepted.
    pub alert: bool,
}

/// A run without a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Its place.
    pub at: usize,
    /// Why, in one sentence.
    pub why: String,
}

/// Values one by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Points {
    /// The place of the first entry of every list below; they have one entry for each place from here on.
    pub from: usize,
    /// Values in the column's unit.
    pub value: Row,
    /// Ratios to the reference, when the basis is ratios.
    pub ratio: Option<Row>,
    /// Half of the 95 % interval of the judged value, in thousandths; empty if no value has one.
    #[serde(default)]
    pub half_permille: Vec<Option<u32>>,
}

/// `data/columns/<column>.points.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointsFile {
    /// Always `wirebench.points/v1`.
    pub schema: String,
    /// Every value.
    pub points: Points,
}

/// The smallest, middle and largest of a stretch of values each, so that a peak never disappears. No bucket crosses a break.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Buckets {
    /// The first place of each bucket, in order; it reaches up to the next one's.
    pub from: Vec<usize>,
    /// Of values.
    pub value: Envelope,
    /// Of ratios, when the basis is ratios.
    pub ratio: Option<Envelope>,
}

/// Three rows with an entry for each bucket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// Smallest.
    pub min: Row,
    /// Median.
    pub middle: Row,
    /// Largest.
    pub max: Row,
}

/// Numbers to four digits or more, each as its distance from the one before: the k-th is `scale` × the sum of the first k
/// `deltas`. Null is no number and leaves the sum as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// What one step of the integers is worth.
    pub scale: f64,
    /// Distances.
    pub deltas: Vec<Option<i64>>,
}
