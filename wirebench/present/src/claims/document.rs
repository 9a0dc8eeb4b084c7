//! docs/COMPARISONS.md: every public comparison, claim by claim, with what one run says of it.

use std::fmt::Write as _;

use crate::claims::audit::audited;
use crate::claims::{answer, words};
use crate::report::format::{machines, plain, three_digits, tools};
use crate::report::head_to_head::times;
use wirebench_declare::claims::PublicComparison;
use wirebench_judge::claims::{Finding, Outcome, Shown, Tested, judge};
use wirebench_record::run::{Run, VariantRevision};

/// The document, of the comparisons that the run measured anything for. `link` leads to the run's record.
#[must_use]
pub fn render(comparisons: &[PublicComparison], run: &Run, link: &str) -> String {
    let measured = |one: &&PublicComparison| {
        let needed = one.series();
        run.series.iter().any(|series| needed.contains(series.id.as_str()))
    };
    let judged: Vec<(&PublicComparison, Vec<Outcome>)> = (comparisons.iter().filter(measured))
        .map(|one| (one, judge(one, run)))
        .collect();
    let mut out = String::from("# Public comparisons of HTTP and gRPC, claim by claim\n\n");
    let _ = writeln!(
        out,
        "Written by `wirebench claims` from [one run]({link}) and the files of `claims/`; not edited by hand. Repeat it with `scripts/run.sh --profile {}`.\n",
        run.profile
    );
    out.push_str(&answer::section(&answer::answers(comparisons, run)));
    out.push_str("## Claim by claim\n\n");
    out.push_str(HOW_TO_READ);
    overview(&judged, &mut out);
    for (comparison, outcomes) in &judged {
        one(comparison, outcomes, &mut out);
    }
    machine(run, &mut out);
    out
}

const HOW_TO_READ: &str = "Every ratio is second side ÷ first side, as the table's head names them. *Theirs* is what was published. \
*Their way* repeats shape, tools and flags on this machine. *Equal terms* asks both sides with one client, the same connections, streams, keep-alive, runtime and warm-up. \
In brackets stands the 95 % interval over the rounds (of fewer than 6 rounds, their range). A published ratio within 2 % of 1 is called equal. A difference *vanishes* when its whole interval on equal terms lies within 10 % of 1; where the interval only holds 1, the finding is *can't tell*. \
A claim *holds* by its direction; where its size differs by more than a quarter (of the logarithm), that is said. \
**Absolute figures are this machine's and nobody else's; the ratios are what is compared.** † marks figures of rounds that failed one of wirebench's checks, with the reason below the table: \
they are shown because what was published was not checked either, and are used nowhere else.\n\n";

