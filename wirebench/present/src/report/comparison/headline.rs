//! The first line: the overall verdict, the rows behind it, and the most alarming one.

use crate::report::cause::{self, Moved};
use crate::report::comparison::rows::effect;
use crate::report::comparison::{advice, facts, functions, reasons as reason, verdict};
use crate::report::escape::Escape;
use crate::report::format::{plural, rate};
use crate::report::limits;
use wirebench_judge::compare::FEWEST_PAIRS;
use wirebench_judge::summary::comparison::{Findings, Row, RowStatus};
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Comparison, FunctionChange, Side, Verdict};
use wirebench_record::metric::Metric;
use wirebench_record::reason::Note;
use wirebench_record::run::short_commit;
use wirebench_record::trend::Direction;

/// The status of the whole comparison.
pub fn status(comparison: &Comparison) -> RowStatus {
    if comparison.paired {
        comparison.verdict.into()
    } else {
        RowStatus::NotJudged
    }
}

/// Symbol and word of the overall verdict: `✗ Regressed`; not an all-clear if an informative metric is confirmed worse.
pub fn verdict(comparison: &Comparison) -> String {
    let status = status(comparison);
    let word = verdict::word(status);
    let (first, rest) = word.split_at(1);
    let all_clear = matches!(status, RowStatus::Improved | RowStatus::Unchanged);
    let but = if all_clear && Findings::of(comparison).worse_without_gating().next().is_some() {
        ", but worse in metrics that do not gate"
    } else {
        ""
    };
    let broken = limits::broken(&comparison.limits);
    let symbol = verdict::symbol(broken.as_ref().map_or(status, |_| RowStatus::Regressed));
    let broken = broken.map_or_else(String::new, |broken| format!("; {broken}"));
    let interrupted = interrupted(comparison);
    format!("{symbol} {}{rest}{but}{broken}{interrupted}", first.to_uppercase())
}

/// What an interrupted run leaves open. Counts were counted on both sides before the rounds, so their verdict holds.
fn interrupted(comparison: &Comparison) -> &'static str {
    let is_unfinished = comparison
        .notes
        .iter()
        .any(|note| matches!(note, Note::NotFinished { .. }));
    let mut metrics = comparison.series.iter().flat_map(|series| &series.metrics);
    let is_judged = |metric: &ComparedMetric| !metric.metric.is_counted() && metric.kept as usize >= FEWEST_PAIRS;
    match (is_unfinished, metrics.any(is_judged)) {
        (false, _) => "",
        (true, true) => "; the run was interrupted, the timing is judged by fewer rounds than planned",
        (true, false) => "; the run was interrupted, the timing is not judged",
    }
}

/// Whether there is something to comment on: a change or a failure of something that gates, a change elsewhere, series on one side
/// only, or nothing judged.
/// Without it, only the check is written: equal code, the same program, and doubt that does not look worse.
pub fn has_news(comparison: &Comparison) -> bool {
    let findings = Findings::of(comparison);
    let is_news = |row: &Row| match row.status {
        RowStatus::Unchanged => false,
        RowStatus::Inconclusive => row.looks_worse(),
        _ => true,
    };
    limits::broken(&comparison.limits).is_some()
        || findings.gating.iter().any(is_news)
        || findings.worse_without_gating().next().is_some()
        || !Findings::new_calls(comparison).is_empty()
        || [&findings.added, &findings.removed, &findings.unmeasured]
            .iter()
            .any(|series| !series.is_empty())
        || (comparison.verdict == Verdict::NotJudged && !Findings::all_the_same_program(comparison))
}

/// The reasons for the verdict and what got worse elsewhere, in a few sentences.
pub fn summary(comparison: &Comparison, findings: &Findings, escape: Escape) -> String {
    let elsewhere = elsewhere(comparison, findings, escape);
    let elsewhere = elsewhere.map_or_else(String::new, |text| format!(" {text}"));
    reasons(comparison, findings, escape) + &elsewhere
}

