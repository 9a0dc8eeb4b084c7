//! docs/COMPARISONS.md: every public comparison, claim by claim, with what one run says of it.

use std::fmt::Write as _;

use crate::claims::audit::audited;
use crate::claims::{answer, codecs, comes_to, cross_check, factors, month, words};
use crate::report::format::{count, machines, plain, three_digits, time, tools};
use crate::report::head_to_head::times;
use wirebench_declare::claims::PublicComparison;
use wirebench_declare::prices::Prices;
use wirebench_judge::claims::{Finding, MeasuredPair, Outcome, TestedClaim, judge, newest};
use wirebench_record::run::{Run, VariantRevision};

/// A run that the document is of.
#[derive(Debug)]
pub struct Told {
    /// The record.
    pub run: Run,
    /// Where the document's readers find it.
    pub link: String,
}

/// The document, of the comparisons that the runs measured anything for, each by the newest run that did; monthly estimates are
/// in money where there are prices.
#[must_use]
pub fn render(comparisons: &[PublicComparison], told: &[Told], prices: Option<&Prices>) -> String {
    let runs: Vec<&Run> = told.iter().map(|told| &told.run).collect();
    let judged: Vec<Judged> = (comparisons.iter())
        .filter_map(|comparison| Some((comparison, newest(comparison, runs.iter().copied())?)))
        .map(|(comparison, run)| (comparison, run, judge(comparison, run)))
        .collect();
    let mut out = String::from("# Public comparisons of HTTP and gRPC, claim by claim\n\n");
    let _ = writeln!(
        out,
        "Written by `wirebench claims` from {} and the files of `claims/`; not edited by hand. {}\n",
        linked(told),
        match told {
            [] => String::new(),
            [one] => format!("Repeat it with `scripts/run.sh --profile {}`.", one.run.profile),
            _ => "Repeat them with `scripts/comparisons.sh`.".into(),
        }
    );
    out.push_str(&answer::section(&answer::answers(comparisons, &runs)));
    out.push_str("## Claim by claim\n\n");
    out.push_str(HOW_TO_READ);
    overview(&judged, &mut out);
    for (comparison, run, outcomes) in &judged {
        one(comparison, outcomes, (run, prices), &mut out);
    }
    out.push_str("## Machine, tools, repeat\n\n");
    for told in told {
        machine(&told.run, &mut out);
    }
    out
}

/// A comparison, the run that it is judged by, and what came of it.
type Judged<'a> = (&'a PublicComparison, &'a Run, Vec<Outcome<'a>>);

/// `[one run](LINK)`, or several.
fn linked(told: &[Told]) -> String {
    match told {
        [one] => format!("[one run]({})", one.link),
        all => {
            let links: Vec<String> = (all.iter().zip(1..))
                .map(|(one, number)| format!("[run {number}]({})", one.link))
                .collect();
            links.join(", ")
        }
    }
}

const HOW_TO_READ: &str = "Every ratio is second side ÷ first side, as the table's head names them. *Theirs* is what was published, and the quotient of it. \
*Their way* repeats shape, tools and flags on this machine. *Equal terms* asks both sides with one client, the same connections, streams, keep-alive, runtime and warm-up. \
Our ratios are Hodges–Lehmann estimates over rounds of the same number, so they need not be the quotient of the two medians beside them; in brackets stands their 95 % interval (of fewer than 6 rounds, their range). \
A claim *holds* by its direction; where its size differs by more than a quarter (of the logarithm), both sizes are said. It is *reversed* where the other side is better, \
and a difference *vanishes* only when its whole interval on equal terms lies within 10 % of 1. A published ratio within 2 % of 1 claims equality, which holds only with such an interval. All else is *can't tell*. \
A cause is shown by its experiment where the intervals before and after the change have nothing in common; elsewhere it is called an inference. \
**Absolute figures are this machine's and nobody else's; the ratios are what is compared.** † marks figures of rounds that failed one of wirebench's checks, with the reason below the table: \
they are shown because what was published was not checked either, and are used nowhere else.\n\n";

