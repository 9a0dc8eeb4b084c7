//! The words for standings, the same on every page.

use crate::report::format::three_digits;
use crate::report::percent::{change, interval};
use crate::report::trend::TOO_NOISY;
use crate::site::gather::{Drawn, Source};
use crate::site::shown::plural;
use crate::site::timeline::day;
use wirebench_history::standing::{Change, FEWEST_VALUES, Standing};
use wirebench_record::run::short_commit;
use wirebench_stats::quantile::median;

/// The word for scripts and style sheets.
pub(super) const fn state(standing: Standing) -> &'static str {
    match standing {
        Standing::Worse => "worse",
        Standing::Better => "better",
        Standing::Accepted => "accepted",
        Standing::Changed => "changed",
        Standing::Noise => "noise",
        Standing::Few => "few",
        Standing::Ended => "ended",
        Standing::Withheld => "withheld",
    }
}

/// Shape and word.
pub(super) const fn verdict(standing: Standing) -> &'static str {
    match standing {
        Standing::Worse => "▼ worse",
        Standing::Better => "▲ better",
        Standing::Accepted => "~ accepted",
        Standing::Changed => "◇ changed",
        Standing::Noise => "≈ within noise",
        Standing::Few => "· too few values",
        Standing::Ended => "□ ended",
        Standing::Withheld => "! no good value",
    }
}

/// A change with its interval: `+8.2 % (+6.9 to +9.4 %)`, without one where counts leave none; a dash without a change.
pub(super) fn changed(found: Option<Change>) -> String {
    match found {
        None => "–".into(),
        Some(found) if change(found.low) == change(found.high) => change(found.percent),
        Some(found) => format!("{} ({})", change(found.percent), interval(found.low, found.high)),
    }
}

/// A sentence for verdicts that would mislead alone; empty for the others.
pub(super) fn remark(drawn: &Drawn) -> String {
    let stands = &drawn.stands;
    match (&stands.withheld, &stands.broken_by) {
        (Some(why), _) => format!("The newest run has no value that is judged: {why}"),
        (None, _) if drawn.trace.not_judged.is_some() => drawn.trace.not_judged.clone().unwrap_or_default(),
        (None, _) if stands.standing == Standing::Few => format!("verdicts start at {FEWEST_VALUES} values"),
        (None, _) if stands.standing == Standing::Ended => ended(drawn),
        (None, Some(why)) => format!("only since {why}"),
        (None, None) => String::new(),
    }
}

/// When a series ended.
fn ended(drawn: &Drawn) -> String {
    let last = drawn.trace.segments.last().map(|segment| &segment.last);
    last.map_or_else(String::new, |push| {
        format!("its last value is of {} at {}", day(push), short_commit(&push.commit))
    })
}

/// The smallest step that would be detected, in words; a dash when it is not known.
pub(super) fn seen(drawn: &Drawn) -> String {
    match drawn.resolvable() {
        Some(percent) if percent > TOO_NOISY => "too noisy to judge".into(),
        Some(percent) => format!("{} %", three_digits(percent)),
        None => "–".into(),
    }
}

/// The verdict sentence of a source: how many of its metrics have each standing.
pub(super) fn sentence(source: &Source) -> String {
    let all: Vec<&Drawn> = source.series.iter().flat_map(|series| &series.metrics).collect();
    let count = |standing| all.iter().filter(|drawn| drawn.stands.standing == standing).count();
    let compared = all.len() - count(Standing::Few) - count(Standing::Ended);
    if all.is_empty() {
        return "No data yet.".into();
    }
    if compared == 0 {
        return format!(
            "Nothing to compare yet: {} so far; verdicts start at {FEWEST_VALUES} values.",
            plural(source.timeline.pushes, "run")
        );
    }
    let since = &source.mark.name;
    let mut parts = Vec::new();
    for (standing, word) in [
        (Standing::Better, "better"),
        (Standing::Accepted, "worse and accepted"),
        (Standing::Changed, "changed"),
        (Standing::Withheld, "without a good value in the newest run"),
        (Standing::Noise, "within noise"),
    ] {
        if count(standing) > 0 {
            parts.push(format!("{} {word}", count(standing)));
        }
    }
    let worse = count(Standing::Worse);
    let moved = compared - count(Standing::Noise);
    if moved == 0 {
        let smallest = match detectable(&all) {
            Some(percent) => format!(", smallest detectable change {} %", three_digits(percent)),
            None => String::new(),
        };
        return format!(
            "Nothing beyond noise since {since}. {} compared{smallest}.",
            plural(compared, "metric")
        );
    }
    let head = if worse == 0 {
        format!("None of {} is worse than {}", plural(compared, "metric"), since)
    } else {
        format!("{worse} of {} worse than {}", plural(compared, "metric"), since)
    };
    format!("{head}; {}.", parts.join("; "))
}

/// The median over the metrics of the smallest step that five pushes would show, percent.
fn detectable(all: &[&Drawn]) -> Option<f64> {
    let sizes: Vec<f64> = all.iter().filter_map(|drawn| drawn.resolvable()).collect();
    median(&sizes)
}
