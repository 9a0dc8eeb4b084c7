//! A history kept by another program, in columns, `wirebench.imported/v1`: every value as written, its faults, and
//! which direction is better. Of a commit it holds the author's name and the first line of the message, as text; no
//! address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::metric::Better;

/// The schema's name, the value of [`Imported::schema`].
pub const SCHEMA: &str = "wirebench.imported/v1";

/// An imported history.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// Always `wirebench.imported/v1`.
    pub schema: String,
    /// The program whose format it was: `github-action-benchmark`.
    pub format: String,
    /// `owner/name` of the repository on GitHub that the file names; null if it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// SHA-256 of the file that was imported, hex.
    pub sha256: String,
    /// Its suites, in the file's order.
    pub suites: Vec<Suite>,
}

/// One suite: the runs of one set of benchmarks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Its runs, in the file's order.
    pub runs: Vec<ImportedRun>,
    /// Its benchmarks, in the order in which they first occur.
    pub series: Vec<ImportedSeries>,
    /// What is wrong with it.
    pub flags: Vec<Flag>,
}

/// One run of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedRun {
    /// The commit measured.
    pub commit: String,
    /// When the commit was made, as written; RFC 3339 where the file is sound.
    pub committed_at: Option<String>,
    /// When it was measured, ms since 1970.
    pub measured_at_ms: Option<i64>,
    /// The tool that made the values, as written.
    pub tool: Option<String>,
    /// First line of the commit's message, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The name of the commit's author, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

/// One benchmark of a suite.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedSeries {
    /// Its name.
    pub name: String,
    /// 1, or which of several entries of one run that have the same name; only the first is judged.
    pub occurrence: u32,
    /// Which way is better; null if neither the unit nor the tool tells.
    pub better: Option<Better>,
    /// What that was concluded from.
    pub better_because: String,
    /// Its units as written, each with the place of the first run that has it.
    pub units: Vec<UnitFrom>,
    /// Its values as written, a place for each run; null where the run does not have it.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub values: Vec<Option<Box<RawValue>>>,
    /// Places of values that are kept but not judged, because they are impossible.
    pub unsound: Vec<usize>,
}

/// A unit and where it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitFrom {
    /// Place of the first run that has it.
    pub from: usize,
    /// As written.
    pub unit: String,
}

/// One kind of fault in a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flag {
    /// What is wrong.
    pub fault: Fault,
    /// How often.
    pub count: usize,
    /// The first place, for people.
    pub example: String,
}

/// What can be wrong with an imported history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A number written as text; judged as the number.
    NumberAsText,
    /// A value that is no number: `"null"`, `"NaN"`, null. Kept, not judged.
    NoNumber,
    /// Below zero. Kept, not judged.
    Negative,
    /// Zero. Kept, and judged when three in a row are.
    Zero,
    /// More than a thousand times above or below the series' median. Kept, and judged when three in a row are.
    Absurd,
    /// Several entries of one run with one name. All kept, the first judged.
    DuplicateName,
    /// A commit measured in several runs. All kept and judged.
    RepeatedCommit,
    /// A higher quantile below a lower one, as p99 below p50, in one run. Kept, not judged.
    ImpossibleQuantile,
    /// A series without a unit.
    EmptyUnit,
    /// A unit with further text; the text before the first tab or line break is used as the unit.
    CrowdedUnit,
    /// A series whose unit changes: its trend breaks there.
    UnitChange,
    /// A series whose unit changes to another of the same thing, as from ms to µs: values are brought to the newest.
    UnitConverted,
    /// Unit and tool contradict each other about which way is better; the unit wins.
    Contradiction,
    /// A run that was measured before the previous run of the file.
    DateOutOfOrder,
    /// A run without a commit's time; it is ordered by when it was measured.
    NoCommitTime,
}
