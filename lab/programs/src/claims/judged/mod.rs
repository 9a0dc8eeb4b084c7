//! Derives a finding for each claim from a run: the published ratio, ours measured their way, ours on equal terms, and
//! the effect of changing one thing.

mod finding;
mod measured;
mod month;
mod quantity;
#[cfg(test)]
mod tests;

pub use finding::Finding;
pub use measured::MeasuredPair;
pub use month::{DAYS, RequestUse, month};

use std::collections::BTreeSet;

use self::finding::claims_equality;
use self::measured::pair;
use crate::claims::figures::series;
use crate::claims::publication::{Claim, Experiment, PublicComparison, Quantity, Question};
use wirebench_judge::summary::head_to_head::Multiple;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, Series};

/// A size holds when the logarithm of ours differs from that of theirs by a smaller share of theirs.
const SAME_SIZE: f64 = 0.25;

/// A difference is far smaller than the published one when its logarithm is at most this share of theirs.
const FAR_SMALLER: f64 = 1.0 / 3.0;

/// A claim with its finding.
#[derive(Debug, Clone)]
pub struct TestedClaim<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// Measured their way.
    pub theirs: Option<MeasuredPair>,
    /// On equal terms.
    pub equal: Option<MeasuredPair>,
    /// The result.
    pub finding: Finding,
}

impl TestedClaim<'_> {
    /// The published ratio, second side to first; `None` if the first is 0.
    #[must_use]
    pub fn claimed(&self) -> Option<f64> {
        let [one, other] = self.claim.values;
        (one > 0.0).then(|| other / one)
    }

    /// Whether equality is claimed.
    #[must_use]
    pub fn is_of_equality(&self) -> bool {
        claims_equality(self.claim)
    }

    /// Whether only the direction of the claim holds.
    #[must_use]
    pub fn is_far_smaller(&self) -> bool {
        self.size().is_some_and(|size| size.kind == SizeKind::FarSmaller)
    }

    /// How our ratio on equal terms compares in size with theirs, for a claim of a difference that holds; `None` if the sizes
    /// are the same.
    #[must_use]
    pub fn size(&self) -> Option<Size> {
        let ours = self.equal.as_ref().and_then(|measured| measured.times)?;
        let holds = matches!(self.finding, Finding::Holds | Finding::HoldsOnEqualTermsOnly);
        let claimed = self.claimed().filter(|_| holds && !self.is_of_equality())?;
        let (size, of) = (ours.times.ln(), claimed.ln());
        let includes = ours.low <= claimed && claimed <= ours.high;
        if includes || (size - of).abs() <= SAME_SIZE * of.abs() {
            return None;
        }
        Some(Size {
            kind: match size.abs() / of.abs() {
                share if share <= FAR_SMALLER => SizeKind::FarSmaller,
                share if share < 1.0 => SizeKind::Smaller,
                _ => SizeKind::Larger,
            },
            ours: ours.times,
            claimed,
        })
    }
}

/// A claim that holds with another size: both ratios, second side to first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// The difference that we measured, beside the published one.
    pub kind: SizeKind,
    /// Our ratio.
    pub ours: f64,
    /// The published ratio.
    pub claimed: f64,
}

/// How a difference that was measured compares with the published one of the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeKind {
    /// At most a third of it, by logarithms: only the direction holds.
    FarSmaller,
    /// Smaller.
    Smaller,
    /// Larger.
    Larger,
}

/// One question with its claims and experiments.
#[derive(Debug, Clone)]
pub struct Outcome<'a> {
    /// The question.
    pub question: &'a Question,
    /// Its claims.
    pub claims: Vec<TestedClaim<'a>>,
    /// Server CPU per request on equal terms, second side as a multiple of the first.
    pub server_cpu: Option<Multiple>,
    /// Its experiments.
    pub experiments: Vec<TriedExperiment<'a>>,
}

