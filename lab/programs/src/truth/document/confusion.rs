//! The confusion table, and the targets that the table must reach.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::cells::{is_null, is_smaller};
use crate::truth::record::{Blame, Finding, Outcome, TruthTable};
use wirebench_present::report::format::plain;

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

/// The targets of the table, and the results.
pub(super) fn targets(table: &TruthTable, out: &mut String) {
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
