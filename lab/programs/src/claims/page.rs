//! HTTP or gRPC? The answer by job, and every published comparison that was put to the test: the content of a page of the
//! dashboard, from the findings of `docs/COMPARISONS.md`.

mod picture;

use askama::Template;

use self::picture::{Mark, Ratio, Row, picture};
use crate::claims::answer::{Answer, answers, cases, headline};
use crate::claims::audit::{Agreement, audited};
use crate::claims::figures::figure;
use crate::claims::judged::{Finding, MeasuredPair, Outcome, TestedClaim, judge, newest};
use crate::claims::publication::PublicComparison;
use crate::claims::{conclusions, findings};
use wirebench_present::report::format::{machines, three_digits};
use wirebench_present::report::head_to_head::times;
use wirebench_present::site::shown::{instant, name, sentence};
use wirebench_present::site::svg::Markup;
use wirebench_record::run::Run;

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    headline: String,
    cases: Vec<JobLine>,
    jobs: Vec<JobLine>,
    picture: Option<Markup>,
    comparisons: Vec<Section>,
}

/// The answer for one job.
struct JobLine {
    job: String,
    sentence: String,
}

/// One published comparison.
struct Section {
    letter: String,
    title: String,
    ran: String,
    advice: String,
    tally: String,
    /// The run that it is judged by.
    run: String,
    started: String,
    machine: String,
    picture: Option<Markup>,
    claims: Vec<ClaimLine>,
    /// What the published figures say against each other: figures, arithmetic, finding.
    contradictions: Vec<[String; 3]>,
}

/// One claim.
struct ClaimLine {
    about: String,
    quantity: &'static str,
    published: String,
    theirs: String,
    equal: String,
    finding: String,
    counted: bool,
}

/// The content of the page: each comparison judged by the newest of these runs that measured it.
///
/// # Errors
/// Never, as long as a string can be written.
pub fn render(comparisons: &[PublicComparison], runs: &[&Run]) -> Result<String, askama::Error> {
    let answers = answers(comparisons, runs);
    Page {
        headline: sentence(&headline(&answers)),
        cases: cases(&answers)
            .iter()
            .map(|(case, said)| JobLine {
                job: name(case),
                sentence: sentence(said),
            })
            .collect(),
        picture: of_jobs(&answers),
        jobs: answers.iter().map(job_line).collect(),
        comparisons: (comparisons.iter())
            .filter_map(|one| Some(section(one, newest(one, runs.iter().copied())?)))
            .collect(),
    }
    .render()
}

fn job_line(answer: &Answer) -> JobLine {
    JobLine {
        job: name(&answer.name()),
        sentence: sentence(&answer.sentence()),
    }
}

fn of_jobs(answers: &[Answer]) -> Option<Markup> {
    let rows: Vec<Row> = answers
        .iter()
        .filter_map(|answer| Some((name(&answer.name()), vec![(Mark::Dot, answer.server_cpu?.into())])))
        .collect();
    picture(&rows, "Server CPU per request, gRPC as a multiple of HTTP")
}

fn section(comparison: &PublicComparison, run: &Run) -> Section {
    let outcomes = judge(comparison, run);
    Section {
        letter: name(&comparison.letter),
        title: name(&comparison.title),
        ran: sentence(&comparison.ran),
        advice: sentence(&comparison.advice),
        tally: conclusions::tally(&outcomes),
        run: name(&run.id),
        started: instant(&run.started_at),
        machine: machines(run),
        picture: of_claims(&outcomes),
        claims: outcomes.iter().flat_map(claim_lines).collect(),
        contradictions: contradictions(comparison),
    }
}

