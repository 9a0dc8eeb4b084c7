//! The runs of one month in columns, `wirebench.history-month/v1`: the values that a trend needs, in a form that is
//! fast to read. Derived from the run files, and can be rebuilt from them.
//!
//! Every column has as many places as there are runs; null means that the run does not have the value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accepted::Accepted;
use crate::metric::Metric;
use crate::names;

/// The schema's name, the value of [`Month::schema`].
pub const SCHEMA: &str = "wirebench.history-month/v1";

/// The schema's name, the value of [`Facts::schema`].
pub const FACTS: &str = "wirebench.history/v1";

/// `history.json`: facts about a whole history. The file is optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Always `wirebench.history/v1`.
    pub schema: String,
    /// How it was made up, in a sentence; null for a history that was measured.
    #[serde(default)]
    pub synthetic: Option<String>,
    /// `owner/name` on GitHub.
    #[serde(default)]
    pub repository: Option<String>,
    /// Commits that were released.
    #[serde(default)]
    pub releases: Vec<Released>,
    /// Messages and authors of commits, for a history without its repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<CommitInfo>,
}

/// Message and author of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommitInfo {
    /// 40 hex digits.
    pub commit: String,
    /// First line of its message.
    pub message: String,
    /// The name of its author.
    pub author: String,
}

/// A commit that was released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Released {
    /// At least 7 hex digits.
    pub commit: String,
    /// `v1.4.0`.
    pub name: String,
}

/// The runs that started in one month, UTC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Month {
    /// Always `wirebench.history-month/v1`.
    pub schema: String,
    /// `yyyy-mm`.
    #[serde(deserialize_with = "names::month")]
    pub month: String,
    /// The runs, in the order of their files' names.
    pub runs: Vec<StoredRun>,
    /// Every series that one of the runs has, by id.
    pub series: Vec<StoredSeries>,
}

/// What is kept of a run as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoredRun {
    /// Name of its file, below `runs/yyyy/mm/`.
    #[serde(deserialize_with = "names::file")]
    pub file: String,
    /// The run's id.
    #[serde(deserialize_with = "names::run")]
    pub id: String,
    /// The candidate's commit, 40 hex digits.
    #[serde(deserialize_with = "names::commit")]
    pub commit: String,
    /// When that commit was made, RFC 3339.
    pub committed_at: Option<String>,
    /// When the run started, RFC 3339.
    #[serde(deserialize_with = "names::time")]
    pub started_at: String,
    /// Length of its file; null in summaries of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The host's fingerprint; of several machines, the first shard's.
    pub host: String,
    /// The host's processor, as the kernel names it.
    pub cpu_model: Option<String>,
    /// Series that another machine measured, where several shared the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<StoredHost>,
    /// The commit, or else the name, of the reference measured together with the candidate.
    pub reference: Option<String>,
    /// Acceptances that are new in the candidate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<Accepted>,
}

/// A further machine of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoredHost {
    /// Its fingerprint.
    pub host: String,
    /// Ids of the series that it measured.
    #[serde(deserialize_with = "names::all_series")]
    pub series: Vec<String>,
}

/// One series in a month.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoredSeries {
    /// `scenario@server@driver`.
    #[serde(deserialize_with = "names::series")]
    pub id: String,
    /// Its digests, each with the place of the first run that has it.
    pub digests: Vec<DigestFrom>,
    /// The metrics of which at least one run has a value.
    pub metrics: Vec<StoredMetric>,
    /// Runs in which it is not whole, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<StoredFailure>,
}

/// A run in which a series has failed rounds, or no good round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoredFailure {
    /// Place of the run.
    pub at: usize,
    /// Why, in one sentence.
    pub why: String,
}

/// A digest and where it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DigestFrom {
    /// Place of the first run that has it.
    pub from: usize,
    /// The digest.
    pub digest: String,
}

/// One metric of one series in a month.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoredMetric {
    /// The metric; its unit is the metric's.
    pub metric: Metric,
    /// Median over the candidate's good rounds that were not dropped, or the counted value, to seven digits.
    #[serde(with = "column")]
    #[schemars(with = "Vec<Option<f64>>")]
    pub values: Vec<f64>,
    /// Candidate over reference: exp of the median logarithm over the pairs, to seven digits. Empty when no run has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "column")]
    #[schemars(with = "Vec<Option<f64>>")]
    pub ratios: Vec<f64>,
    /// Half of the 95 % interval of what a trend judges (the ratio where there is one, else the value), in thousandths of
    /// it. Empty when no run has one: it takes six rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "column")]
    #[schemars(with = "Vec<Option<f64>>")]
    pub half_permille: Vec<f64>,
}

/// A column of numbers: null in the file is NaN in memory, which takes half the space of an option.
mod column {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|value| value.is_finite().then_some(*value)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let values = Vec::<Option<f64>>::deserialize(from)?.into_iter();
        Ok(values.map(|value| value.unwrap_or(f64::NAN)).collect())
    }
}
