//! The comparison of two variants, `wirebench.comparison/v2`: for every series and metric the change, its interval, and
//! the smallest change that could have been found.
//!
//! Percentages are of the metric's own value, candidate over baseline: throughput that falls is negative. Null means
//! unknown, never 0. Fields that a newer version adds are ignored when a file is read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counts::Source;
use crate::limit::JudgedLimit;
use crate::metric::{Better, Metric};
use crate::names;
use crate::reason::{self, MetricReason, NoSecondStage, Note, SeriesReason};
use crate::run::{Host, ToolVersion, VariantRevision};

/// The schema's name, the value of [`Comparison::schema`].
pub const SCHEMA: &str = "wirebench.comparison/v2";
/// The version before, which is still read: its reasons are sentences.
pub const SCHEMA_V1: &str = "wirebench.comparison/v1";

/// Margins, and acceptances, are at most this large.
pub const LARGEST_MARGIN_PERCENT: f64 = 100.0;

/// Base against head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// `wirebench.comparison/v2`, or `/v1` in files of older versions.
    pub schema: String,
    /// The verdict over all gating metrics: the first that occurs of regressed, invalid, inconclusive, improved,
    /// unchanged; not_judged when no gating metric is on both sides.
    pub verdict: Verdict,
    /// The baseline.
    pub baseline: Side,
    /// The candidate.
    pub candidate: Side,
    /// Whether both were measured interleaved in one run; values of two runs can be shown, not judged.
    pub paired: bool,
    /// What to know before trusting it: other machine, other tools, interrupted.
    #[serde(deserialize_with = "reason::read")]
    pub notes: Vec<Note>,
    /// How it was judged.
    pub method: Method,
    /// The machine of the candidate's run.
    pub host: Host,
    /// Every program used in the candidate's run, with its version.
    #[serde(default)]
    pub tools: Vec<ToolVersion>,
    /// The command that repeats the measurement.
    pub repeat: String,
    /// The limits that the candidate is held to; they do not change `verdict`, and a broken one fails the gate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<JudgedLimit>,
    /// Every series of either side.
    pub series: Vec<ComparedSeries>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Id of the run its rounds are from.
    #[serde(deserialize_with = "names::run")]
    pub run: String,
    /// The code.
    pub revision: VariantRevision,
}

/// How a comparison was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Method {
    /// Seed of the order of rounds.
    pub seed: u64,
    /// Probability, percent, that a comparison of equal code calls any gating metric regressed, at most.
    pub false_alarm_at_most_percent: f64,
    /// The size of change that rounds were planned to see, percent.
    pub detect_percent: f64,
    /// An upper bound above this makes a metric inconclusive, percent.
    pub inconclusive_above_percent: f64,
    /// Tests that share the error probability: gating, then informative ones.
    pub tests: (u32, u32),
    /// What gates where something was counted, in one sentence; null without counts.
    #[serde(default)]
    pub gates: Option<String>,
    /// Why no fresh rounds were measured; null if there are fresh rounds, or no timed series.
    #[serde(default, deserialize_with = "reason::read", skip_serializing_if = "Option::is_none")]
    pub no_second_stage: Option<NoSecondStage>,
}

/// The verdict on a metric, a series or a whole comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Worse by more than the margin.
    Regressed,
    /// Cannot be judged: failed rounds, wrong responses, different digests.
    Invalid,
    /// A worsening worth knowing of can be neither shown nor excluded.
    Inconclusive,
    /// Better by more than the margin.
    Improved,
    /// No worsening above a stated size.
    Unchanged,
    /// Of a whole comparison: no gating metric is on both sides, so nothing was judged.
    #[serde(rename = "not_judged")]
    NotJudged,
}

impl Verdict {
    /// The most alarming verdict of the metrics that gate and are not accepted; `None` if there is none.
    pub fn over_gating(metrics: &[ComparedMetric]) -> Option<Self> {
        let gating = (metrics.iter()).filter(|metric| metric.primary && metric.accepted.is_none());
        gating.map(|metric| metric.verdict).min()
    }

