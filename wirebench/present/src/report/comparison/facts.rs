//! Facts of a whole comparison, each in one line: numbers of rows by standing, false alarms, spreads, pairs left out, remarks.

use crate::report::comparison::headline::listed;
use crate::report::comparison::{reasons, verdict};
use crate::report::escape::Escape;
use crate::report::format::{change, declared, grouped, plain, plural, shortened, size};
use wirebench_judge::summary::comparison::{Findings, Row, RowStatus};
use wirebench_record::comparison::{ComparedSeries, Comparison};
use wirebench_record::reason::SeriesReason;

/// The number of rows with each standing, and its word, the worst first. The rows must be sorted by standing.
pub(crate) fn counts(rows: &[Row]) -> Vec<(usize, RowStatus, &'static str)> {
    let mut counts = Vec::new();
    for rows in rows.chunk_by(|one, next| one.status == next.status) {
        let (worse, rest): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| verdict::worse_within(row).is_some());
        let status = rows[0].status;
        counts.extend([
            (worse.len(), status, verdict::WITHIN_MARGIN),
            (rest.len(), status, verdict::word(status)),
        ]);
    }
    counts.retain(|(number, ..)| *number > 0);
    counts
}

/// The same in words: `3 regressed, 45 unchanged`.
pub(crate) fn tally(rows: &[Row]) -> String {
    let each: Vec<String> = (counts(rows).iter())
        .map(|(number, _, word)| format!("{number} {word}"))
        .collect();
    each.join(", ")
}

/// How often equal code is called regressed; known only of metrics that were timed and tested.
pub fn false_alarms(comparison: &Comparison) -> String {
    let metrics = || comparison.series.iter().flat_map(|series| &series.metrics);
    if metrics().next().is_none() {
        return "nothing was tested".into();
    }
    if metrics().all(|metric| metric.metric.is_counted()) {
        return "counted, not timed: equal figures are never called regressed".into();
    }
    let method = &comparison.method;
    let (gating, informative) = method.tests;
    if gating + informative == 0 {
        let why = method
            .no_second_stage
            .as_ref()
            .map_or_else(|| "no fresh rounds were measured".into(), reasons::no_second_stage);
        return format!("what is timed was not tested: {}", without_markup(&why));
    }
    format!(
        "code that did not change is called regressed in at most {} of comparisons, by construction; \
         tested on fresh rounds: {gating} gating and {informative} informative metrics",
        declared(method.false_alarm_at_most_percent)
    )
}

/// A sentence of the record without control characters and markup, because it becomes a part of our own sentence.
fn without_markup(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || " :,.;%".contains(c);
    shortened(&plain(text).replace(|c| !allowed(c), " "), 200)
}

/// By how much the baseline's program differed from itself in metrics that gate; `None` if that was not measured.
pub fn nulls(findings: &Findings) -> Option<String> {
    let nulls = findings.nulls();
    let each: Vec<String> = (nulls.iter())
        .map(|(metric, percent, _)| format!("{} {}", metric.label(), change(*percent)))
        .collect();
    let pairs = nulls.iter().map(|(.., pairs)| *pairs).max().unwrap_or(0);
    let pairs = match pairs {
        0 => String::new(),
        pairs => format!(" ({})", plural(pairs as usize, "pair")),
    };
    (!each.is_empty()).then(|| format!("the same code twice: {}{pairs}", each.join(", ")))
}

/// The spread of every metric: `server CPU per request 6.1 % (4.2 to 9.0 %)`.
pub fn spreads(findings: &Findings) -> Option<String> {
    let each: Vec<String> = (findings.spreads().iter())
        .map(|(metric, spread)| {
            let range = if spread.low < spread.high {
                format!(
                    " ({} to {})",
                    size(spread.low).trim_end_matches(" %"),
                    size(spread.high)
                )
            } else {
                String::new()
            };
            format!("{} {}{range}", metric.label(), size(spread.median))
        })
        .collect();
    (!each.is_empty()).then(|| each.join(" · "))
}

/// Pairs that were left out, by the side whose round was far from its neighbours; `None` if all were kept.
pub fn dropped(findings: &Findings) -> Option<String> {
    let (baseline, candidate) = findings.dropped();
    (baseline + candidate > 0)
        .then(|| format!("{baseline} because of the baseline, {candidate} because of the candidate"))
}

/// The largest worsening that the unchanged gating metrics leave possible; `None` if none.
pub(super) fn unchanged_within(findings: &Findings) -> Option<String> {
    let percent = findings.unchanged_at_most_percent().filter(|percent| *percent > 0.0);
    percent.map(size)
}

/// How many of these series there are: `1 series added, 2 series removed`.
pub(super) fn how_many(not_compared: &[(&str, &ComparedSeries)]) -> String {
    let each = not_compared.chunk_by(|one, next| one.0 == next.0);
    let each = each.map(|all| format!("{} series {}", grouped(all.len()), all[0].0));
    each.collect::<Vec<_>>().join(", ")
}

/// The series that are not compared, each after the reason.
pub(super) fn not_compared<'a>(findings: &Findings<'a>) -> Vec<(&'static str, &'a ComparedSeries)> {
    let all = [
        ("removed", &findings.removed),
        ("not measured", &findings.unmeasured),
        ("added", &findings.added),
        ("with the same program on both sides", &findings.same),
    ];
    let each = (all.into_iter()).flat_map(|(how, series)| series.iter().map(move |series| (how, *series)));
    each.collect()
}

/// Those remarks on series that are `wanted`, each once: `a, b and 3 more: client-bound`.
pub fn remarks(comparison: &Comparison, escape: Escape, wanted: impl Fn(&SeriesReason) -> bool) -> Vec<String> {
    (Findings::remarks(comparison).into_iter())
        .filter(|(reason, _)| wanted(reason))
        .map(|(reason, ids)| {
            let ids: Vec<String> = ids.into_iter().map(|id| escape.name(id)).collect();
            format!("{}: {}", listed(&ids), escape.sentence(&reasons::series(reason)))
        })
        .collect()
}
