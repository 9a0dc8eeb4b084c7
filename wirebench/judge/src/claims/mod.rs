//! Derives a finding for each claim from a run: the published ratio, ours measured their way, ours on equal terms, and
//! the effect of changing one thing.

mod month;
mod quantity;

pub use month::{Taken, month};

use crate::summary::beside::Beside;
use crate::summary::candidate_rounds;
use quantity::{doubt, value};
use wirebench_declare::claims::{Claim, Experiment, PublicComparison, Quantity, Question};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, Series};
use wirebench_stats::quantile::median;

/// Ratios of claims that differ from 1 by less than this are called equal, because no interval was published.
const EQUAL_WITHIN: f64 = 0.02;
/// A difference has vanished when its whole interval differs from 1 by less.
const VANISHED_WITHIN: f64 = 0.1;
/// A size holds when the logarithm of ours differs from that of theirs by a smaller share of theirs.
const SAME_SIZE: f64 = 0.25;

/// The finding for a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Measured their way and on equal terms, the same side is better; or, for a claim of equality, both are equal within 10 %.
    Holds,
    /// Measured their way, the other side is better here.
    Contradicted,
    /// On equal terms the other side is better; measured their way it is not.
    Reverses,
    /// On equal terms neither side is better, within 10 %.
    Vanishes,
    /// Only on equal terms it holds.
    HoldsOnEqualTermsOnly,
    /// The interval on equal terms neither leaves equality out nor lies within 10 % of it.
    CannotTell,
    /// A series is missing or gave no figure.
    NotMeasured,
}

/// The second side as a multiple of the first, on this machine.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Medians of the two sides, in the quantity's unit.
    pub values: [f64; 2],
    /// The multiple; `None` if a side has zeros.
    pub times: Option<Beside>,
    /// A check that its rounds failed.
    pub doubt: Option<String>,
}

/// One claim, tested.
#[derive(Debug, Clone)]
pub struct Tested<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// Measured their way.
    pub theirs: Option<Shown>,
    /// On equal terms.
    pub equal: Option<Shown>,
    /// The result.
    pub finding: Finding,
}

impl Tested<'_> {
    /// The published ratio, second side to first; `None` if the first is 0.
    #[must_use]
    pub fn claimed(&self) -> Option<f64> {
        let [one, other] = self.claim.values;
        (one > 0.0).then(|| other / one)
    }

    /// Whether equality is claimed.
    #[must_use]
    pub fn is_of_equality(&self) -> bool {
        by_value(self.claim.quantity, self.claim.values) == Better::Neither
    }

    /// How our ratio on equal terms compares in size with theirs, for a claim of a difference that holds; `None` where it is
    /// the same size.
    #[must_use]
    pub fn size(&self) -> Option<Size> {
        let ours = self.equal.as_ref().and_then(|shown| shown.times)?;
        let holds = matches!(self.finding, Finding::Holds | Finding::HoldsOnEqualTermsOnly);
        let claimed = self.claimed().filter(|_| holds && !self.is_of_equality())?;
        let (size, of) = (ours.times.ln(), claimed.ln());
        let includes = ours.low <= claimed && claimed <= ours.high;
        if includes || (size - of).abs() <= SAME_SIZE * of.abs() {
            return None;
        }
        Some(Size {
            is_smaller: size.abs() < of.abs(),
            ours: ours.times,
            claimed,
        })
    }
}

/// A claim that holds with another size: both ratios, second side to first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Whether the difference we measured is the smaller one.
    pub is_smaller: bool,
    /// Our ratio.
    pub ours: f64,
    /// The published ratio.
    pub claimed: f64,
}

/// One question with its claims and experiments.
#[derive(Debug, Clone)]
pub struct Outcome<'a> {
    /// What was asked.
    pub question: &'a Question,
    /// Its claims.
    pub claims: Vec<Tested<'a>>,
    /// Server CPU per request on equal terms, second side as a multiple of the first.
    pub server_cpu: Option<Beside>,
    /// What each change leads to.
    pub experiments: Vec<Tried<'a>>,
}

/// One thing changed, and what it leads to.
#[derive(Debug, Clone)]
pub struct Tried<'a> {
    /// The change.
    pub experiment: &'a Experiment,
    /// The first claim's quantity after it; `None` if it was not measured.
    pub shown: Option<Shown>,
    /// The share of the difference that it takes away, by logarithms; `None` if there was no clear difference.
    pub share: Option<f64>,
    /// Whether the run tells the two ratios apart: their intervals have nothing in common.
    pub is_clear: bool,
}

