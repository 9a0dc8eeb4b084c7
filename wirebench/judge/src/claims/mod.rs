//! Derives a finding for each claim from a run: the published ratio, ours measured their way, ours on equal terms, and
//! the effect of changing one thing.

mod quantity;

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
    /// Measured their way and on equal terms, the same side is better.
    Holds,
    /// Measured their way the same side is better; on equal terms the other one.
    Reverses,
    /// Measured their way the same side is better; on equal terms neither is, within 10 %.
    Vanishes,
    /// On this machine the other side is better either way.
    Contradicted,
    /// Only on equal terms the same side is better.
    HoldsOnEqualTermsOnly,
    /// Measured their way or on equal terms, neither side is clearly better here, and equality is not shown either.
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

    /// How our ratio on equal terms compares in size with theirs, for a claim that holds; `None` where it is the same size.
    #[must_use]
    pub fn size(&self) -> Option<Size> {
        let ours = self.equal.as_ref().and_then(|shown| shown.times)?;
        let claimed = self.claimed().filter(|_| self.finding == Finding::Holds)?;
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
    /// Each change, with the multiple it leads to (of the first claim's quantity) and the share of the difference that it
    /// takes away, where there is a clear one.
    pub experiments: Vec<(&'a Experiment, Option<Shown>, Option<f64>)>,
}

impl Outcome<'_> {
    /// The quantity for experiments: that of the first claim.
    #[must_use]
    pub fn quantity(&self) -> Quantity {
        self.question.claims[0].quantity
    }
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
    let before = claims.first().and_then(|tested| tested.theirs.as_ref()?.times);
    let experiments = question.experiments.iter().map(|experiment| {
        let shown = shown(quantity, &experiment.pair, run);
        let after = shown.as_ref().and_then(|shown| shown.times);
        (experiment, shown, taken_away(before, after))
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
    Neither,
}

fn finding(claim: &Claim, theirs: Option<&Shown>, equal: Option<&Shown>) -> Finding {
    let (Some(theirs), Some(equal)) = (theirs, equal) else {
        return Finding::NotMeasured;
    };
    let claimed = by_value(claim.quantity, claim.values, EQUAL_WITHIN);
    let has_vanished = equal.times.is_none_or(|times| times.is_within(VANISHED_WITHIN));
    let [theirs, equal] = [theirs, equal].map(|shown| by_interval(claim.quantity, shown));
    match (theirs == claimed, equal == claimed) {
        (true, true) => Finding::Holds,
        (true, false) if equal != Better::Neither => Finding::Reverses,
        (true, false) if has_vanished => Finding::Vanishes,
        (true, false) => Finding::CannotTell,
        (false, true) => Finding::HoldsOnEqualTermsOnly,
        (false, false) if theirs == Better::Neither => Finding::CannotTell,
        (false, false) => Finding::Contradicted,
    }
}

fn by_value(quantity: Quantity, [first, second]: [f64; 2], tolerance: f64) -> Better {
    if (second - first).abs() <= tolerance * first.max(second) {
        return Better::Neither;
    }
    if (second > first) == quantity.more_is_better() {
        Better::Second
    } else {
        Better::First
    }
}

/// There is a difference if equality is outside its interval; with zeros, and so without a ratio, the medians decide.
/// Differences below the limit for equal claims are equal.
fn by_interval(quantity: Quantity, shown: &Shown) -> Better {
    match shown.times {
        Some(times) if times.is_clear() => by_value(quantity, [1.0, times.times], EQUAL_WITHIN),
        Some(_) => Better::Neither,
        None => by_value(quantity, shown.values, EQUAL_WITHIN),
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
            experiments: Vec::new(),
        }
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
        assert_eq!(found(&better, [100.0, 100.0], [100.0, 70.0]), Finding::CannotTell);
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
        let (_, _, share) = outcome(&question, &run).experiments.remove(0);
        assert!(
            (share.unwrap() - 0.5).abs() < 0.01,
            "4 × becomes 2 ×: half, by logarithms"
        );
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