    /// The verdict of a whole comparison: that of its most alarming series. Without any, it is unchanged when what got worse
    /// is accepted, and not judged otherwise.
    pub fn over(series: &[ComparedSeries]) -> Self {
        let accepted =
            || (series.iter().flat_map(|one| &one.metrics)).any(|metric| metric.primary && metric.accepted.is_some());
        (series.iter().filter_map(|one| one.verdict).min())
            .unwrap_or_else(|| if accepted() { Self::Unchanged } else { Self::NotJudged })
    }
}

/// On which sides a series is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// On both: compared.
    Both,
    /// Only the candidate has it.
    Added,
    /// Only the baseline has it.
    Removed,
}

/// One series of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSeries {
    /// `scenario@server@driver`.
    #[serde(deserialize_with = "names::series")]
    pub id: String,
    /// The scenario's name.
    #[serde(deserialize_with = "names::declared")]
    pub scenario: String,
    /// On which sides it is.
    pub presence: Presence,
    /// Over its gating metrics, as for the whole; null when it is on one side only or nothing in it gates.
    pub verdict: Option<Verdict>,
    /// Why it is invalid, or a remark on it.
    #[serde(default, deserialize_with = "reason::read")]
    pub reason: Option<SeriesReason>,
    /// True if both sides run the same program (equal code and data): nothing was measured, and nothing can have changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_program: bool,
    /// Its metrics; empty when it could not be compared.
    pub metrics: Vec<ComparedMetric>,
    /// The functions whose cost per request changed most: of each metric those that went its way first, the project's own before
    /// others, the one to blame first. Of a timed series, those whose sampled CPU time did.
    #[serde(default)]
    pub functions: Vec<FunctionChange>,
    /// Of a counted series, what the project's own functions do more or less often, where a language runtime counts it; null
    /// without a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkChange>,
}

/// What the project's own functions do more or less often per request. It is no cost: it explains, and never gates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkChange {
    /// What is counted, in the singular: `block`, `bytecode`.
    pub unit: String,
    /// Functions that do more or less, the largest increase first; then those that were edited; then those whose work only moved.
    pub functions: Vec<FunctionWorkChange>,
}

/// A function that does more or less per request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionWorkChange {
    /// Its name in the source.
    pub function: String,
    /// Where it begins: on the candidate if it has the function.
    pub source: Option<Source>,
    /// Units per request on the baseline, less what moved to or from other functions.
    pub baseline: f64,
    /// Units per request on the candidate.
    pub candidate: f64,
    /// What happened to it.
    pub kind: WorkKind,
}

/// What happened to a function that a request runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkKind {
    /// It does more or less.
    Changed,
    /// Its text changed, and it does as much: what it calls in the runtime itself is not counted.
    Edited,
    /// Its work only moved to or from other functions.
    Moved,
}