impl Outcome<'_> {
    /// The quantity for experiments: that of the first claim.
    #[must_use]
    pub fn quantity(&self) -> Quantity {
        self.question.claims[0].quantity
    }
}

/// Of these runs the newest that measured both sides of one of its questions; a run may hold one comparison only.
pub fn newest<'r>(comparison: &PublicComparison, runs: impl IntoIterator<Item = &'r Run>) -> Option<&'r Run> {
    let has = |run: &&Run| {
        comparison
            .questions
            .iter()
            .any(|question| pair(&question.theirs, run).is_some())
    };
    runs.into_iter()
        .filter(has)
        .max_by(|one, other| one.started_at.cmp(&other.started_at))
}

/// Tests every claim of a public comparison against a run.
#[must_use]
pub fn judge<'a>(comparison: &'a PublicComparison, run: &Run) -> Vec<Outcome<'a>> {
    comparison
        .questions
        .iter()
        .map(|question| outcome(question, run))
        .collect()
}

fn outcome<'a>(question: &'a Question, run: &Run) -> Outcome<'a> {
    let claims: Vec<Tested> = question
        .claims
        .iter()
        .map(|claim| tested(question, claim, run))
        .collect();
    let quantity = question.claims[0].quantity;
    let before = claims.first().and_then(|tested| tested.theirs.as_ref());
    let experiments = question.experiments.iter().map(|experiment| {
        let shown = shown(quantity, &experiment.pair, run);
        let times = |shown: Option<&Shown>| shown.and_then(|shown| shown.times);
        Tried {
            experiment,
            share: taken_away(times(before), times(shown.as_ref())),
            is_clear: before
                .zip(shown.as_ref())
                .is_some_and(|(before, after)| differ(before, after)),
            shown,
        }
    });
    let cpu = pair(question.on_equal_terms(), run);
    Outcome {
        experiments: experiments.collect(),
        claims,
        question,
        server_cpu: cpu.and_then(|[first, one]| Beside::of(Metric::ServerCpu, one, first)),
    }
}

/// The share of a clear difference that a change removes, by logarithms: 1 for all of it, above 1 if the direction
/// changes.
fn taken_away(before: Option<Beside>, after: Option<Beside>) -> Option<f64> {
    let before = before.filter(Beside::is_clear)?;
    Some(1.0 - after?.times.ln() / before.times.ln())
}

/// Whether two ratios are told apart: their intervals have nothing in common. Where zeros leave no ratio, the medians decide.
fn differ(before: &Shown, after: &Shown) -> bool {
    match (before.times, after.times) {
        (Some(before), Some(after)) => before.high < after.low || after.high < before.low,
        _ => before
            .values
            .iter()
            .zip(after.values)
            .any(|(before, after)| (before - after).abs() > f64::EPSILON),
    }
}

fn tested<'a>(question: &Question, claim: &'a Claim, run: &Run) -> Tested<'a> {
    let theirs = shown(claim.quantity, &question.theirs, run);
    let equal = shown(claim.quantity, question.on_equal_terms(), run);
    let finding = finding(claim, theirs.as_ref(), equal.as_ref());
    Tested {
        claim,
        theirs,
        equal,
        finding,
    }
}

/// Which side is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    First,
    Second,
    /// They are equal within the limit.
    Neither,
    /// The interval does not say.
    Unclear,
}

fn finding(claim: &Claim, theirs: Option<&Shown>, equal: Option<&Shown>) -> Finding {
    let (Some(theirs), Some(equal)) = (theirs, equal) else {
        return Finding::NotMeasured;
    };
    let claimed = by_value(claim.quantity, claim.values);
    let [theirs, equal] = [theirs, equal].map(|shown| by_interval(claim, shown));
    let is_opposite = |found: Better| found != claimed && matches!(found, Better::First | Better::Second);
    match (theirs == claimed, equal == claimed) {
        (true, true) => Finding::Holds,
        (false, true) => Finding::HoldsOnEqualTermsOnly,
        _ if is_opposite(theirs) => Finding::Contradicted,
        _ if is_opposite(equal) => Finding::Reverses,
        _ if equal == Better::Neither => Finding::Vanishes,
        _ => Finding::CannotTell,
    }
}

/// Published without an interval: figures are equal when they differ by at most 2 %.
fn by_value(quantity: Quantity, [first, second]: [f64; 2]) -> Better {
    if (second - first).abs() <= EQUAL_WITHIN * first.max(second) {
        return Better::Neither;
    }
    better(quantity, second > first)
}

const fn better(quantity: Quantity, second_is_more: bool) -> Better {
    if second_is_more == quantity.more_is_better() {
        Better::Second
    } else {
        Better::First
    }
}

