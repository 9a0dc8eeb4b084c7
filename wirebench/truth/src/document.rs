//! Renders docs/TRUTH.md from a stored table: the confusion table, and one row for each change and each null.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use wirebench_present::report::format::{machine, plain, shortened, three_digits};
use wirebench_record::truth::{Blame, Carrier, Expect, Finding, Outcome, Session, TruthTable};

/// Characters of a function's name that are shown.
const NAME: usize = 80;
/// Characters of a reason that are shown.
const REASON: usize = 200;

/// The document. `left` are the comparisons of `truth/` that the table does not have.
#[must_use]
pub fn render(table: &TruthTable, left: &[String]) -> String {
    let mut out = String::from("# The truth table: is a verdict right?\n\n");
    let _ = writeln!(
        out,
        "Written by `wirebench truth` from the rows of `truth/`; not edited by hand. Each row is a change whose right answer is known. \
         wirebench compares the change with the commit before it, the way a pull request is compared, in profile `quick`; \
         the verdict is then held against the row.\n"
    );
    if !left.is_empty() {
        let _ = writeln!(
            out,
            "**This table is not complete: it holds {} of {} comparisons.** Not made yet: {}.\n",
            table.outcomes.len(),
            table.outcomes.len() + left.len(),
            left.iter()
                .map(|name| format!("`{}`", plain(name)))
                .collect::<Vec<_>>()
                .join(", ")
        );
    }
    confusion(table, &mut out);
    targets(table, &mut out);
    changes(table, &mut out);
    nulls(table, &mut out);
    failures(table, &mut out);
    sessions(table, &mut out);
    out
}

/// Only the confusion table, also for a terminal.
pub fn confusion(table: &TruthTable, out: &mut String) {
    out.push_str(
        "| code | changes | found | missed | false | unclear | error | wrong function | nulls | right | same program | false | unclear | error | minutes |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut codes: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for one in &table.outcomes {
        codes.entry(&one.code).or_default().push(one);
    }
    for (code, outcomes) in &codes {
        confusion_row(&plain(code), outcomes, out);
    }
    let all: Vec<&Outcome> = table.outcomes.iter().collect();
    confusion_row("**all**", &all, out);
    out.push('\n');
}

fn confusion_row(code: &str, outcomes: &[&Outcome], out: &mut String) {
    let (nulls, changes): (Vec<&Outcome>, Vec<&Outcome>) = outcomes.iter().partition(|one| is_null(one));
    let count = |of: &[&Outcome], finding| of.iter().filter(|one| one.finding == finding).count();
    let wrong = changes.iter().filter(|one| one.blame == Some(Blame::Wrong)).count();
    let same = nulls
        .iter()
        .filter(|one| one.same_program && one.finding == Finding::Right)
        .count();
    let minutes: f64 = outcomes.iter().map(|one| one.seconds).sum::<f64>() / 60.0;
    let _ = writeln!(
        out,
        "| {code} | {} | {} | {} | {} | {} | {} | {wrong} | {} | {} | {same} | {} | {} | {} | {minutes:.0} |",
        changes.len(),
        count(&changes, Finding::Right),
        count(&changes, Finding::Missed),
        count(&changes, Finding::False),
        count(&changes, Finding::Unclear),
        count(&changes, Finding::Error),
        nulls.len(),
        count(&nulls, Finding::Right),
        count(&nulls, Finding::False),
        count(&nulls, Finding::Unclear),
        count(&nulls, Finding::Error),
    );
}

fn is_null(outcome: &Outcome) -> bool {
    outcome.expect == Expect::Same
}

/// True if the measured change is smaller than its row's smallest size, so that it need not be found.
fn is_smaller(outcome: &Outcome) -> bool {
    let seen = outcome.carrier.as_ref().and_then(|carrier| carrier.effect_percent);
    match (seen, outcome.smallest_percent) {
        (Some(seen), Some(smallest)) => seen.abs() < smallest,
        _ => false,
    }
}

