//! The reasons of verdicts, as kinds with their numbers. `wirebench_present` turns them into sentences.
//!
//! Version 1 of the record held sentences; they are read as the kind `text`.

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::metric::Metric;
use crate::run::{Dependency, Variant};

/// Why a metric has its verdict. Percentages are sizes, never negative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MetricReason {
    /// Worse by more than this, which is the margin.
    WorseThan {
        /// The margin, percent.
        percent: f64,
    },
    /// Worse by more than the size from which a metric gates that otherwise only informs.
    WorseThanGate {
        /// That size, percent.
        percent: f64,
    },
    /// As `worse_than_gate`, but it does not gate: the load generator held back most of the candidate's rounds.
    WorseButClientBound {
        /// The size from which it would gate, percent.
        percent: f64,
    },
    /// Worse, and the margin lies within the interval, or within the range that the spread of a counted figure leaves open.
    WorseAroundMargin {
        /// The margin, percent.
        percent: f64,
    },
    /// A counted figure with a margin of 0 rose.
    WorseWhereNothingMayChange,
    /// A counted figure is 0 on the baseline and more on the candidate: a worsening without a percentage.
    WorseFromZero,
    /// Better by more than this, which is the margin.
    BetterThan {
        /// The margin, percent.
        percent: f64,
    },
    /// A counted figure with a margin of 0 fell.
    BetterWhereNothingMayChange,
    /// A counted figure is the same on both sides, without spread.
    ExactlyEqual,
    /// Worse, but not by more than the margin.
    WorseWithinMargin {
        /// The worse end of the interval, percent.
        percent: f64,
        /// The margin, percent.
        margin: f64,
    },
    /// It did not get worse by more than this.
    NoWorseningAbove {
        /// The worse end of the interval, percent.
        percent: f64,
    },
    /// A worsening above this is not excluded.
    NotExcluded {
        /// The size, percent.
        percent: f64,
    },
    /// The spread of a counted figure over repetitions leaves a worsening of this size open.
    SpreadTooWide {
        /// The size, percent.
        percent: f64,
    },
    /// Fewer pairs of rounds could be used than a verdict needs.
    TooFewPairs {
        /// Pairs that could be used.
        usable: u32,
        /// Pairs that a verdict needs.
        needed: u32,
    },
    /// The rounds may have begun before the servers were warm: a runtime that still compiles has other costs.
    MaybeNotWarm {
        /// The budget that gives the longest time for finding out when servers are warm, minutes; null if there was no more to give.
        minutes: Option<u32>,
    },
    /// The servers of both sides sleep differently often, which costs or saves CPU time: more than what would decide. Or, where
    /// others use the machine, each sleep may cost the server its core, which makes throughput and latency another.
    SleepsDiffer {
        /// How often the baseline's server sleeps, per request.
        baseline: f64,
        /// How often the candidate's does.
        candidate: f64,
        /// The share of the machine's CPU time that other programs used, percent; null for CPU time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        others_percent: Option<f64>,
    },
    /// Worse in every pair by more than the size from which it gates, but there are fewer pairs than a verdict needs.
    WorseInEveryPair {
        /// Pairs that could be used.
        usable: u32,
        /// Pairs that a verdict needs.
        needed: u32,
    },
    /// Looks worse in the first stage, and no fresh rounds were measured to confirm it.
    Unconfirmed,
    /// Looks worse, but not beyond doubt over all that was tested.
    NotBeyondDoubt,
    /// The rank test sees a change that the interval of the paired differences does not show.
    Disputed,
    /// The baseline measured against its own copy differs too: this measurement cannot tell a change of the code.
    NullDiffers {
        /// By how much, percent with its sign; null if the baseline's value is 0.
        percent: Option<f64>,
    },
    /// The candidate makes a system call in which requests wait, and the baseline does not.
    NewBlockingCall {
        /// The system call.
        call: String,
        /// How often it is made per request.
        per_request: f64,
    },
    /// A side's figure was refused when it was counted.
    FigureRefused {
        /// The side.
        side: Variant,
        /// The reason that counting gave.
        why: String,
    },
    /// A side does not have the figure.
    FigureMissing {
        /// The side.
        side: Variant,
        /// The reason that counting gave.
        why: String,
    },
    /// A side's figure is below 0.
    FigureNegative {
        /// The side.
        side: Variant,
        /// The figure.
        value: f64,
    },
    /// Both sides were measured at different times: how much of the difference is the machine's cannot be told.
    MeasuredAtDifferentTimes,
    /// Both sides were counted at different times: processor and system libraries change counts.
    CountedAtDifferentTimes,
    /// A sentence of version 1.
    Text {
        /// The sentence.
        text: String,
    },
    /// Left out here; the run's own summary has it. Also a kind that a newer version added.
    #[serde(other)]
    Elsewhere,
}

