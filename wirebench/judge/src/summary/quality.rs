//! The quality of a run's rounds: how many are good, why the others are not, and how much CPU time the hypervisor took.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use wirebench_record::comparison::{Comparison, Verdict};
use wirebench_record::run::{Round, RoundStatus, Run, Series};
use wirebench_stats::proportion;

/// The rounds of one run, or of several, by their outcome.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// All of them.
    pub rounds: usize,
    /// Those that passed every check and were not dropped.
    pub good: usize,
    /// Measured, but a check failed.
    pub invalid: usize,
    /// Not measured.
    pub failed: usize,
    /// Good, but left out because the machine was disturbed.
    pub dropped: usize,
    /// Why rounds are not good: the reason without its numbers → how often, and one example.
    reasons: BTreeMap<String, (usize, String)>,
}

/// The outcome of a round, as one word for tables and style sheets.
pub const fn outcome(round: &Round) -> &'static str {
    match round.status {
        RoundStatus::Ok if round.dropped.is_some() => "dropped",
        RoundStatus::Ok => "ok",
        RoundStatus::Invalid => "invalid",
        RoundStatus::Failed => "failed",
    }
}

/// Why a round is not good; `None` if it is good.
pub fn why(round: &Round) -> Option<&str> {
    match round.status {
        RoundStatus::Ok => round.dropped.as_deref(),
        RoundStatus::Invalid | RoundStatus::Failed => Some(round.reason.as_deref().unwrap_or("no reason recorded")),
    }
}

impl Tally {
    /// Counts the rounds of these runs.
    pub fn of(runs: &[&Run]) -> Self {
        let mut tally = Self::default();
        for round in runs
            .iter()
            .flat_map(|run| &run.series)
            .flat_map(|series| &series.rounds)
        {
            tally.rounds += 1;
            match outcome(round) {
                "ok" => tally.good += 1,
                "dropped" => tally.dropped += 1,
                "invalid" => tally.invalid += 1,
                _ => tally.failed += 1,
            }
            if let Some(why) = why(round) {
                let known = tally.reasons.entry(kind(why));
                known.or_insert_with(|| (0, why.to_owned())).0 += 1;
            }
        }
        tally
    }

    /// Why rounds are not good, the most frequent reason first: how often, and one example of it. Reasons that differ only in
    /// their numbers are one.
    pub fn ranked(&self) -> Vec<(usize, &str)> {
        let mut all: Vec<(usize, &str)> = self.reasons.values().map(|(count, text)| (*count, &**text)).collect();
        all.sort_by_key(|(count, text)| (Reverse(*count), *text));
        all
    }
}

/// A reason without its numbers.
fn kind(why: &str) -> String {
    let mut out = String::new();
    for c in why.chars().take(200) {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

/// The errors of all rounds by kind, the most frequent first.
pub fn errors_by_kind(series: &Series) -> Vec<(&str, u64)> {
    let mut all = BTreeMap::<&str, u64>::new();
    for (kind, count) in series.rounds.iter().flat_map(|round| &round.errors) {
        *all.entry(kind).or_default() += count;
    }
    let mut all: Vec<(&str, u64)> = all.into_iter().collect();
    all.sort_by_key(|(_, count)| Reverse(*count));
    all
}

/// The share of all CPU time that the hypervisor gave to others while drivers ran, percent; `None` if it was not measured.
pub fn steal_percent(run: &Run) -> Option<f64> {
    let (mut stolen, mut all) = (0.0, 0.0);
    for series in &run.series {
        let cpus = f64::from(run.host_of(&series.id).cpu_count);
        for round in &series.rounds {
            if let (Some(steal), Some(length)) = (round.host_steal_ns, round.steal_counted_over_ns()) {
                stolen += steal as f64;
                all += length as f64 * cpus;
            }
        }
    }
    (all > 0.0).then(|| stolen / all * 100.0)
}

// Comparisons of equal code: how many were called regressed, which would be false alarms.

/// Comparisons of equal code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EqualCode {
    /// How many there are.
    pub comparisons: usize,
    /// How many of them were called regressed.
    pub regressed: usize,
    /// The upper end of the 95 % confidence interval of their share, 0 to 1.
    pub share_at_most: f64,
}

/// The comparisons whose sides are one commit without local changes and without injected CPU time; `None` without any.
pub fn equal_code(runs: &[&Run], comparisons: &[&Comparison]) -> Option<EqualCode> {
    let burnt: BTreeSet<&str> = (runs.iter())
        .filter(|run| run.series.iter().any(|series| series.injected_burn_ns.is_some()))
        .map(|run| run.id.as_str())
        .collect();
    let is_equal = |comparison: &&&Comparison| {
        let (baseline, candidate) = (&comparison.baseline.revision, &comparison.candidate.revision);
        comparison.paired
            && baseline.commit.is_some()
            && baseline.commit == candidate.commit
            && [baseline, candidate].iter().all(|side| side.modified != Some(true))
            && !burnt.contains(comparison.candidate.run.as_str())
    };
    let equal: Vec<&&Comparison> = comparisons.iter().filter(is_equal).collect();
    let is_regressed = |comparison: &&&&Comparison| comparison.verdict == Verdict::Regressed;
    let regressed = equal.iter().filter(is_regressed).count();
    let (_, share_at_most) = proportion::interval(regressed as u64, equal.len() as u64);
    (!equal.is_empty()).then_some(EqualCode {
        comparisons: equal.len(),
        regressed,
        share_at_most,
    })
}