fn overview(judged: &[Judged], out: &mut String) {
    out.push_str("| | comparison | its advice | claims that hold | are reversed | vanish on equal terms | can't tell, not measured |\n|---|---|---|--:|--:|--:|--:|\n");
    for (comparison, _, outcomes) in judged {
        let count = |wanted: &[Finding]| {
            comes_to::counted(outcomes)
                .filter(|tested| wanted.contains(&tested.finding))
                .count()
        };
        let _ = writeln!(
            out,
            "| [{0}](#{1}) | {2} | {3} | {4} | {5} | {6} | {7} |",
            comparison.letter,
            anchor(comparison),
            plain(&comparison.title),
            plain(&comparison.advice),
            count(&[Finding::Holds, Finding::HoldsOnEqualTermsOnly]),
            count(&[Finding::Contradicted, Finding::Reverses]),
            count(&[Finding::Vanishes]),
            count(&[Finding::CannotTell, Finding::NotMeasured])
        );
    }
    out.push('\n');
}

/// The heading's address, as GitHub makes it.
fn anchor(comparison: &PublicComparison) -> String {
    let heading = format!("{} {}", comparison.letter, comparison.title).to_lowercase();
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn one(comparison: &PublicComparison, outcomes: &[Outcome], (run, prices): (&Run, Option<&Prices>), out: &mut String) {
    let _ = writeln!(out, "## {} {}\n", comparison.letter, plain(&comparison.title));
    let _ = writeln!(out, "**They ran**: {}\n", plain(&comparison.ran));
    let _ = writeln!(out, "**They advise**: {}\n", plain(&comparison.advice));
    out.push_str("**Different here**:\n");
    for line in &comparison.differs {
        let _ = writeln!(out, "- {}", plain(line));
    }
    let _ = writeln!(out, "- {}\n", rounds(comparison, run));
    out.push_str(&comes_to::section(outcomes));
    audits(comparison, out);
    for outcome in outcomes {
        question(outcome, out);
    }
    out.push_str(&factors::section(&comparison.factors, run));
    out.push_str(&codecs::section(&comparison.codecs, run));
    out.push_str(&cross_check::section(&comparison.cross_check, run));
    if let Some(estimate) = &comparison.month {
        out.push_str(&month::section(estimate, run, prices));
    }
    published(comparison, out);
}

/// How many rounds there were of the series that repeat a publication its way, and how long each was.
#[expect(
    clippy::cast_precision_loss,
    reason = "requests and nanoseconds of one round stay far below 2^53"
)]
fn rounds(comparison: &PublicComparison, run: &Run) -> String {
    let asked = comparison.questions.iter().flat_map(|question| &question.theirs);
    let mut lengths: Vec<String> = Vec::new();
    for series in asked.filter_map(|id| run.series.iter().find(|one| one.id == *id)) {
        let stages = || series.load.stages.iter().map(|stage| stage.duration_ns).sum::<u64>();
        let length = match (series.load.requests, series.load.duration_ns) {
            (Some(requests), _) => format!("{} requests", count(requests as f64)),
            (None, Some(ns)) => time(ns as f64),
            (None, None) => format!("{} in stages", time(stages() as f64)),
        };
        if !lengths.contains(&length) {
            lengths.push(length);
        }
    }
    format!(
        "{} rounds of each series, in turn, of {}.",
        run.rounds_planned,
        lengths.join(", or ")
    )
}

/// What published figures say against each other.
fn audits(comparison: &PublicComparison, out: &mut String) {
    if comparison.audits.is_empty() {
        return;
    }
    out.push_str(
        "**Held against themselves**: arithmetic on what was published, and on what scripts and flags say; nothing is measured for it.\n\n\
         | published figures | arithmetic | finding | likely explained by |\n|---|---|---|---|\n",
    );
    for audit in &comparison.audits {
        let (arithmetic, agreement) = audited(audit);
        let explained = match (&audit.explained_by, &audit.shown_by) {
            (Some(cause), Some(shown)) => format!("{} Shown by {}.", plain(cause), plain(shown)),
            (Some(cause), None) => format!("{} (An inference.)", plain(cause)),
            (None, _) => "–".into(),
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {explained} |",
            plain(&audit.about),
            plain(&arithmetic),
            agreement.words()
        );
    }
    out.push('\n');
}