/// Equality is an interval inside 10 %, a difference one that leaves 1 out. Where both are true, a claim of a difference that is as
/// small itself is decided by direction. With zeros, and so without a ratio, the medians decide.
fn by_interval(claim: &Claim, shown: &Shown) -> Better {
    let quantity = claim.quantity;
    let Some(times) = shown.times else {
        return by_value(quantity, shown.values);
    };
    let claims_a_small_one = by_value(quantity, claim.values) != Better::Neither && {
        let [first, second] = claim.values;
        (second / first).max(first / second) <= 1.0 + VANISHED_WITHIN
    };
    match (times.is_within(VANISHED_WITHIN), times.is_clear()) {
        (true, true) if claims_a_small_one => better(quantity, times.times > 1.0),
        (true, _) => Better::Neither,
        (false, true) => better(quantity, times.times > 1.0),
        (false, false) => Better::Unclear,
    }
}

fn pair<'r>(ids: &[String; 2], run: &'r Run) -> Option<[&'r Series; 2]> {
    let of = |id: &String| run.series.iter().find(|series| series.id == *id);
    Some([of(&ids[0])?, of(&ids[1])?])
}

fn shown(quantity: Quantity, ids: &[String; 2], run: &Run) -> Option<Shown> {
    let [first, second] = pair(ids, run)?;
    let middle = |series| {
        let values: Vec<f64> = candidate_rounds(series)
            .filter_map(|round| value(quantity, round))
            .collect();
        median(&values)
    };
    Some(Shown {
        values: [middle(first)?, middle(second)?],
        times: Beside::over(second, first, |round| value(quantity, round)),
        doubt: [first, second].into_iter().find_map(|series| {
            let said = doubt(series)?;
            Some(format!("{}: {said}", series.id))
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wirebench_record::run::Round;

    fn claim(first: f64, second: f64) -> Claim {
        Claim {
            quantity: Quantity::ThroughputRps,
            values: [first, second],
        }
    }

    /// A run of two series with 6 rounds each, at these rates.
    fn run_of(pairs: &[(&str, f64)]) -> Run {
        let mut run: Run = serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap();
        let sample = run.series[0].clone();
        run.series = (pairs.iter())
            .map(|(id, rate)| {
                let round = |number: u32| Round {
                    round: number,
                    ok_count: Some(1000),
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test's rates")]
                    elapsed_ns: Some((1e12 / rate * (1.0 + f64::from(number) / 1000.0)) as u64),
                    ..sample.rounds[0].clone()
                };
                let mut series = sample.clone();
                (series.id, series.rounds) = ((*id).to_owned(), (0..6).map(round).collect());
                series
            })
            .collect();
        run
    }

    /// Asked of `a@http@x` and `a@grpc@x`, their way and on equal terms.
    fn question(claim: Claim) -> Question {
        Question {
            about: String::new(),
            sides: ["HTTP".into(), "gRPC".into()],
            theirs: ["a@http@x".into(), "a@grpc@x".into()],
            equal: None,
            claims: vec![claim],
            not_counted: None,
            experiments: Vec::new(),
        }
    }

    /// Rounds whose ratios lie so far to either side of these: `[first, second]` as medians.
    fn found_in(spread: f64, claim: &Claim, rates: [f64; 2]) -> Finding {
        let mut run = run_of(&[("a@http@x", rates[0]), ("a@grpc@x", rates[1])]);
        for (number, round) in run.series[1].rounds.iter_mut().enumerate() {
            let by = if number % 2 == 0 { spread } else { 1.0 / spread };
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a test's rates"
            )]
            let elapsed = (round.elapsed_ns.unwrap() as f64 * by) as u64;
            round.elapsed_ns = Some(elapsed);
        }
        outcome(&question(claim.clone()), &run).claims[0].finding
    }

    #[test]
    fn equality_needs_an_interval_within_ten_percent() {
        let equal = claim(4_361.9, 4_433.2);
        assert_eq!(found_in(1.05, &equal, [100.0, 100.0]), Finding::Holds);
        assert_eq!(found_in(1.3, &equal, [100.0, 100.0]), Finding::CannotTell);
        let small = claim(8_964.0, 8_581.0);
        assert_eq!(found(&small, [100.0, 96.0], [100.0, 96.0]), Finding::Holds);
        let different = claim(1000.0, 2000.0);
        assert_eq!(found_in(1.05, &different, [100.0, 100.0]), Finding::Vanishes);
        assert_eq!(found_in(1.3, &different, [100.0, 100.0]), Finding::CannotTell);
    }

    fn found(claim: &Claim, theirs: [f64; 2], equal: [f64; 2]) -> Finding {
        let names = ["a@http@x", "a@grpc@x", "b@http@x", "b@grpc@x"];
        let rates = [theirs[0], theirs[1], equal[0], equal[1]];
        let run = run_of(&names.into_iter().zip(rates).collect::<Vec<_>>());
        let question = Question {
            equal: Some(["b@http@x".into(), "b@grpc@x".into()]),
            ..question(claim.clone())
        };
        outcome(&question, &run).claims[0].finding
    }

    #[test]
    fn every_finding_follows_from_the_three_ratios() {
        let better = claim(1000.0, 2000.0);
        assert_eq!(found(&better, [100.0, 150.0], [100.0, 130.0]), Finding::Holds);
        assert_eq!(found(&better, [100.0, 150.0], [100.0, 70.0]), Finding::Reverses);
        assert_eq!(found(&better, [100.0, 150.0], [100.0, 100.5]), Finding::Vanishes);
        assert_eq!(found(&better, [100.0, 60.0], [100.0, 70.0]), Finding::Contradicted);
        assert_eq!(
            found(&better, [100.0, 60.0], [100.0, 170.0]),
            Finding::HoldsOnEqualTermsOnly
        );
        assert_eq!(found(&better, [100.0, 100.0], [100.0, 70.0]), Finding::Reverses);
        let equal = claim(1000.0, 1010.0);
        assert_eq!(found(&equal, [100.0, 100.0], [100.0, 101.0]), Finding::Holds);
        assert_eq!(found(&equal, [100.0, 150.0], [100.0, 150.0]), Finding::Contradicted);
    }

    #[test]
    fn what_a_run_does_not_have_is_not_measured() {
        let run = run_of(&[("a@http@x", 1.0)]);
        let question = question(claim(1.0, 2.0));
        assert_eq!(outcome(&question, &run).claims[0].finding, Finding::NotMeasured);
    }

    #[test]
    fn of_several_runs_the_newest_that_measured_a_comparison_is_taken() {
        let ids = [("a@http@x", 1.0), ("a@grpc@x", 1.0)];
        let (older, mut newer, mut other) = (run_of(&ids), run_of(&ids), run_of(&ids[..1]));
        (newer.started_at, other.started_at) = ("2027-01-01T00:00:00Z".into(), "2027-02-01T00:00:00Z".into());
        newer.id = "newer".into();
        let comparison = PublicComparison {
            name: "x".into(),
            letter: "X".into(),
            title: String::new(),
            ran: String::new(),
            advice: String::new(),
            differs: Vec::new(),
            questions: vec![question(claim(1.0, 2.0))],
            published: Vec::new(),
            left_out: Vec::new(),
            audits: Vec::new(),
            jobs: Vec::new(),
            factors: Vec::new(),
            codecs: Vec::new(),
            cross_check: Vec::new(),
            month: None,
        };
        assert_eq!(newest(&comparison, [&older, &newer, &other]).unwrap().id, "newer");
        assert!(newest(&comparison, [&other]).is_none(), "only one side of it");
    }

    #[test]
    fn a_change_takes_away_its_share_of_the_difference() {
        let run = run_of(&[("a@http@x", 100.0), ("a@grpc@x", 400.0), ("b@http@x", 200.0)]);
        let question = Question {
            experiments: vec![Experiment {
                changes: "keep-alive".into(),
                pair: ["b@http@x".into(), "a@grpc@x".into()],
                cause: String::new(),
            }],
            ..question(claim(1.0, 2.0))
        };
        let tried = outcome(&question, &run).experiments.remove(0);
        assert!(
            (tried.share.unwrap() - 0.5).abs() < 0.01,
            "4 × becomes 2 ×: half, by logarithms"
        );
        assert!(tried.is_clear);
        let unchanged = Experiment {
            pair: ["a@http@x".into(), "a@grpc@x".into()],
            ..question.experiments[0].clone()
        };
        let question = Question {
            experiments: vec![unchanged],
            ..question
        };
        assert!(!outcome(&question, &run).experiments[0].is_clear, "nothing changed");
    }

    proptest! {
        #[test]
        fn sides_that_change_places_change_the_finding_of_neither(
            a in 1.0f64..1e6, b in 1.0f64..1e6, c in 1.0f64..1e6, d in 1.0f64..1e6, e in 1.0f64..1e6, f in 1.0f64..1e6
        ) {
            prop_assert_eq!(
                found(&claim(a, b), [c, d], [e, f]),
                found(&claim(b, a), [d, c], [f, e])
            );
        }
    }
}