/// Each measured claim: what was published, and ours on equal terms.
fn of_claims(outcomes: &[Outcome]) -> Option<Markup> {
    let row = |outcome: &Outcome, tested: &TestedClaim| {
        let equal = tested.equal.as_ref()?.times?;
        let claimed = tested.claimed().filter(|claimed| *claimed > 0.0)?;
        let published = Ratio {
            low: claimed,
            at: claimed,
            high: claimed,
        };
        let label = format!("{}: {}", outcome.question.about, tested.claim.quantity.label());
        Some((
            name(&label),
            vec![(Mark::Dot, equal.into()), (Mark::Diamond, published)],
        ))
    };
    let rows: Vec<Row> = outcomes
        .iter()
        .filter(|outcome| outcome.question.not_counted.is_none())
        .flat_map(|outcome| outcome.claims.iter().filter_map(move |tested| row(outcome, tested)))
        .collect();
    picture(&rows, "Second side as a multiple of the first")
}

fn claim_lines<'a>(outcome: &'a Outcome) -> impl Iterator<Item = ClaimLine> + 'a {
    let counted = outcome.question.not_counted.is_none();
    outcome.claims.iter().map(move |tested| {
        let measured = |shown: &Option<MeasuredPair>| times(shown.as_ref().and_then(|shown| shown.times));
        let [first, second] = tested.claim.values.map(figure);
        let ratio = tested
            .claimed()
            .map_or(String::new(), |ratio| format!(" (× {})", three_digits(ratio)));
        ClaimLine {
            about: name(&outcome.question.about),
            quantity: tested.claim.quantity.label(),
            published: format!("{first} → {second}{ratio}"),
            theirs: measured(&tested.theirs),
            equal: measured(&tested.equal),
            finding: findings::tested(tested),
            counted: counted && tested.finding != Finding::NotMeasured,
        }
    })
}

fn contradictions(comparison: &PublicComparison) -> Vec<[String; 3]> {
    let audits = comparison.audits.iter().map(|audit| (audit, audited(audit)));
    audits
        .filter(|(_, (_, agreement))| *agreement != Agreement::Consistent)
        .map(|(audit, (arithmetic, agreement))| {
            let finding = agreement.words().to_owned();
            [sentence(&audit.about), sentence(&arithmetic), finding]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_testing::reference;

    const NASTY: &str = "<script>alert(1)</script><img src=x onerror=alert(1)>";

    use crate::claims::publication::{Claim, Job, Quantity, Question};

    fn comparison() -> PublicComparison {
        let pair = ["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"].map(str::to_owned);
        PublicComparison {
            questions: vec![Question {
                about: "one question".into(),
                sides: ["HTTP".into(), "gRPC".into()],
                theirs: pair.clone(),
                equal: None,
                claims: vec![Claim {
                    quantity: Quantity::ThroughputRps,
                    values: [1785.0, 3745.0],
                    called_equal: false,
                }],
                not_counted: None,
                experiments: Vec::new(),
            }],
            jobs: vec![Job {
                case: None,
                group: "Called directly".into(),
                job: "a direct call".into(),
                sides: ["HTTP".into(), "gRPC".into()],
                pair,
            }],
            ..crate::claims::document::tests::comparison()
        }
    }

    #[test]
    fn the_answer_by_job_comes_first_and_claims_follow_with_their_pictures() {
        let run = reference();
        let page = render(&[comparison()], &[&run]).unwrap();
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text:?} in\n{page}"));
        assert!(at("By job, not by protocol.") < at("a direct call") && at("HTTP costs less.") < at("one question"));
        assert!(
            page.contains("× 2.10") && page.contains("✗ reversed here: × 0."),
            "{page}"
        );
        assert!(
            page.contains("✗ not the same question") && page.contains("<svg class=\"beside-one\""),
            "{page}"
        );
        assert!(!page.contains("**"), "Markdown is no HTML");
    }

    #[test]
    fn hostile_names_stay_names() {
        let mut hostile = comparison();
        hostile.letter = NASTY.into();
        hostile.title = NASTY.into();
        hostile.ran = NASTY.into();
        hostile.advice = NASTY.into();
        hostile.jobs[0].job = NASTY.into();
        hostile.questions[0].about = NASTY.into();
        hostile.audits[0].about = NASTY.into();
        let page = render(&[hostile], &[&reference()]).unwrap();
        assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    }
}
