//! The first line: the overall verdict, what it rests on, and the one row that says most.

use crate::record::comparison::{Comparison, Side, Verdict};
use crate::record::run::short_commit;
use crate::report::comparison::functions;
use crate::report::comparison::words::{self, Inert, declared, effect, size};
use crate::summary::comparison::{Findings, Row, Standing};

/// How the whole comparison stands.
#[must_use]
pub fn standing(comparison: &Comparison) -> Standing {
    if comparison.paired {
        comparison.verdict.into()
    } else {
        Standing::NotJudged
    }
}

/// Symbol and word of the overall verdict: `✗ Regressed`.
#[must_use]
pub fn verdict(comparison: &Comparison) -> String {
    let standing = standing(comparison);
    let word = words::word(standing);
    let (first, rest) = word.split_at(1);
    format!("{} {}{rest}", words::symbol(standing), first.to_uppercase())
}

/// What the verdict rests on, in one or two sentences; `name` makes names inert.
#[must_use]
pub fn summary(comparison: &Comparison, findings: &Findings, name: Inert) -> String {
    if !comparison.paired {
        return "The two sides were measured in different runs. Their values are shown, not judged.".into();
    }
    let count = |standing| findings.gating_that(standing).count();
    let total = metrics(findings.gating.len());
    let most = |standing| {
        let first = findings.gating_that(standing).find(|row| row.metric.is_some());
        first.map_or(String::new(), |row| leading(row, count(standing), name))
    };
    let margin = |n: usize| if n == 1 { "its margin" } else { "their margins" };
    let standing = Standing::from(comparison.verdict);
    let n = count(standing);
    let said = match comparison.verdict {
        _ if findings.gating.is_empty() => "No gating metric is on both sides, so nothing was judged.".into(),
        Verdict::Regressed => format!("{n} of {total} got worse by more than {}{}.", margin(n), most(standing)),
        Verdict::Invalid => format!("{n} of {total} cannot be judged. None of the others regressed."),
        Verdict::Inconclusive => {
            let worse = findings.gating_that(standing).filter(|row| row.looks_worse()).count();
            let above = declared(comparison.method.inconclusive_above_percent);
            let open = match worse {
                0 => format!("a worsening above {above} is not excluded"),
                1 if n == 1 => "it looks worse, not confirmed".into(),
                1 => "one of them looks worse, not confirmed".into(),
                more => format!("{more} of them look worse, not confirmed"),
            };
            format!("Can't tell for {n} of {total}: {open}. None of the others regressed.")
        }
        Verdict::Improved => {
            let most = most(standing);
            format!(
                "{n} of {total} got better by more than {}{most}. None regressed.",
                margin(n)
            )
        }
        Verdict::Unchanged => unchanged(findings, n, &total),
    };
    said + &others(findings, standing)
}

/// `n` unchanged rows of `total`.
fn unchanged(findings: &Findings, n: usize, total: &str) -> String {
    let of = match findings.gating.len() {
        1 => "the one gating metric".to_owned(),
        all if all == n => format!("any of {total}"),
        _ => format!("{n} of {total}"),
    };
    let counted = findings
        .gating_that(Standing::Unchanged)
        .filter(|row| row.is_counted())
        .count();
    let most = findings
        .unchanged_at_most_percent()
        .filter(|percent| *percent > 0.0)
        .map(size);
    match most {
        Some(most) if counted == n => format!("Counted, not timed: no worsening above {most} in {of}."),
        None if counted == n && n > 0 => format!("Counted, not timed: no worsening in {of}."),
        Some(most) if counted > 0 => {
            format!("No worsening above {most} in {of}, with 95 % confidence for each that is timed.")
        }
        Some(most) if findings.gating.len() == 1 => {
            format!("No worsening above {most}, with 95 % confidence, in {of}.")
        }
        Some(most) => format!("No worsening above {most} in {of}, with 95 % confidence for each."),
        None => format!("None of {total} regressed."),
    }
}

fn metrics(count: usize) -> String {
    match count {
        1 => "1 gating metric".into(),
        n => format!("{n} gating metrics"),
    }
}

/// The first row of several, or the only one.
fn leading(row: &Row, of: usize, name: Inert) -> String {
    let Some(metric) = row.metric else {
        return String::new();
    };
    let most = if of > 1 { "most of all " } else { "" };
    let function = functions::leading(row, name).map_or_else(String::new, |function| format!(", {function}"));
    format!(
        ": {most}{} {} {}{function}",
        name(&row.series.id),
        metric.metric.label(),
        effect(metric)
    )
}

/// What else stands among the gating rows that a reader must not miss.
fn others(findings: &Findings, said: Standing) -> String {
    let listed: Vec<String> = [Standing::Invalid, Standing::Inconclusive, Standing::Accepted]
        .into_iter()
        .filter(|standing| *standing != said)
        .map(|standing| (standing, findings.gating_that(standing).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(standing, count)| match standing {
            Standing::Accepted => format!("{count} worse and accepted"),
            other => format!("{count} {}", words::word(other)),
        })
        .collect();
    if listed.is_empty() {
        return String::new();
    }
    format!(" Also {}.", listed.join(", "))
}

/// `main (1a2b3c4d5e6f)`: one side as people call it; `name` makes it inert.
#[must_use]
pub fn side(side: &Side, name: Inert) -> String {
    let revision = &side.revision;
    let mut words = match (revision.name.as_deref(), revision.commit.as_deref()) {
        (Some(called), Some(commit)) if !commit.starts_with(called) => {
            format!("{} ({})", name(called), name(short_commit(commit)))
        }
        (_, Some(commit)) => name(short_commit(commit)),
        (Some(called), None) => name(called),
        (None, None) => "code outside a repository".into(),
    };
    if revision.modified == Some(true) {
        words.push_str(" with local changes");
    }
    words
}
