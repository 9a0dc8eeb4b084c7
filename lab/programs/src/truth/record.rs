//! The truth table, `wirebench.truth/v1`: known changes and known nulls, with the result of each comparison.

use serde::{Deserialize, Serialize};

use wirebench_record::comparison::Verdict;
use wirebench_record::metric::Metric;
use wirebench_record::run::Host;

/// The schema's name, the value of [`TruthTable::schema`].
pub const SCHEMA: &str = "wirebench.truth/v1";

/// Every comparison that was made for the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TruthTable {
    /// Always `wirebench.truth/v1`.
    pub schema: String,
    /// The commit that every row changes, 40 hex digits.
    pub commit: String,
    /// Version of the wirebench that compared.
    pub wirebench: String,
    /// When the table was begun, RFC 3339.
    pub started_at: String,
    /// The machine.
    pub host: Host,
    /// Who went on with it, in the order of time; empty where one session made all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<Session>,
    /// One for each comparison, in the order in which they were made.
    pub outcomes: Vec<Outcome>,
}

/// A later session that added comparisons to a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The commit that its rows change, 40 hex digits.
    pub commit: String,
    /// Version of the wirebench that compared.
    pub wirebench: String,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// The machine.
    pub host: Host,
}

impl Session {
    /// Whether the same program compared the same code on the same machine.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.commit, &self.wirebench, &self.host) == (&other.commit, &other.wirebench, &other.host)
    }
}

/// The expected result of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// A null: the cost of a request has not changed.
    Same,
    /// The comparison says regressed, because of one of the row's metrics.
    Regressed,
    /// One of the row's metrics is called regressed, whether it gates or informs.
    Informative,
    /// The comparison says improved, because of one of the row's metrics.
    Improved,
    /// The comparison says invalid, with the row's reason: the change keeps the load generators from measuring.
    Invalid,
}

/// The result of a comparison against the expectation of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finding {
    /// The verdict is the row's.
    Right,
    /// A change that the comparison does not report, or reports without one of the row's metrics.
    Missed,
    /// A null called regressed, improved or invalid, or a change called the opposite.
    False,
    /// The comparison is inconclusive, or a change is called invalid.
    Unclear,
    /// There is no comparison: the patch did not apply, a build failed, or the time ran out.
    Error,
}

/// Whom the list of changed functions blames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blame {
    /// The row's function is the first of the list.
    First,
    /// The row's function is in the list, after others.
    Named,
    /// The row's function is not in the list.
    Wrong,
}

/// One comparison of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The row's name.
    pub row: String,
    /// Which of the row's comparisons, from 1.
    pub number: u32,
    /// The row's change in one sentence.
    pub about: String,
    /// The kind of change, such as `comment`; rows of one kind differ in the code that is changed.
    pub kind: String,
    /// The code that is changed, such as `Go`.
    pub code: String,
    /// What the row expects.
    pub expect: Expect,
    /// The smallest size of the change, percent, of the metric that carries it; null for nulls.
    pub smallest_percent: Option<f64>,
    /// Part of the name of the project's own function that is to blame; null where no function is counted.
    pub function: Option<String>,
    /// The finding.
    pub finding: Finding,
    /// True if both sides run the same program in every series of the comparison.
    pub same_program: bool,
    /// The comparison's verdict; null without a comparison.
    pub verdict: Option<Verdict>,
    /// The metric that carries the verdict: of the row's metrics the one that changed most, of a null the first that is wrong.
    pub carrier: Option<Carrier>,
    /// Whom the functions blame; null where the row names no function, and of a change that was not found.
    pub blame: Option<Blame>,
    /// The first functions of the list that was looked at, at most five.
    pub functions: Vec<String>,
    /// Which session made it: 0 the one that began the table, 1 the first of [`TruthTable::later`], and so on.
    #[serde(default, skip_serializing_if = "is_first")]
    pub session: usize,
    /// Why it is not right, or why there is no comparison; empty when it is right.
    pub reason: String,
    /// Wall time of the comparison, s, with the incremental build of a change, without builds from scratch.
    pub seconds: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it a reference")]
const fn is_first(session: &usize) -> bool {
    *session == 0
}

/// A metric of a series, as the comparison has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carrier {
    /// `scenario@server@driver`.
    pub series: String,
    /// The metric.
    pub metric: Metric,
    /// The metric's verdict.
    pub verdict: Verdict,
    /// By how much it changed, percent; null after a baseline of 0.
    pub effect_percent: Option<f64>,
}
