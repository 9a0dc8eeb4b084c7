//! The tables of the document.

use std::collections::BTreeSet;

use crate::claims::audit::{Agreement, audited};
use crate::claims::figures::figure;
use crate::claims::judged::{Finding, MeasuredPair, Outcome, TestedClaim, TriedExperiment};
use crate::claims::prices::Prices;
use crate::claims::publication::{Fate, PublicComparison};
use crate::claims::{conclusions, findings};
use wirebench_present::report::format::{plain, three_digits};
use wirebench_present::report::head_to_head::times;
use wirebench_present::report::table::{Table, number, text};
use wirebench_record::run::Run;

/// A comparison, the run that it is judged by, and the outcomes.
pub(super) struct Judged<'a> {
    pub(super) comparison: &'a PublicComparison,
    pub(super) run: &'a Run,
    pub(super) outcomes: Vec<Outcome<'a>>,
    /// For the costs of a monthly estimate.
    pub(super) prices: Option<&'a Prices>,
}

/// A row for each comparison: how many claims have each finding.
pub(super) fn overview(judged: &[Judged]) -> Table {
    let columns = [
        text(""),
        text("comparison"),
        text("its advice"),
        number("claims that hold"),
        number("far smaller, or none seen"),
        number("are contradicted"),
        number("vanish on equal terms"),
        number("can't tell, not measured"),
    ];
    let row = |judged: &Judged| {
        let comparison = judged.comparison;
        let count = |wanted: [Finding; 2]| {
            let found = conclusions::counted(&judged.outcomes).filter(|tested| wanted.contains(&tested.finding));
            found.filter(|tested| !tested.is_far_smaller()).count().to_string()
        };
        let far_smaller = conclusions::counted(&judged.outcomes)
            .filter(|tested| tested.is_far_smaller() || tested.finding == Finding::FarSmallerIfAny);
        [
            format!("[{0}](comparisons/{0}.md)", comparison.letter),
            plain(&comparison.title),
            plain(&comparison.advice),
            count([Finding::Holds, Finding::HoldsOnEqualTermsOnly]),
            far_smaller.count().to_string(),
            count([Finding::Contradicted, Finding::Reverses]),
            count([Finding::Vanishes; 2]),
            count([Finding::CannotTell, Finding::NotMeasured]),
        ]
    };
    Table::new(columns, judged.iter().map(row))
}

/// A row for each check of the published figures against each other.
pub(super) fn audits(comparison: &PublicComparison) -> Table {
    let rows = comparison.audits.iter().map(|audit| {
        let (arithmetic, agreement) = audited(audit);
        let explained = match (&audit.explained_by, &audit.shown_by) {
            (Some(cause), Some(shown)) => format!("{} Shown by {}.", plain(cause), plain(shown)),
            (Some(cause), None) => format!("{} (An inference.)", plain(cause)),
            (None, _) => "–".into(),
        };
        let finding = agreement.words().to_owned();
        [plain(&audit.about), plain(&arithmetic), finding, explained]
    });
    let columns = ["published figures", "arithmetic", "finding", "likely explained by"].map(text);
    Table::new(columns, rows)
}

/// A row for each figure as it was printed, each command and each sentence that claims something: what became of it.
pub(super) fn fates(comparison: &PublicComparison) -> Table {
    let figures = comparison.published.iter().map(|one| {
        let printed = plain(&one.printed.join(" → "));
        (format!("{}: {printed}", plain(&one.what)), comparison.fate(one))
    });
    let said = comparison
        .said
        .iter()
        .map(|one| (plain(&one.what), Some(one.fate.clone())));
    let row = |(what, fate): (String, Option<Fate>)| {
        let fate = match fate {
            Some(Fate::Reproduced(series)) => format!("reproduced: `{}`", plain(&series)),
            Some(Fate::Judged(how)) => format!("judged: {}", plain(&how)),
            Some(Fate::LeftOut(why)) => format!("left out: {}", plain(&why)),
            None => "–".into(),
        };
        [what, fate]
    };
    Table::new(
        ["published", "what became of it"].map(text),
        figures.chain(said).map(row),
    )
}

/// How many checks published figures or scripts do not pass, of how many.
pub(super) fn failed_checks(comparison: &PublicComparison) -> String {
    let audits = &comparison.audits;
    let failed = audits
        .iter()
        .filter(|audit| audited(audit).1 != Agreement::Consistent)
        .count();
    format!("{failed} of {}", audits.len())
}

/// The names of two series.
pub(super) fn pair([first, second]: &[String; 2]) -> String {
    format!("`{first}` → `{second}`")
}

/// The server CPU per request on equal terms, second side as a multiple of the first.
pub(super) fn server_cpu(outcome: &Outcome) -> String {
    times(outcome.server_cpu)
}

/// A row for each claim of a question.
pub(super) fn claims(outcome: &Outcome) -> Table {
    let [first, second] = &outcome.question.sides;
    let columns = [
        text(format!("{first} → {second}")),
        number("theirs"),
        number("×"),
        number("ours, their way"),
        number("×"),
        number("on equal terms"),
        number("×"),
        text("finding"),
    ];
    let row = |tested: &TestedClaim| {
        let [first, second] = tested.claim.values.map(figure);
        let claimed = tested.claimed();
        let [theirs, their_ratio] = cells(tested.theirs.as_ref());
        let [equal, equal_ratio] = if outcome.question.equal.is_some() {
            cells(tested.equal.as_ref())
        } else {
            ["the same".into(), String::new()]
        };
        [
            tested.claim.quantity.label().to_owned(),
            format!("{first} → {second}"),
            claimed.map_or("–".into(), |ratio| format!("× {}", three_digits(ratio))),
            theirs,
            their_ratio,
            equal,
            equal_ratio,
            findings::tested(tested),
        ]
    };
    Table::new(columns, outcome.claims.iter().map(row))
}

/// A row for each change of one thing.
pub(super) fn experiments(outcome: &Outcome) -> Table {
    let columns = [
        text("changing only this"),
        number(outcome.quantity().label()),
        number("×"),
        text("of the difference their way"),
        text("cause"),
    ];
    let row = |tried: &TriedExperiment| {
        let [values, ratio] = cells(tried.shown.as_ref());
        let share = tried.share.map_or("–".into(), conclusions::in_words);
        let changes = plain(&tried.experiment.changes);
        [changes, values, ratio, share, conclusions::cause(tried)]
    };
    Table::new(columns, outcome.experiments.iter().map(row))
}

/// The failed checks of the rounds behind an outcome, each once.
pub(super) fn doubts<'a>(outcome: &'a Outcome) -> BTreeSet<&'a String> {
    let has_equal = outcome.question.equal.is_some();
    let claims = (outcome.claims.iter())
        .flat_map(|tested| [tested.theirs.as_ref(), tested.equal.as_ref().filter(|_| has_equal)]);
    let experiments = outcome.experiments.iter().map(|tried| tried.shown.as_ref());
    let shown = claims.chain(experiments).flatten();
    shown.filter_map(|shown| shown.doubt.as_ref()).collect()
}

/// Both medians, and the ratio with its interval.
fn cells(shown: Option<&MeasuredPair>) -> [String; 2] {
    let Some(shown) = shown else {
        return ["–".into(), "–".into()];
    };
    let mark = if shown.doubt.is_some() { " †" } else { "" };
    let [first, second] = shown.values.map(figure);
    [format!("{first} → {second}{mark}"), times(shown.times)]
}
