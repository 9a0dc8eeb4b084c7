//! The words of one outcome in the document: its name, its finding, the metric and the functions that carry the change.

use crate::truth::record::{Blame, Carrier, Expect, Finding, Outcome};
use wirebench_present::report::format::{plain, shortened, three_digits};

/// Characters of a function's name that are shown.
const NAME: usize = 80;

/// True if the row changes nothing that a request costs.
pub(super) fn is_null(outcome: &Outcome) -> bool {
    outcome.expect == Expect::Same
}

/// True if the measured change is smaller than its row's smallest size, so that it need not be found.
pub(super) fn is_smaller(outcome: &Outcome) -> bool {
    let seen = outcome.carrier.as_ref().and_then(|carrier| carrier.effect_percent);
    match (seen, outcome.smallest_percent) {
        (Some(seen), Some(smallest)) => seen.abs() < smallest,
        _ => false,
    }
}

/// The row's name, with the number of the comparison from the second on.
pub(super) fn name(outcome: &Outcome) -> String {
    if outcome.number == 1 {
        plain(&outcome.row)
    } else {
        format!("{} ({})", plain(&outcome.row), outcome.number)
    }
}

/// The expected verdict in words.
pub(super) const fn expected(expect: Expect) -> &'static str {
    match expect {
        Expect::Same => "same",
        Expect::Regressed => "regressed",
        Expect::Informative => "worse, informative",
        Expect::Improved => "improved",
        Expect::Invalid => "invalid, with the reason",
    }
}

/// The finding with its symbol.
pub(super) fn finding(outcome: &Outcome) -> String {
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

/// The metric that carries the verdict, and its change.
pub(super) fn carried(carrier: Option<&Carrier>) -> (String, String) {
    let Some(carrier) = carrier else {
        return ("–".into(), "–".into());
    };
    let effect = carrier.effect_percent.map_or("from 0".into(), |percent| {
        let sign = if percent < 0.0 { '−' } else { '+' };
        format!("{sign}{} %", three_digits(percent.abs()))
    });
    (carrier.metric.label().to_owned(), effect)
}

/// The first changed functions, the one to blame in bold.
pub(super) fn functions(outcome: &Outcome) -> String {
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