/// The targets of the table, and the results.
fn targets(table: &TruthTable, out: &mut String) {
    let (nulls, changes): (Vec<&Outcome>, Vec<&Outcome>) = table.outcomes.iter().partition(|one| is_null(one));
    let false_nulls = nulls.iter().filter(|one| one.finding == Finding::False).count();
    let large: Vec<&&Outcome> = changes.iter().filter(|one| !is_smaller(one)).collect();
    let found = large.iter().filter(|one| one.finding == Finding::Right).count();
    let blamed: Vec<Blame> = changes.iter().filter_map(|one| one.blame).collect();
    let first = blamed.iter().filter(|blame| **blame == Blame::First).count();
    let own = blamed.iter().filter(|blame| **blame != Blame::Wrong).count();
    let kinds = |of: &[&Outcome]| of.iter().map(|one| &one.kind).collect::<BTreeSet<_>>().len();
    let rows = |of: &[&Outcome]| of.iter().map(|one| &one.row).collect::<BTreeSet<_>>().len();
    let longest = table.outcomes.iter().map(|one| one.seconds).fold(0.0, f64::max) / 60.0;
    let _ = writeln!(
        out,
        "| must reach | reached |\n|---|---|\n\
         | no null called regressed, improved or invalid | {false_nulls} of {} comparisons ({} rows, {} kinds) |\n\
         | ≥ 95 % of the changes above their smallest size found | {} of {} kinds in {} rows |\n\
         | the function to blame is in the list in ≥ 90 % of the counted changes | {} |\n\
         | … and the first of it in ≥ 75 % | {} |\n\
         | ten minutes a row at most | longest {longest:.1} |\n",
        nulls.len(),
        rows(&nulls),
        kinds(&nulls),
        share(found, large.len()),
        kinds(&changes),
        rows(&changes),
        share(own, blamed.len()),
        share(first, blamed.len()),
    );
}

fn share(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "not measured".into();
    }
    #[expect(clippy::cast_precision_loss, reason = "rows stay far below 2^53")]
    let percent = part as f64 / whole as f64 * 100.0;
    format!("{part} of {whole} ({percent:.0} %)")
}

fn changes(table: &TruthTable, out: &mut String) {
    out.push_str(
        "## Changes\n\nA change is found if the comparison's verdict is the expected one and one of the row's metrics carries it. \
         *Smallest* is the size from which on the row has to be found. *Functions* are the first of the list of changed functions; \
         the function to blame is in bold.\n\n\
         | change | code | what was done | expected | finding | carried by | change | smallest | functions | min |\n\
         |---|---|---|---|---|---|--:|--:|---|--:|\n",
    );
    for one in table.outcomes.iter().filter(|one| !is_null(one)) {
        let (metric, effect) = carried(one.carrier.as_ref());
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {metric} | {effect} | {} | {} | {:.1} |",
            name(one),
            plain(&one.code),
            plain(&one.about),
            expected(one.expect),
            finding(one),
            one.smallest_percent
                .map_or("–".into(), |percent| format!("{} %", three_digits(percent))),
            functions(one),
            one.seconds / 60.0
        );
    }
    out.push('\n');
}

fn nulls(table: &TruthTable, out: &mut String) {
    out.push_str(
        "## Nulls\n\nNothing that a request costs differs. *Same program*: both sides run equal code and data, so nothing was measured.\n\n\
         | null | kind | code | what was done | finding | min |\n|---|---|---|---|---|--:|\n",
    );
    for one in table.outcomes.iter().filter(|one| is_null(one)) {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {:.1} |",
            name(one),
            plain(&one.kind),
            plain(&one.code),
            plain(&one.about),
            finding(one),
            one.seconds / 60.0
        );
    }
    out.push('\n');
}

/// Every outcome that is not right, with its reason.
fn failures(table: &TruthTable, out: &mut String) {
    let wrong: Vec<&Outcome> = (table.outcomes.iter())
        .filter(|one| one.finding != Finding::Right)
        .collect();
    if wrong.is_empty() {
        return;
    }
    out.push_str("## Not right\n\n");
    for one in wrong {
        let (metric, effect) = carried(one.carrier.as_ref());
        let _ = writeln!(
            out,
            "- `{}`: {}; {metric} {effect}: {}",
            name(one),
            finding(one),
            shortened(&plain(&one.reason), REASON)
        );
    }
    out.push('\n');
}