/// The reasons for the verdict, in a few sentences.
pub(super) fn reasons(comparison: &Comparison, findings: &Findings, escape: Escape) -> String {
    if !comparison.paired {
        return "The two sides were measured in different runs. Their values are shown, not judged.".into();
    }
    let count = |status| findings.gating_that(status).count();
    let total = plural(findings.gating.len(), "gating metric");
    let most = |status| {
        let first = findings.gating_that(status).find(|row| row.metric.is_some());
        first.map_or(String::new(), |row| leading(row, count(status), escape))
    };
    let margin = |n: usize| if n == 1 { "its margin" } else { "their margins" };
    let status = RowStatus::from(comparison.verdict);
    let n = count(status);
    let verdict = match comparison.verdict {
        // The second stage judges nothing by the word of the run that it reports.
        Verdict::NotJudged if Findings::all_the_same_program(comparison) => {
            return "The pull request's own run says: same program on both sides. Nothing was measured, so nothing is judged."
                .into();
        }
        _ if Findings::all_the_same_program(comparison) => {
            return "Same program on both sides: nothing was measured.".into();
        }
        Verdict::Unchanged if findings.gating.is_empty() => "Nothing else that gates was measured.".into(),
        _ if findings.gating.is_empty() => "No gating metric is on both sides, so nothing was judged.".into(),
        Verdict::NotJudged => "Nothing was judged.".into(),
        Verdict::Regressed => {
            let by = if findings.gating_that(status).all(beyond_margin) {
                format!(" by more than {}", margin(n))
            } else {
                String::new()
            };
            let works = functions::suspect(comparison, findings).map_or_else(String::new, |(function, unit)| {
                let name = escape.name(&function.function);
                format!(" {name} {}.", functions::work(function, unit, escape))
            });
            format!("{n} of {total} got worse{by}{}.{works}", most(status))
        }
        Verdict::Invalid => format!("{n} of {total} cannot be judged. None of the others regressed."),
        Verdict::Inconclusive => {
            let open = open(findings, escape);
            let sampled = functions::costs_more(findings, escape).map(|cost| format!(" Sampled: {cost}."));
            let counted = || {
                Some(format!(
                    " Counted: {}.",
                    functions::does_more(comparison, findings, escape)?
                ))
            };
            let named = sampled.or_else(counted).unwrap_or_default();
            format!("Can't tell for {n} of {total}: {open}. None of the others regressed.{named}")
        }
        Verdict::Improved => {
            let most = most(status);
            format!(
                "{n} of {total} got better by more than {}{most}. None regressed.",
                margin(n)
            )
        }
        Verdict::Unchanged => unchanged(findings, n, &total),
    };
    let same = match findings.same.len() {
        0 => String::new(),
        1 => " 1 series runs the same program on both sides and was not measured.".into(),
        n => format!(" {n} series run the same program on both sides and were not measured."),
    };
    verdict + &others(findings, status) + &same
}

/// Whether the estimate itself lies beyond the margin; for a count, it may be the range alone.
fn beyond_margin(row: &Row) -> bool {
    let percent = row
        .metric
        .and_then(|metric| Some((metric.effect_percent?, metric.margin_percent)));
    percent.is_none_or(|(effect, margin)| effect.abs() >= margin - 1e-9)
}

/// Why rows are inconclusive: those that look worse, or else their common reason, or that of the first.
fn open(findings: &Findings, escape: Escape) -> String {
    let rows: Vec<&Row> = findings.gating_that(RowStatus::Inconclusive).collect();
    let worse: Vec<String> = (rows.iter().filter(|row| row.looks_worse()))
        .filter_map(|row| changed(row, escape))
        .collect();
    if !worse.is_empty() {
        return format!("worse, not confirmed: {}", listed(&worse));
    }
    let Some(first) = rows.first() else {
        return "no reason recorded".into();
    };
    let reason = reason::row(first);
    if rows.iter().all(|row| reason::row(row) == reason) {
        return escape.sentence(&reason);
    }
    let metric = first.metric.map_or("", |metric| metric.metric.label());
    let (series, reason) = (escape.name(&first.series.id), escape.sentence(&reason));
    format!("first of all {series} {metric}: {reason}")
}

/// Rows and calls named in the first lines, and series named in a remark.
const NAMED: usize = 3;

/// `a, b and 2 more`.
pub(super) fn listed(all: &[String]) -> String {
    let shown = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A row's series, metric and change.
fn changed(row: &Row, escape: Escape) -> Option<String> {
    Some(format!("{} {}", advice::row_name(row, escape), effect(row.metric?)))
}

/// Informative metrics that are confirmed worse, and new system calls; `None` without any.
pub(super) fn elsewhere(comparison: &Comparison, findings: &Findings, escape: Escape) -> Option<String> {
    let is_said = comparison.paired && !Findings::all_the_same_program(comparison);
    let text = worse(comparison, findings, escape) + &new_calls(comparison, escape);
    (is_said && !text.is_empty()).then(|| text.trim_start().to_owned())
}

/// Informative metrics that are confirmed worse.
fn worse<'a>(comparison: &Comparison, findings: &'a Findings<'a>, escape: Escape) -> String {
    let all: Vec<String> = (findings.worse_without_gating())
        .filter_map(|row| changed(row, escape))
        .collect();
    let but = match comparison.verdict {
        Verdict::Improved | Verdict::Unchanged => "But worse",
        _ => "Also worse",
    };
    let what = match all.len() {
        0 => return String::new(),
        few if few <= NAMED => listed(&all),
        // Many are summarised by what they have in common.
        _ => {
            let moved = |row: &'a Row<'a>| {
                let metric = row.metric?;
                Some(Moved {
                    series: &row.series.id,
                    metric: Some(metric.metric),
                    percent: metric.effect_percent?,
                    direction: Direction::Worse,
                })
            };
            let moved: Vec<Moved> = findings.worse_without_gating().filter_map(moved).collect();
            cause::sentence_escaped(&moved, escape)
        }
    };
    format!(" {but}, not gating: {what}.")
}

