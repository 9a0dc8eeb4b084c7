//! Conclusions from the findings of a comparison, in sentences: other findings give other sentences.

use std::fmt::Write as _;

use crate::claims::findings;
use crate::claims::judged::{Finding, Outcome, TestedClaim, TriedExperiment};
use wirebench_present::report::format::plain;
use wirebench_present::report::head_to_head::times;

/// The claims that count: those that were published, each once.
pub(crate) fn counted<'a>(outcomes: &'a [Outcome]) -> impl Iterator<Item = &'a TestedClaim<'a>> {
    let questions = outcomes.iter().filter(|outcome| outcome.question.not_counted.is_none());
    questions.flat_map(|outcome| &outcome.claims)
}

/// The section: how many claims hold, then a line for each question.
pub(super) fn section(outcomes: &[Outcome]) -> String {
    let mut out = format!("**What it comes to**: {}\n\n", tally(outcomes));
    for outcome in outcomes {
        if let Some(line) = line(outcome) {
            let _ = writeln!(out, "- {line}");
        }
    }
    out.push('\n');
    out
}

/// `of 13 claims, 4 hold, 3 have the same direction but a far smaller size, 1 is contradicted, 5 cannot be
/// decided by this run.`
pub(crate) fn tally(outcomes: &[Outcome]) -> String {
    let of = |wanted: &[Finding]| {
        counted(outcomes)
            .filter(|tested| wanted.contains(&tested.finding))
            .count()
    };
    let far_smaller = counted(outcomes).filter(|tested| tested.is_far_smaller()).count();
    let holds = of(&[Finding::Holds, Finding::HoldsOnEqualTermsOnly]) - far_smaller;
    let counts = [
        (holds, ["holds", "hold"]),
        (
            far_smaller,
            [
                "has the same direction but a far smaller size",
                "have the same direction but a far smaller size",
            ],
        ),
        (
            of(&[Finding::Contradicted, Finding::Reverses]),
            ["is contradicted", "are contradicted"],
        ),
        (
            of(&[Finding::Vanishes]),
            ["vanishes on equal terms", "vanish on equal terms"],
        ),
        (
            of(&[Finding::FarSmallerIfAny]),
            [
                "shows less than half of the published difference, or none",
                "show less than half of the published difference, or none",
            ],
        ),
        (of(&[Finding::CannotTell]), ["cannot be decided by this run"; 2]),
        (of(&[Finding::NotMeasured]), ["was not measured", "were not measured"]),
    ];
    let counts: Vec<String> = (counts.into_iter())
        .filter(|(count, _)| *count > 0)
        .map(|(count, [one, many])| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    match counted(outcomes).count() {
        0 => "no claim is counted.".into(),
        1 => format!("its one claim: {}.", counts.join(", ")),
        count => format!("of {count} claims, {}.", counts.join(", ")),
    }
}

/// A question by its first claim, and the effect of each change on it; `None` if it was not measured.
fn line(outcome: &Outcome) -> Option<String> {
    let first = outcome
        .claims
        .first()
        .filter(|tested| tested.finding != Finding::NotMeasured)?;
    let measured =
        |shown: &Option<crate::claims::judged::MeasuredPair>| times(shown.as_ref().and_then(|shown| shown.times));
    let theirs = measured(&first.theirs);
    let equal = outcome.question.equal.as_ref().map(|_| measured(&first.equal));
    let ratios = match equal {
        Some(equal) => format!("{theirs} their way, {equal} on equal terms"),
        None => theirs,
    };
    Some(format!(
        "{}: {}: {} ({ratios}).{}",
        plain(&outcome.question.about),
        outcome.quantity().label(),
        findings::tested(first),
        changes(outcome)
    ))
}

/// The changes with a clear effect, the largest first; or that none has one.
fn changes(outcome: &Outcome) -> String {
    let measured: Vec<&TriedExperiment> = outcome
        .experiments
        .iter()
        .filter(|tried| tried.shown.is_some())
        .collect();
    if measured.is_empty() {
        return String::new();
    }
    let mut clear: Vec<&TriedExperiment> = measured.iter().copied().filter(|tried| tried.is_clear).collect();
    clear.sort_by(|one, other| size(other).total_cmp(&size(one)));
    if clear.is_empty() {
        let none = if measured.len() == 1 {
            "The one change tried has no effect"
        } else {
            "No change tried has an effect"
        };
        return format!(" {none} on it that this run can tell.");
    }
    let effects: Vec<String> = (clear.iter())
        .map(|tried| format!("\"{}\" {}", plain(&tried.experiment.changes), effect(tried)))
        .collect();
    format!(" Changing one thing: {}.", effects.join("; "))
}

/// How far a change moves the ratio, as a logarithm.
fn size(tried: &TriedExperiment) -> f64 {
    let times = tried.shown.as_ref().and_then(|shown| shown.times);
    tried
        .share
        .map_or_else(|| times.map_or(0.0, |times| times.times.ln().abs()), f64::abs)
}

/// The effect of a change on the difference; if there was no clear difference, the ratio after the change.
fn effect(tried: &TriedExperiment) -> String {
    match (tried.share, tried.shown.as_ref().and_then(|shown| shown.times)) {
        (Some(share), _) => in_words(share),
        (None, Some(after)) => format!("makes it {}", times(Some(after))),
        (None, None) => "changes it".into(),
    }
}

/// The effect of a change on a difference, from the share of it that the change takes away.
pub(super) fn in_words(share: f64) -> String {
    match share {
        share if share < -0.005 => "makes it larger".into(),
        share if share > 1.005 => "turns it around".into(),
        share => format!("takes away {:.0} %", share.max(0.0) * 100.0),
    }
}

/// The cause that an experiment tests: shown if the run tells the change from chance, else an inference.
pub(super) fn cause(tried: &TriedExperiment) -> String {
    let cause = plain(&tried.experiment.cause);
    if tried.is_clear {
        cause
    } else if tried.shown.is_some() {
        format!("{cause} (An inference: this run does not tell the change from chance.)")
    } else {
        format!("{cause} (An inference: not measured in this run.)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::judged::MeasuredPair;
    use crate::claims::publication::{Claim, Experiment, Quantity, Question};

    fn experiment() -> Experiment {
        Experiment {
            changes: "keep-alive".into(),
            pair: ["a@b@c", "a@d@c"].map(str::to_owned),
            cause: "Connections cost.".into(),
        }
    }

    fn question() -> Question {
        Question {
            about: "100 connections".into(),
            sides: ["HTTP".into(), "gRPC".into()],
            theirs: ["a@b@c", "a@d@c"].map(str::to_owned),
            equal: None,
            claims: vec![Claim {
                quantity: Quantity::ThroughputRps,
                values: [1.0, 2.0],
                called_equal: false,
            }],
            not_counted: None,
            experiments: vec![experiment()],
        }
    }

    fn shown() -> Option<MeasuredPair> {
        Some(MeasuredPair {
            values: [1.0, 2.0],
            times: None,
            doubt: None,
        })
    }

    fn outcome(question: &Question, finding: Finding, tried: (bool, Option<f64>)) -> Outcome<'_> {
        let claim = &question.claims[0];
        Outcome {
            question,
            claims: vec![TestedClaim {
                claim,
                theirs: shown(),
                equal: shown(),
                finding,
            }],
            server_cpu: None,
            experiments: vec![TriedExperiment {
                experiment: &question.experiments[0],
                shown: shown(),
                share: tried.1,
                is_clear: tried.0,
            }],
        }
    }

    #[test]
    fn a_change_has_its_effect_in_words() {
        let text = [-0.5, 0.0, 0.784, 1.0, 1.2].map(in_words);
        let expected = [
            "makes it larger",
            "takes away 0 %",
            "takes away 78 %",
            "takes away 100 %",
            "turns it around",
        ];
        assert_eq!(text, expected);
    }

    #[test]
    fn other_findings_are_other_sentences() {
        let question = question();
        let holds = [outcome(&question, Finding::Holds, (true, Some(0.6)))];
        let text = section(&holds);
        assert!(
            text.starts_with("**What it comes to**: its one claim: 1 holds.\n\n- 100 connections: requests/s: ✓ holds"),
            "{text}"
        );
        assert!(text.contains("\"keep-alive\" takes away 60 %."), "{text}");
        let reversed = [outcome(&question, Finding::Contradicted, (false, Some(0.1)))];
        let text = section(&reversed);
        assert!(
            text.contains("1 is contradicted.") && text.contains("The one change tried has no effect"),
            "{text}"
        );
        assert!(
            cause(&reversed[0].experiments[0])
                .ends_with("(An inference: this run does not tell the change from chance.)")
        );
        assert_eq!(cause(&holds[0].experiments[0]), "Connections cost.");
    }

    #[test]
    fn what_was_not_published_is_not_counted() {
        let mut question = question();
        question.not_counted = Some("no figure for lists".into());
        let outcomes = [outcome(&question, Finding::Holds, (true, None))];
        assert_eq!(
            (counted(&outcomes).count(), tally(&outcomes)),
            (0, "no claim is counted.".into())
        );
    }
}