/// One thing changed, and its effect.
#[derive(Debug, Clone)]
pub struct TriedExperiment<'a> {
    /// The change.
    pub experiment: &'a Experiment,
    /// The first claim's quantity after it; `None` if it was not measured.
    pub shown: Option<MeasuredPair>,
    /// The share of the difference that it removes, by logarithms: 1 for all of it, above 1 if the direction changes. `None`
    /// if there was no clear difference.
    pub share: Option<f64>,
    /// Whether the run tells the two ratios apart: their intervals do not overlap.
    pub is_clear: bool,
}

impl Outcome<'_> {
    /// The quantity for experiments: that of the first claim.
    #[must_use]
    pub fn quantity(&self) -> Quantity {
        self.question.claims[0].quantity
    }
}

/// The newest of these runs that measured both sides of one of the comparison's questions.
pub fn newest<'r>(comparison: &PublicComparison, runs: impl IntoIterator<Item = &'r Run>) -> Option<&'r Run> {
    let has = |run: &&Run| {
        let mut questions = comparison.questions.iter();
        questions.any(|question| pair(&question.theirs, run).is_some())
    };
    latest(runs.into_iter().filter(has))
}

fn latest<'r>(runs: impl Iterator<Item = &'r Run>) -> Option<&'r Run> {
    runs.max_by(|one, other| one.started_at.cmp(&other.started_at))
}

/// Gives the comparison's newest run the pairs of series that it lacks, from the newest of the other runs that has one of them: what is
/// asked later needs no second measurement of what was asked before. A pair is never made of two runs, which share no hour of a machine.
pub fn complete(comparison: &PublicComparison, runs: &mut [&mut Run]) {
    let all = || runs.iter().map(|run| &**run);
    let Some(own) = newest(comparison, all()) else { return };
    let missing: BTreeSet<&String> = (comparison.pairs())
        .filter(|pair| pair.iter().all(|id| series(own, id).is_none()))
        .flatten()
        .collect();
    let others = all().filter(|run| missing.iter().any(|id| series(run, id).is_some()));
    let added: Vec<Series> = (latest(others).into_iter())
        .flat_map(|run| run.series.iter().filter(|series| missing.contains(&series.id)).cloned())
        .collect();
    let id = own.id.clone();
    if let Some(own) = runs.iter_mut().find(|run| run.id == id) {
        own.series.extend(added);
    }
}

/// Tests every claim of a public comparison against a run.
#[must_use]
pub fn judge<'a>(comparison: &'a PublicComparison, run: &Run) -> Vec<Outcome<'a>> {
    let questions = comparison.questions.iter();
    questions.map(|question| outcome(question, run)).collect()
}

fn outcome<'a>(question: &'a Question, run: &Run) -> Outcome<'a> {
    let claims: Vec<TestedClaim> = (question.claims.iter())
        .map(|claim| tested(question, claim, run))
        .collect();
    let quantity = question.claims[0].quantity;
    let before = claims[0].theirs.as_ref();
    let experiments = question.experiments.iter().map(|experiment| {
        let shown = MeasuredPair::of(quantity, &experiment.pair, run);
        let both = before.zip(shown.as_ref());
        TriedExperiment {
            experiment,
            share: both.and_then(|(before, after)| removed_share(before.times?, after.times?)),
            is_clear: both.is_some_and(|(before, after)| before.differs_from(after)),
            shown,
        }
    });
    let cpu = pair(question.on_equal_terms(), run);
    Outcome {
        experiments: experiments.collect(),
        claims,
        question,
        server_cpu: cpu.and_then(|[first, one]| Multiple::of(Metric::ServerCpu, one, first)),
    }
}

/// The share of a clear difference that a change removes, by logarithms.
fn removed_share(before: Multiple, after: Multiple) -> Option<f64> {
    (before.is_clear()).then(|| 1.0 - after.times.ln() / before.times.ln())
}

fn tested<'a>(question: &Question, claim: &'a Claim, run: &Run) -> TestedClaim<'a> {
    let theirs = MeasuredPair::of(claim.quantity, &question.theirs, run);
    let equal = MeasuredPair::of(claim.quantity, question.on_equal_terms(), run);
    TestedClaim {
        finding: Finding::of(claim, theirs.as_ref(), equal.as_ref()),
        claim,
        theirs,
        equal,
    }
}