fn sessions(table: &TruthTable, out: &mut String) {
    out.push_str("## Machine, repeat\n\n");
    let first = Session {
        commit: table.commit.clone(),
        wirebench: table.wirebench.clone(),
        started_at: table.started_at.clone(),
        host: table.host.clone(),
    };
    for (at, session) in std::iter::once(&first).chain(&table.later).enumerate() {
        let of_session: Vec<&Outcome> = table.outcomes.iter().filter(|one| one.session == at).collect();
        let minutes: f64 = of_session.iter().map(|one| one.seconds).sum::<f64>() / 60.0;
        let _ = writeln!(
            out,
            "- {} comparisons in {minutes:.0} minutes, begun {}: {}; wirebench {}, code `{}`",
            of_session.len(),
            plain(&session.started_at),
            machine(&session.host),
            plain(&session.wirebench),
            plain(&session.commit),
        );
    }
    out.push_str(
        "- repeat: `wirebench truth`; go on with this table: `wirebench truth --resume truth/table.json`; \
         one row: `wirebench truth --row NAME`; the rows there are: `wirebench truth --list`\n",
    );
}

fn name(outcome: &Outcome) -> String {
    if outcome.number == 1 {
        plain(&outcome.row)
    } else {
        format!("{} ({})", plain(&outcome.row), outcome.number)
    }
}

const fn expected(expect: Expect) -> &'static str {
    match expect {
        Expect::Same => "same",
        Expect::Regressed => "regressed",
        Expect::Informative => "worse, informative",
        Expect::Improved => "improved",
        Expect::Invalid => "invalid, with the reason",
    }
}

fn finding(outcome: &Outcome) -> String {
    let word = match (outcome.finding, is_null(outcome)) {
        (Finding::Right, true) if outcome.same_program => "✓ same program",
        (Finding::Right, true) => "✓ unchanged",
        (Finding::Right, false) => "✓ found",
        (Finding::Missed, _) if is_smaller(outcome) => "missed, smaller than its smallest size",
        (Finding::Missed, _) => "✗ missed",
        (Finding::False, _) => "✗ false",
        (Finding::Unclear, _) => "? unclear",
        (Finding::Error, _) => "! error",
    };
    word.to_owned()
}

fn carried(carrier: Option<&Carrier>) -> (String, String) {
    let Some(carrier) = carrier else {
        return ("–".into(), "–".into());
    };
    let effect = carrier.effect_percent.map_or("from 0".into(), |percent| {
        let sign = if percent < 0.0 { '−' } else { '+' };
        format!("{sign}{} %", three_digits(percent.abs()))
    });
    (carrier.metric.label().to_owned(), effect)
}

