//! Comparisons of equal code: how many were called regressed, which would be false alarms.

use std::collections::BTreeSet;

use wirebench_record::comparison::{Comparison, Verdict};
use wirebench_record::run::Run;
use wirebench_stats::proportion;

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