/// System calls that only the candidate makes, however rare.
fn new_calls(comparison: &Comparison, escape: Escape) -> String {
    let call = |(series, call): (&ComparedSeries, &FunctionChange)| {
        format!(
            "{}, {} per request of {}",
            escape.name(&call.function),
            rate(call.candidate),
            escape.name(&series.id)
        )
    };
    let all: Vec<String> = Findings::new_calls(comparison).into_iter().map(call).collect();
    match all.len() {
        0 => String::new(),
        1 => format!(" New system call: {}.", listed(&all)),
        _ => format!(" New system calls: {}.", listed(&all)),
    }
}

/// `n` unchanged rows of `total`.
fn unchanged(findings: &Findings, n: usize, total: &str) -> String {
    let of = match findings.gating.len() {
        1 => "the one gating metric".to_owned(),
        all if all == n => format!("any of {total}"),
        _ => format!("{n} of {total}"),
    };
    let counted = findings
        .gating_that(RowStatus::Unchanged)
        .filter(|row| row.is_counted())
        .count();
    let most = facts::unchanged_within(findings);
    if counted == n && n > 0 {
        let above = most.map_or_else(String::new, |most| format!(" above {most}"));
        return format!("No worsening{above} in {of}, by counts.{}", timed_cpu(findings));
    }
    match most {
        Some(most) if counted > 0 => {
            format!("No worsening above {most} in {of}, with 95 % confidence for each that is timed.")
        }
        Some(most) if findings.gating.len() == 1 => {
            format!("No worsening above {most}, with 95 % confidence, in {of}.")
        }
        Some(most) => format!("No worsening above {most} in {of}, with 95 % confidence for each."),
        None if findings.gating.len() == n => format!("No worsening in {of}."),
        None => format!("None of {total} regressed."),
    }
}

/// What the times say where only counts gate: the most alarming server CPU. A confirmed worsening has a sentence of its own.
fn timed_cpu(findings: &Findings) -> String {
    let is_cpu = |row: &&Row| row.metric.is_some_and(|metric| metric.metric == Metric::ServerCpu);
    let Some(cpu) = findings.informative.iter().find(is_cpu) else {
        return " Nothing was timed.".into();
    };
    let reason = reason::row(cpu);
    match cpu.status {
        RowStatus::Regressed => String::new(),
        RowStatus::Unchanged => format!(" Server CPU per request, timed: {reason}."),
        _ => {
            let change = cpu.metric.map_or_else(String::new, effect);
            format!(" Server CPU per request, timed: {change}, {reason}.")
        }
    }
}

/// The first of several rows, or the only one.
fn leading(row: &Row, rows: usize, escape: Escape) -> String {
    let most = if rows > 1 { "most of all " } else { "" };
    let function = functions::leading(row, escape).map_or_else(String::new, |function| format!(", {function}"));
    changed(row, escape).map_or_else(String::new, |changed| format!(": {most}{changed}{function}"))
}

/// How many gating rows have another status that a reader must not miss.
fn others(findings: &Findings, reported: RowStatus) -> String {
    let mut listed: Vec<String> = [RowStatus::Invalid, RowStatus::Inconclusive, RowStatus::Accepted]
        .into_iter()
        .filter(|status| *status != reported)
        .map(|status| (status, findings.gating_that(status).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| match status {
            RowStatus::Accepted => format!("{count} worse and accepted"),
            other => format!("{count} {}", verdict::word(other)),
        })
        .collect();
    let within = findings.gating_that(RowStatus::Unchanged);
    let within = within.filter(|row| verdict::worse_within(row).is_some()).count();
    if within > 0 {
        listed.push(format!("{within} {}", verdict::WITHIN_MARGIN));
    }
    if listed.is_empty() {
        return String::new();
    }
    format!(" Also {}.", listed.join(", "))
}

/// The code of one side: `main (1a2b3c4d5e6f)`.
pub(super) fn side(side: &Side, escape: Escape) -> String {
    let revision = &side.revision;
    let mut text = match (revision.name.as_deref(), revision.commit.as_deref()) {
        (Some(called), Some(commit)) if !commit.starts_with(called) => {
            format!("{} ({})", escape.name(called), escape.name(short_commit(commit)))
        }
        (_, Some(commit)) => escape.name(short_commit(commit)),
        (Some(called), None) => escape.name(called),
        (None, None) => "code outside a repository".into(),
    };
    if revision.modified == Some(true) {
        text.push_str(" with local changes");
    }
    text
}