fn functions(outcome: &Outcome) -> String {
    let (Some(function), Some(blame)) = (&outcome.function, outcome.blame) else {
        return "–".into();
    };
    let shown = |one: &String| {
        let text = shortened(&plain(one), NAME);
        if one.contains(function) {
            format!("**`{text}`**")
        } else {
            format!("`{text}`")
        }
    };
    let few: Vec<String> = outcome.functions.iter().take(2).map(shown).collect();
    let rest = match blame {
        Blame::First => String::new(),
        Blame::Named => format!("; `{}` after others", plain(function)),
        Blame::Wrong => format!("; no `{}`", plain(function)),
    };
    format!("{}{rest}", few.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::comparison::Verdict;
    use wirebench_record::metric::Metric;
    use wirebench_record::truth::SCHEMA;
    use wirebench_testing::golden;

    fn outcome(row: &str, expect: Expect, finding: Finding) -> Outcome {
        let null = expect == Expect::Same;
        Outcome {
            row: row.into(),
            number: 1,
            about: "a | change".into(),
            kind: if null { "comment" } else { "lock" }.into(),
            code: "Rust HTTP".into(),
            expect,
            smallest_percent: (!null).then_some(3.0),
            function: (!null).then(|| "current_weather".into()),
            finding,
            same_program: false,
            verdict: Some(Verdict::Regressed),
            carrier: (!null).then(|| Carrier {
                series: "count-weather@http@hey".into(),
                metric: Metric::Instructions,
                verdict: Verdict::Regressed,
                effect_percent: Some(4.25),
            }),
            blame: (!null).then_some(Blame::First),
            functions: vec!["domain::weather::current_weather".into(), "malloc".into()],
            session: 0,
            reason: String::new(),
            seconds: 90.0,
        }
    }

    fn table(outcomes: Vec<Outcome>) -> TruthTable {
        TruthTable {
            schema: SCHEMA.into(),
            commit: "1".repeat(40),
            wirebench: "0.1.0".into(),
            started_at: "2026-01-01T00:00:00Z".into(),
            host: golden("regressed").host,
            later: Vec::new(),
            outcomes,
        }
    }

    #[test]
    fn the_confusion_table_counts_by_code() {
        let mut same = outcome("b", Expect::Same, Finding::Right);
        same.same_program = true;
        let mut wrong = outcome("c", Expect::Regressed, Finding::Right);
        (wrong.blame, wrong.code) = (Some(Blame::Wrong), "Rust gRPC".into());
        let text = render(
            &table(vec![
                outcome("a", Expect::Regressed, Finding::Right),
                outcome("d", Expect::Regressed, Finding::Missed),
                wrong,
                same,
                outcome("e", Expect::Same, Finding::False),
            ]),
            &[],
        );
        for needed in [
            "| Rust HTTP | 2 | 1 | 1 | 0 | 0 | 0 | 0 | 2 | 1 | 1 | 1 | 0 | 0 | 6 |",
            "| Rust gRPC | 1 | 1 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 2 |",
            "| **all** | 3 | 2 | 1 | 0 | 0 | 0 | 1 | 2 | 1 | 1 | 1 | 0 | 0 | 8 |",
            "| 1 of 2 comparisons (2 rows, 1 kinds) |",
            "| 2 of 3 (67 %) of 1 kinds in 3 rows |",
            "| a / change | regressed | ✓ found | instructions per request | +4.25 % | 3.00 % | **`domain::weather::current_weather`**, `malloc` | 1.5 |",
            "| ✓ same program | 1.5 |",
            "- `e`: ✗ false",
            "; no `current_weather`",
        ] {
            assert!(text.contains(needed), "no {needed:?} in\n{text}");
        }
    }

    #[test]
    fn every_session_says_what_it_made_and_where() {
        let mut whole = table(vec![outcome("a", Expect::Same, Finding::Right); 3]);
        whole.outcomes[2].session = 1;
        whole.later.push(Session {
            commit: "2".repeat(40),
            wirebench: "0.2.0".into(),
            started_at: "2026-02-02T00:00:00Z".into(),
            host: whole.host.clone(),
        });
        let text = render(&whole, &[]);
        for needed in [
            "- 2 comparisons in 3 minutes, begun 2026-01-01T00:00:00Z: ",
            "- 1 comparisons in 2 minutes, begun 2026-02-02T00:00:00Z: ",
            "; wirebench 0.2.0, code `2222",
        ] {
            assert!(text.contains(needed), "no {needed:?} in\n{text}");
        }
    }

    #[test]
    fn a_change_below_its_smallest_size_need_not_be_found() {
        let mut small = outcome("a", Expect::Regressed, Finding::Missed);
        small.carrier.as_mut().unwrap().effect_percent = Some(-1.0);
        let text = render(
            &table(vec![small, outcome("b", Expect::Regressed, Finding::Right)]),
            &["http-lock".into()],
        );
        assert!(
            text.contains("it holds 2 of 3 comparisons.** Not made yet: `http-lock`."),
            "{text}"
        );
        assert!(text.contains("| 1 of 1 (100 %) of 1 kinds in 2 rows |"), "{text}");
        assert!(text.contains("| missed, smaller than its smallest size |"), "{text}");
        assert!(text.contains("| −1.00 % |"), "{text}");
    }
}