/// A function whose cost per request changed, or a system call that is made more or less often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionChange {
    /// What was counted: `instructions`, `allocations`, `allocated_bytes` or `syscalls`; or sampled: `server_cpu`; or got worse by
    /// waiting: `latency_p50`, `latency_p99` or `throughput`.
    pub metric: Metric,
    /// The function's name, demangled; of `syscalls`, the system call's; `process NAME` of a whole process behind the server;
    /// of waiting, `CALL by FUNCTION`.
    pub function: String,
    /// Cost per request on the baseline. Of the project's own functions (`own_code`): by itself and with all that it calls but
    /// further functions of the project's own; of others: by itself. Of `syscalls`, the number of calls. Of `server_cpu` and of
    /// waiting, ns, the mean of the sampled rounds.
    pub baseline: f64,
    /// The same on the candidate.
    pub candidate: f64,
    /// The change as a share of the baseline's whole cost per request, percent.
    pub share_percent: f64,
    /// Whether it is one of the project's own functions, whose costs include the code it calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_code: bool,
    /// Of `syscalls`, the function that makes more or fewer of these calls; null when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// Where it (of `syscalls`, its caller) is on the candidate, in the project's own sources; null for other code, and where it
    /// is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// One metric of one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedMetric {
    /// The metric.
    pub metric: Metric,
    /// Unit of `baseline` and `candidate`.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Whether it gates; the others inform.
    pub primary: bool,
    /// The metric's verdict.
    pub verdict: Verdict,
    /// Why it has that verdict.
    #[serde(deserialize_with = "reason::read")]
    pub reason: MetricReason,
    /// The reason in accepted.toml why this worsening is intended: it does not gate then.
    pub accepted: Option<String>,
    /// Of the kept pairs: the centre of both medians less half of the estimated change, so that `candidate` ÷ `baseline` is
    /// exactly `effect_percent`; or the counted figure.
    pub baseline: Option<f64>,
    /// The same with half of the estimated change added; or the counted figure.
    pub candidate: Option<f64>,
    /// Relative change, percent: Hodges–Lehmann estimate over the pairs, or of the counted figures; null after a baseline of 0.
    pub effect_percent: Option<f64>,
    /// Lower end of its 95 % interval; of counts, of the range that their spreads leave open.
    pub effect_low_percent: Option<f64>,
    /// Upper end of the same interval or range.
    pub effect_high_percent: Option<f64>,
    /// It did not get worse by more than this, percent: the worse end of the interval, or 0 where that end is no worsening.
    pub worse_at_most_percent: Option<f64>,
    /// The change that is agreed to be ignored, percent.
    pub margin_percent: f64,
    /// The smallest worsening this run would have called regressed in 80 % of cases (counts: always), percent.
    pub resolvable_percent: Option<f64>,
    /// c: run-to-run spread of the machine, standard deviation of the paired ratio ÷ √2, percent; of counts, the larger
    /// spread over repetitions of both sides.
    pub spread_percent: Option<f64>,
    /// Probability of such rounds if the worsening were just the margin; null when it was not tested.
    pub p_worse: Option<f64>,
    /// The same for an improvement.
    pub p_better: Option<f64>,
    /// The stage its figures are from.
    pub stage: u32,
    /// Pairs measured in that stage; 0 for counts, as all that is about pairs.
    pub pairs: u32,
    /// Pairs used.
    pub kept: u32,
    /// Pairs left out because the baseline's round was far from its neighbours.
    pub dropped_baseline: u32,
    /// Pairs left out because the candidate's round was far from its neighbours.
    pub dropped_candidate: u32,
    /// The embedded null: by how much the baseline's program differed from itself when it was measured a second time from
    /// another place, percent, signed like `effect_percent`; null when there was no such measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_percent: Option<f64>,
    /// Pairs of rounds behind `null_percent`; 0 for counts.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub null_pairs: u32,
    /// Flame graph of the difference, as a path relative to the run's folder; of counts that regressed or improved.
    #[serde(deserialize_with = "names::path_or_null", default)]
    pub flame_graph: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::{MetricReason, Note, SeriesReason};

    /// Written by the last version whose reasons were sentences.
    const V1: &str = include_str!("../../cli/tests/fixtures/comparison-v1.json");

    #[test]
    fn a_comparison_of_version_1_keeps_its_sentences() {
        let comparison: Comparison = serde_json::from_str(V1).unwrap();
        assert_eq!(comparison.schema, SCHEMA_V1);
        let reasons: Vec<&SeriesReason> = comparison.series.iter().filter_map(|one| one.reason.as_ref()).collect();
        assert!(!reasons.is_empty() && reasons.iter().all(|one| matches!(one, SeriesReason::Text { .. })));
        let metrics = || comparison.series.iter().flat_map(|one| &one.metrics);
        assert!(metrics().next().is_some());
        assert!(metrics().all(|one| matches!(&one.reason, MetricReason::Text { text } if !text.is_empty())));
        assert!(comparison.notes.iter().all(|note| matches!(note, Note::Text { .. })));
        let again: Comparison = serde_json::from_str(&serde_json::to_string(&comparison).unwrap()).unwrap();
        assert_eq!(again, comparison);
    }
}
