//! A history kept by another program, in columns, `wirebench.imported/v1`: every value as written, which
//! of them are not judged, and which direction is better. Of a commit it holds the author's name and the first line of the message, as text; no
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
// Other fields are not refused: older versions wrote `flags`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Its runs, in the file's order.
    pub runs: Vec<ImportedRun>,
    /// Its benchmarks, in the order in which they first occur.
    pub series: Vec<ImportedSeries>,
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