/// Every figure as it was printed, folded away.
fn published(comparison: &PublicComparison, out: &mut String) {
    if comparison.published.is_empty() {
        return;
    }
    out.push_str("<details><summary>Every published figure, as printed</summary>\n\n| what | figures |\n|---|---|\n");
    for one in &comparison.published {
        let _ = writeln!(out, "| {} | {} |", plain(&one.what), plain(&one.printed.join(" → ")));
    }
    out.push('\n');
    for one in &comparison.left_out {
        let _ = writeln!(out, "- Left out: {}", plain(one));
    }
    out.push_str("\n</details>\n\n");
}

fn question(outcome: &Outcome, out: &mut String) {
    let asked = outcome.question;
    let [first, second] = &asked.sides;
    let _ = writeln!(out, "### {}\n", plain(&asked.about));
    if let Some(reason) = &asked.not_counted {
        let _ = writeln!(out, "Not counted as a claim: {}.\n", plain(reason));
    }
    let _ = writeln!(
        out,
        "| {first} → {second} | theirs | × | ours, their way | × | on equal terms | × | finding |\n|---|--:|--:|--:|--:|--:|--:|---|"
    );
    let mut doubts: Vec<String> = Vec::new();
    for tested in &outcome.claims {
        claim(tested, asked.equal.is_some(), &mut doubts, out);
    }
    out.push('\n');
    let _ = writeln!(
        out,
        "Their way: `{}` → `{}`. Equal terms: {}. Server CPU per request on equal terms: {}.\n",
        asked.theirs[0],
        asked.theirs[1],
        asked
            .equal
            .as_ref()
            .map_or("the same".into(), |pair| format!("`{}` → `{}`", pair[0], pair[1])),
        times(outcome.server_cpu)
    );
    experiments(outcome, &mut doubts, out);
    doubts.sort_unstable();
    doubts.dedup();
    for doubt in doubts {
        let _ = writeln!(out, "† {}\n", plain(&doubt));
    }
}

fn claim(tested: &TestedClaim, has_equal: bool, doubts: &mut Vec<String>, out: &mut String) {
    let [first, second] = tested.claim.values;
    let ratio = tested
        .claimed()
        .map_or("–".into(), |ratio| format!("× {}", three_digits(ratio)));
    let theirs = cells(tested.theirs.as_ref(), doubts);
    let equal = if has_equal {
        cells(tested.equal.as_ref(), doubts)
    } else {
        ["the same".into(), String::new()]
    };
    let _ = writeln!(
        out,
        "| {} | {} → {} | {ratio} | {} | {} | {} | {} | {} |",
        tested.claim.quantity.label(),
        figure(first),
        figure(second),
        theirs[0],
        theirs[1],
        equal[0],
        equal[1],
        words::tested(tested)
    );
}

fn experiments(outcome: &Outcome, doubts: &mut Vec<String>, out: &mut String) {
    if outcome.experiments.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "| changing only this | {} | × | of the difference their way | cause |\n|---|--:|--:|---|---|",
        outcome.quantity().label()
    );
    for tried in &outcome.experiments {
        let [values, ratio] = cells(tried.shown.as_ref(), doubts);
        let share = tried.share.map_or("–".into(), comes_to::in_words);
        let _ = writeln!(
            out,
            "| {} | {values} | {ratio} | {share} | {} |",
            plain(&tried.experiment.changes),
            comes_to::cause(tried)
        );
    }
    out.push('\n');
}

/// Both medians, and the ratio with its interval.
fn cells(shown: Option<&MeasuredPair>, doubts: &mut Vec<String>) -> [String; 2] {
    let Some(shown) = shown else {
        return ["–".into(), "–".into()];
    };
    doubts.extend(shown.doubt.clone());
    let mark = if shown.doubt.is_some() { " †" } else { "" };
    let [first, second] = shown.values.map(figure);
    [format!("{first} → {second}{mark}"), times(shown.times)]
}

/// A figure of a table: whole from 100 on, with thousands separators.
pub(crate) fn figure(value: f64) -> String {
    if value >= 99.95 {
        count(value)
    } else if value == 0.0 {
        "0".into()
    } else {
        three_digits(value)
    }
}