/// Why a series is invalid or was not compared, or a remark on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SeriesReason {
    /// Both sides run the same program: nothing was measured.
    SameProgram,
    /// The baseline's declarations say something else of this series: part of the difference may be theirs.
    DeclaredDifferently,
    /// The load generator held back most rounds: throughput and latency are its own.
    ClientBound,
    /// No round of a side is good.
    NoGoodRound {
        /// The side.
        side: Variant,
        /// The reason of the first bad round.
        why: String,
    },
    /// Nothing was counted on a side.
    NotCounted {
        /// The side.
        side: Variant,
        /// The reason that counting gave.
        why: String,
    },
    /// Nothing was counted on both sides.
    NothingCounted,
    /// What to know of counts, and the figures that were refused on both sides.
    Counts {
        /// Remarks of both sides, each once.
        remarks: Vec<String>,
        /// The figures that were refused on both sides.
        refused: Vec<Metric>,
        /// Why the first of them was refused.
        why: Option<String>,
    },
    /// The run was interrupted before this series was measured.
    Interrupted,
    /// The run was interrupted before this series was counted.
    InterruptedBeforeCounting,
    /// No pair of good rounds.
    NoPair,
    /// Two runs asked different things: their digests differ.
    OtherDigest {
        /// The digest in the baseline's run.
        baseline: String,
        /// The digest in the candidate's run.
        candidate: String,
    },
    /// Two runs used different versions of the load generator.
    OtherDriver {
        /// The load generator.
        driver: String,
        /// Its version in the baseline's run.
        baseline: String,
        /// Its version in the candidate's run.
        candidate: String,
    },
    /// One of two runs has no good round of the series.
    NoGoodRoundInOneRun,
    /// One of two runs did not count the series.
    NothingCountedInOneRun,
    /// The reason in the run's record, or a sentence of version 1.
    Text {
        /// The sentence.
        text: String,
    },
    /// Left out here; the run's own summary has it. Also a kind that a newer version added.
    #[serde(other)]
    Elsewhere,
}

/// Why no fresh rounds were measured in a second stage, of any series or of some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NoSecondStage {
    /// The first stage had fewer rounds of each variant than a verdict needs.
    TooFewRounds {
        /// Rounds of each variant in the first stage.
        rounds: u32,
        /// Rounds that a verdict needs.
        needed: u32,
        /// Minutes of budget that would have been enough at the pace of this run; absent if the budget was not the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        minutes: Option<u32>,
    },
    /// Nothing looked changed in the first stage.
    NothingLookedChanged,
    /// The run was interrupted before.
    Interrupted,
    /// No time was left in the budget.
    NoTime {
        /// Series that need fresh rounds and have none.
        series: u32,
        /// Minutes of budget that would have been enough at the pace of this run; absent if the budget was not the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        minutes: Option<u32>,
    },
    /// A sentence of version 1.
    Text {
        /// The sentence.
        text: String,
    },
    /// Left out here; the run's own summary has it. Also a kind that a newer version added.
    #[serde(other)]
    Elsewhere,
}

/// What to know before trusting a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    /// There was no second stage although something needed one.
    NoSecondStage {
        /// Why.
        why: NoSecondStage,
    },
    /// The run did not reach its end: fewer pairs than planned.
    NotFinished {
        /// The reason that the run gave.
        why: String,
    },
    /// Rounds that no figure uses.
    RoundsLeftOut {
        /// Good rounds of pairs during which the machine was disturbed.
        disturbed: u32,
        /// Rounds that failed a check.
        invalid: u32,
        /// Rounds in which the load generator failed.
        load_generator: u32,
        /// Rounds that failed for another reason: most often the server's.
        server: u32,
    },
    /// The sides run different versions of packages.
    DifferentPackages {
        /// The first of them.
        packages: Vec<Dependency>,
        /// How many there are beyond these.
        more: u32,
    },
    /// A side's files were modified beyond its commit.
    Modified {
        /// The side.
        side: Variant,
    },
    /// Shards were measured on several machines; both sides of a series always on the same one.
    SeveralMachines {
        /// Machines.
        machines: u32,
        /// Kinds of machines among them.
        kinds: u32,
    },
    /// Server and load generator shared all cores.
    SharedCores,
    /// The run did not hold the machine's lock: another measurement may have run at the same time.
    Unlocked,
    /// Two runs: measured at different times, so shown and not judged.
    MeasuredAtDifferentTimes,
    /// Two runs on different machines.
    DifferentMachines {
        /// Processor, number of CPUs and fingerprint of the baseline's.
        baseline: String,
        /// The same of the candidate's.
        candidate: String,
    },
    /// A pull request is offered to another commit than the one it was measured against.
    OtherBase {
        /// The commit it was measured against, shortened.
        measured: String,
        /// The commit it is offered to now, shortened.
        now: String,
    },
    /// Notes that are left out here; the run's own summary has them.
    Elsewhere {
        /// How many.
        notes: u32,
    },
    /// A sentence of version 1.
    Text {
        /// The sentence.
        text: String,
    },
    /// A note of a kind that a newer version added.
    #[serde(other)]
    Newer,
}

/// Reads a reason of either version, a list of them, or null: a sentence is of the kind `text`.
pub(crate) fn read<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let fact = |value| match value {
        Value::String(text) => json!({ "kind": "text", "text": text }),
        fact => fact,
    };
    let value = match Value::deserialize(from)? {
        Value::Array(all) => all.into_iter().map(fact).collect(),
        one => fact(one),
    };
    T::deserialize(value).map_err(D::Error::custom)
}