fn overview(judged: &[(&PublicComparison, Vec<Outcome>)], out: &mut String) {
    out.push_str("| | comparison | its advice | claims that hold | … reverse or vanish on equal terms | … are the other way round here | can't tell, not measured |\n|---|---|---|--:|--:|--:|--:|\n");
    for (comparison, outcomes) in judged {
        let count = |wanted: &[Finding]| {
            let claims = outcomes.iter().flat_map(|outcome| &outcome.claims);
            claims.filter(|tested| wanted.contains(&tested.finding)).count()
        };
        let _ = writeln!(
            out,
            "| [{0}](#{1}) | {2} | {3} | {4} | {5} | {6} | {7} |",
            comparison.letter,
            anchor(comparison),
            plain(&comparison.title),
            plain(&comparison.advice),
            count(&[Finding::Holds, Finding::HoldsOnEqualTermsOnly]),
            count(&[Finding::Reverses, Finding::Vanishes]),
            count(&[Finding::Contradicted]),
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

fn one(comparison: &PublicComparison, outcomes: &[Outcome], out: &mut String) {
    let _ = writeln!(out, "## {} {}\n", comparison.letter, plain(&comparison.title));
    let _ = writeln!(out, "**They ran**: {}\n", plain(&comparison.ran));
    let _ = writeln!(out, "**They advise**: {}\n", plain(&comparison.advice));
    if !comparison.differs.is_empty() {
        out.push_str("**Different here**:\n");
        for line in &comparison.differs {
            let _ = writeln!(out, "- {}", plain(line));
        }
        out.push('\n');
    }
    if let Some(why) = &comparison.why {
        let _ = writeln!(out, "**What it comes to**: {}\n", plain(why));
    }
    audits(comparison, out);
    for outcome in outcomes {
        question(outcome, out);
    }
    published(comparison, out);
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

fn claim(tested: &Tested, has_equal: bool, doubts: &mut Vec<String>, out: &mut String) {
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
        "| changing only this | {} | × | of the difference their way | because |\n|---|--:|--:|---|---|",
        outcome.quantity().label()
    );
    for (experiment, shown, share) in &outcome.experiments {
        let [values, ratio] = cells(shown.as_ref(), doubts);
        let share = share.map_or("–".into(), in_words);
        let _ = writeln!(
            out,
            "| {} | {values} | {ratio} | {share} | {} |",
            plain(&experiment.changes),
            plain(&experiment.cause)
        );
    }
    out.push('\n');
}

/// What a change does to a difference, from the share of it that it takes away.
fn in_words(share: f64) -> String {
    match share {
        share if share < -0.005 => "makes it larger".into(),
        share if share > 1.005 => "turns it around".into(),
        share => format!("takes away {:.0} %", share.max(0.0) * 100.0),
    }
}

/// Both medians, and the ratio with its interval.
fn cells(shown: Option<&Shown>, doubts: &mut Vec<String>) -> [String; 2] {
    let Some(shown) = shown else {
        return ["–".into(), "–".into()];
    };
    doubts.extend(shown.doubt.clone());
    let mark = if shown.doubt.is_some() { " †" } else { "" };
    let [first, second] = shown.values.map(figure);
    [format!("{first} → {second}{mark}"), times(shown.times)]
}

/// A figure of a table: whole from 100 on, with thousands separators.
pub(super) fn figure(value: f64) -> String {
    if value >= 99.95 {
        crate::report::format::count(value)
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
        "## Machine, tools, repeat\n\n- {}\n- {}\n- code: `{}`\n- run {}, {} rounds of each series, started {}, finished {}\n- repeat: `{}`",
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
mod tests {
    use super::*;
    use wirebench_declare::claims::{Audit, Check, Claim, Experiment, Job, Published, Quantity, Question};

    fn comparison() -> PublicComparison {
        PublicComparison {
            name: "c-tools".into(),
            letter: "C".into(),
            title: "fixed requests, mixed tools".into(),
            ran: "one call".into(),
            advice: "gRPC".into(),
            differs: vec!["two processes".into()],
            why: Some("clients differ".into()),
            questions: vec![Question {
                about: "throughput".into(),
                sides: ["HTTP".into(), "gRPC".into()],
                theirs: ["weather-fixed-count@http@hey", "weather-fixed-count@grpc@ghz"].map(str::to_owned),
                equal: Some(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"].map(str::to_owned)),
                claims: vec![Claim {
                    quantity: Quantity::ThroughputRps,
                    values: [1785.0, 3745.0],
                }],
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
            }],
        }
    }

    #[test]
    fn a_change_is_told_by_what_it_does_to_the_difference() {
        let said = [-0.5, 0.0, 0.784, 1.0, 1.2].map(in_words);
        let expected = [
            "makes it larger",
            "takes away 0 %",
            "takes away 78 %",
            "takes away 100 %",
            "turns it around",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_document_shows_their_ratio_ours_and_the_finding() {
        let mut run: Run = serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap();
        let text = render(&[comparison()], &run, "../results/x/run.json");
        for needed in [
            "| [C](#c-fixed-requests-mixed-tools) | fixed requests, mixed tools | gRPC | 0 |",
            "| requests/s | 1,785 → 3,745 | × 2.10 |",
            "## C fixed requests, mixed tools",
            "**What it comes to**: clients differ",
            "| ghz with h2load / x |",
            "? can't tell |",
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
        let doubted = render(&[comparison()], &run, "x");
        assert!(
            doubted.contains("† weather-fixed-count@grpc@h2load: 3 of 9 requests failed")
                || doubted.contains("† weather-fixed-count@http@h2load: 3 of 9 requests failed"),
            "{doubted}"
        );
    }
}