fn machine(run: &Run, out: &mut String) {
    let commit = |revision: &VariantRevision| revision.commit.clone().unwrap_or_else(|| "no commit".into());
    let commits: Vec<String> = run.variants.iter().map(commit).collect();
    let _ = writeln!(
        out,
        "- {}\n- {}\n- code: `{}`\n- run {}, {} rounds of each series, started {}, finished {}\n- repeat: `{}`",
        machines(run),
        tools(&run.tools),
        commits.join(", "),
        run.id,
        run.rounds_planned,
        run.started_at,
        run.finished_at,
        plain(&run.repeat)
    );
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use wirebench_declare::claims::{Audit, Check, Claim, Experiment, Job, Published, Quantity, Question};

    pub(crate) fn comparison() -> PublicComparison {
        PublicComparison {
            name: "c-tools".into(),
            letter: "C".into(),
            title: "fixed requests, mixed tools".into(),
            ran: "one call".into(),
            advice: "gRPC".into(),
            differs: vec!["two processes".into()],
            questions: vec![Question {
                about: "throughput".into(),
                sides: ["HTTP".into(), "gRPC".into()],
                theirs: ["weather-fixed-count@http@hey", "weather-fixed-count@grpc@ghz"].map(str::to_owned),
                equal: Some(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"].map(str::to_owned)),
                claims: vec![Claim {
                    quantity: Quantity::ThroughputRps,
                    values: [1785.0, 3745.0],
                }],
                not_counted: None,
                experiments: vec![Experiment {
                    changes: "ghz with h2load | x".into(),
                    pair: ["weather-fixed-count@http@hey", "weather-fixed-count@grpc@h2load"].map(str::to_owned),
                    cause: "the client".into(),
                }],
            }],
            published: vec![Published {
                what: "requests/s".into(),
                printed: vec!["1,785".into(), "3,745".into()],
            }],
            left_out: vec!["prices: not given".into()],
            audits: vec![Audit {
                about: "gRPC".into(),
                check: Check::NotTheSame {
                    because: "two cities".into(),
                },
                explained_by: Some("The script.".into()),
                shown_by: None,
            }],
            jobs: vec![Job {
                job: "a direct call".into(),
                sides: ["HTTP".into(), "gRPC".into()],
                pair: ["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"].map(str::to_owned),
                rank: None,
            }],
            factors: Vec::new(),
            codecs: Vec::new(),
            cross_check: Vec::new(),
            month: None,
        }
    }

    #[test]
    fn a_document_shows_their_ratio_ours_and_the_finding() {
        let mut run: Run = serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap();
        let told = |run: &Run| Told {
            run: run.clone(),
            link: "../results/x/run.json".into(),
        };
        let text = render(&[comparison()], &[told(&run)], None);
        for needed in [
            "| [C](#c-fixed-requests-mixed-tools) | fixed requests, mixed tools | gRPC | 0 |",
            "| requests/s | 1,785 → 3,745 | × 2.10 |",
            "## C fixed requests, mixed tools",
            "**What it comes to**: its one claim: ",
            "**By job, not by protocol.** Of 1 jobs that were measured,",
            "| ghz with h2load / x |",
            "⇄ reversed on equal terms: × ",
            "- **a direct call**: HTTP costs less.",
            "| gRPC | two cities | ✗ not the same question | The script. (An inference.) |",
            "| requests/s | 1,785 → 3,745 |\n",
            "- Left out: prices: not given",
        ] {
            assert!(text.contains(needed), "no {needed:?} in\n{text}");
        }
        assert!(
            !text.contains('†') || text.matches('†').count() == 1,
            "only the legend speaks of †"
        );
        for round in run.series.iter_mut().flat_map(|series| &mut series.rounds) {
            round.reason = Some("3 of 9 requests failed".into());
        }
        let doubted = render(&[comparison()], &[told(&run)], None);
        let two = render(&[comparison()], &[told(&run), told(&run)], None);
        assert!(
            two.contains("from [run 1](../results/x/run.json), [run 2](../results/x/run.json) and"),
            "{two}"
        );
        assert!(
            doubted.contains("† weather-fixed-count@grpc@h2load: 3 of 9 requests failed")
                || doubted.contains("† weather-fixed-count@http@h2load: 3 of 9 requests failed"),
            "{doubted}"
        );
    }
}
