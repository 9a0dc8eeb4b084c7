//! Renders docs/TRUTH.md from a stored table: the confusion table, and one row for each change and each null.

mod cells;
mod confusion;

pub use confusion::confusion;

use std::fmt::Write as _;

use self::cells::{carried, expected, finding, functions, is_null, name};
use self::confusion::targets;
use crate::truth::record::{Finding, Outcome, Session, TruthTable};
use wirebench_present::report::format::{machine, plain, plural, shortened, three_digits};

/// Characters of a reason that are shown.
const REASON: usize = 200;

/// The document. `left` are the comparisons of `truth/` that the table does not have.
#[must_use]
pub fn render(table: &TruthTable, left: &[String]) -> String {
    let mut out = String::from("# The truth table: is a verdict right?\n\n");
    let _ = writeln!(
        out,
        "Written by `lab truth` from the rows of `lab/truth/`; not edited by hand. Each row is a change whose right verdict is known. \
         wirebench compares the change with the commit before it, the way a pull request is compared, in profile `quick`; \
         this verdict is then compared with the one of the row.\n"
    );
    if !left.is_empty() {
        let _ = writeln!(
            out,
            "**This table is not complete: it holds {} of {} comparisons.** Missing: {}.\n",
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
    if !table.later.is_empty() {
        out.push_str(
            "The last comparison of a row counts. Rows that were missed or unclear were run again more often than the others, so \
             these figures flatter.\n\n",
        );
    }
    let first = Session {
        commit: table.commit.clone(),
        wirebench: table.wirebench.clone(),
        started_at: table.started_at.clone(),
        host: table.host.clone(),
    };
    for (at, session) in std::iter::once(&first).chain(&table.later).enumerate() {
        let of_session: Vec<&Outcome> = table.outcomes.iter().filter(|one| one.session == at).collect();
        // Everything that it made was made again since.
        if of_session.is_empty() {
            continue;
        }
        let minutes: f64 = of_session.iter().map(|one| one.seconds).sum::<f64>() / 60.0;
        let _ = writeln!(
            out,
            "- {} in {minutes:.0} minutes, begun {}: {}; wirebench {}, code `{}`",
            plural(of_session.len(), "comparison"),
            plain(&session.started_at),
            machine(&session.host),
            plain(&session.wirebench),
            plain(&session.commit),
        );
    }
    out.push_str(
        "- repeat: `lab truth`; to continue this table: `lab truth --resume lab/truth/table.json`; \
         one row: `lab truth --row NAME`; the rows there are: `lab truth --list`\n",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::record::{Blame, Carrier, Expect, SCHEMA};
    use wirebench_record::comparison::Verdict;
    use wirebench_record::metric::Metric;
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
        let emptied = Session {
            started_at: "2026-03-03T00:00:00Z".into(),
            ..whole.later[0].clone()
        };
        whole.later.push(emptied);
        let text = render(&whole, &[]);
        assert!(!text.contains("2026-03-03"), "{text}");
        for needed in [
            "- 2 comparisons in 3 minutes, begun 2026-01-01T00:00:00Z: ",
            "- 1 comparison in 2 minutes, begun 2026-02-02T00:00:00Z: ",
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
            text.contains("it holds 2 of 3 comparisons.** Missing: `http-lock`."),
            "{text}"
        );
        assert!(text.contains("| 1 of 1 (100 %) of 1 kinds in 2 rows |"), "{text}");
        assert!(text.contains("| missed, smaller than its smallest size |"), "{text}");
        assert!(text.contains("| −1.00 % |"), "{text}");
    }
}
