//! The parts that comment and terminal have in common, as words without markup.

use crate::report::comparison::reasons;
use crate::report::comparison::words::{self, Inert, declared, size};
use crate::report::format::{count, plain, shortened};
use wirebench_judge::summary::comparison::{Findings, Row, Standing};
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Comparison};

/// How often the rows stand in each way: `3 regressed, 45 unchanged`.
pub fn tally(rows: &[Row]) -> String {
    let all = [
        Standing::Regressed,
        Standing::Invalid,
        Standing::Inconclusive,
        Standing::Accepted,
        Standing::Improved,
        Standing::Unchanged,
        Standing::NotJudged,
    ];
    let each: Vec<String> = (all.into_iter())
        .map(|standing| (standing, rows.iter().filter(|row| row.standing == standing).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(standing, count)| format!("{count} {}", words::word(standing)))
        .collect();
    each.join(", ")
}

/// Baseline and candidate, each with its unit.
pub fn values(metric: &ComparedMetric) -> [String; 2] {
    [metric.baseline, metric.candidate].map(|value| match value {
        Some(value) => words::figure(metric.metric, value),
        None => "–".into(),
    })
}

/// The smallest worsening that would have been seen; any at all of a count that varies by nothing.
pub fn resolvable(metric: &ComparedMetric) -> String {
    match metric.resolvable_percent {
        Some(percent) if metric.metric.is_counted() && percent < 1e-6 => "any".into(),
        percent => percent.map_or("–".into(), size),
    }
}

/// How often equal code is called regressed; said of what was timed and tested only.
pub fn false_alarms(comparison: &Comparison) -> String {
    let mut metrics = comparison.series.iter().flat_map(|series| &series.metrics).peekable();
    let nothing = metrics.peek().is_none();
    if nothing {
        return "nothing was tested".into();
    }
    if metrics.all(|metric| metric.metric.is_counted()) {
        return "counted, not timed: equal figures are never called regressed".into();
    }
    let method = &comparison.method;
    let (gating, informative) = method.tests;
    if gating + informative == 0 {
        let why = method
            .no_second_stage
            .as_ref()
            .map_or_else(|| "no fresh rounds were measured".into(), reasons::no_second_stage);
        return format!("what is timed was not tested: {}", prose_free(&why));
    }
    format!(
        "code that did not change is called regressed in at most {} of comparisons, by construction; \
         tested on fresh rounds: {gating} gating and {informative} informative metrics",
        declared(method.false_alarm_at_most_percent)
    )
}

/// A sentence of the record without anything that steers or marks up: it stands among our own words.
fn prose_free(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || " :,.;%".contains(c);
    shortened(&plain(text).replace(|c| !allowed(c), " "), 200)
}

/// By how much the baseline's program differed from itself; none without such a measurement.
pub fn nulls(findings: &Findings) -> Option<String> {
    let nulls = findings.nulls();
    let each: Vec<String> = (nulls.iter())
        .map(|(metric, percent, _)| format!("{} {}", metric.label(), words::change(*percent)))
        .collect();
    let pairs = nulls.iter().map(|(.., pairs)| *pairs).max().unwrap_or(0);
    let pairs = if pairs > 0 {
        format!(" ({pairs} pairs)")
    } else {
        String::new()
    };
    (!each.is_empty()).then(|| format!("the same code twice: {}{pairs}", each.join(", ")))
}

/// What stands in brackets behind the changes of some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brackets {
    /// Nothing.
    Nothing,
    /// Of what is timed.
    Interval,
    /// Of what is counted.
    Range,
    /// Both.
    Both,
}

impl Brackets {
    /// Of these rows.
    pub fn of<'a>(rows: impl Iterator<Item = &'a Row<'a>>) -> Self {
        let (mut timed, mut counted) = (false, false);
        for row in rows.filter(|row| row.metric.is_some_and(|metric| metric.effect_low_percent.is_some())) {
            counted |= row.is_counted();
            timed |= !row.is_counted();
        }
        match (timed, counted) {
            (false, false) => Self::Nothing,
            (true, false) => Self::Interval,
            (false, true) => Self::Range,
            (true, true) => Self::Both,
        }
    }
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

/// Pairs that were left out, by the side whose round was far from its neighbours; none when all were kept.
pub fn dropped(findings: &Findings) -> Option<String> {
    let (baseline, candidate) = findings.dropped();
    (baseline + candidate > 0)
        .then(|| format!("{baseline} because of the baseline, {candidate} because of the candidate"))
}

/// What is not compared: `1 series added, 2 series removed`; none when all is.
pub fn not_compared(findings: &Findings) -> Option<String> {
    let each: Vec<String> = by_presence(findings)
        .into_iter()
        .filter(|(_, all)| !all.is_empty())
        .map(|(how, all)| format!("{} {how}", count_of(all.len())))
        .collect();
    (!each.is_empty()).then(|| each.join(", "))
}

/// The series that are not compared, by why.
pub fn by_presence<'a>(findings: &'a Findings<'a>) -> [(&'static str, &'a [&'a ComparedSeries]); 4] {
    [
        ("removed", &findings.removed),
        ("not measured", &findings.unmeasured),
        ("added", &findings.added),
        ("with the same program on both sides", &findings.same),
    ]
}

/// Names shown of those that one remark is about.
const NAMES: usize = 3;

/// What else is to be known, each remark once: `a, b and 3 more: client-bound`; `name` makes names inert, `prose` sentences.
pub fn remarks(comparison: &Comparison, name: Inert, prose: Inert) -> Vec<String> {
    (Findings::remarks(comparison).into_iter())
        .map(|(reason, ids)| {
            let shown: Vec<String> = ids.iter().take(NAMES).map(|id| name(id)).collect();
            let more = match ids.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{}{more}: {}", shown.join(", "), prose(&reasons::series(reason)))
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
fn count_of(n: usize) -> String {
    format!("{} series", count(n as f64))
}
