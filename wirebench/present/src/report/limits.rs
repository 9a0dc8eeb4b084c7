//! Limits in a terminal and in Markdown: the same lines in the same order, broken ones first.

use std::fmt::Write as _;

use crate::report::format::{figure, plain, plural};
use crate::report::table::{Table, text};
use wirebench_record::limit::{JudgedLimit, LimitVerdict};
use wirebench_record::metric::Better;

/// How many limits are broken, such as `1 of 3 limits is broken`; `None` if none is.
pub fn broken(limits: &[JudgedLimit]) -> Option<String> {
    let all = plural(limits.len(), "limit");
    match wirebench_judge::limits::broken(limits) {
        0 => None,
        1 => Some(format!("1 of {all} is broken")),
        broken => Some(format!("{broken} of {all} are broken")),
    }
}

/// All limits as text; empty without any.
pub fn terminal(limits: &[JudgedLimit]) -> String {
    let mut out = String::new();
    if limits.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\nLimits: {}", tally(limits));
    for one in sorted(limits) {
        let [symbol, ..] = words(one.verdict);
        let series = plain(&one.series);
        let _ = writeln!(out, "  {symbol} {series}: {}: {}", bound(one), measured(one));
    }
    out
}

/// A row for each limit.
pub(super) fn table(limits: &[JudgedLimit]) -> Table {
    let row = |one: &JudgedLimit| {
        let [symbol, word, _] = words(one.verdict);
        let series = format!("`{}`", plain(&one.series));
        [format!("{symbol} {word}"), series, bound(one), measured(one)]
    };
    let columns = [text(""), text("series"), text("limit"), text("found")];
    Table::new(columns, sorted(limits).into_iter().map(row))
}

/// `1 broken, 2 hold, 1 can't tell`.
pub(super) fn tally(limits: &[JudgedLimit]) -> String {
    let verdicts = [LimitVerdict::Broken, LimitVerdict::Holds, LimitVerdict::CannotTell];
    let counts = verdicts.into_iter().filter_map(|verdict| {
        let n = limits.iter().filter(|one| one.verdict == verdict).count();
        let [_, single, plural] = words(verdict);
        (n > 0).then(|| format!("{n} {}", if n == 1 { single } else { plural }))
    });
    counts.collect::<Vec<_>>().join(", ")
}

fn sorted(limits: &[JudgedLimit]) -> Vec<&JudgedLimit> {
    let order = [LimitVerdict::Broken, LimitVerdict::CannotTell, LimitVerdict::Holds];
    let mut sorted: Vec<&JudgedLimit> = limits.iter().collect();
    sorted.sort_by_key(|one| order.iter().position(|verdict| *verdict == one.verdict));
    sorted
}

/// The symbol of a verdict, its word, and its word for several limits.
const fn words(verdict: LimitVerdict) -> [&'static str; 3] {
    match verdict {
        LimitVerdict::Holds => ["✓", "holds", "hold"],
        LimitVerdict::Broken => ["✗", "broken", "broken"],
        LimitVerdict::CannotTell => ["?", "can't tell", "can't tell"],
    }
}

/// `latency p99 at most 50 ms`.
fn bound(one: &JudgedLimit) -> String {
    let metric = one.limit.metric;
    let side = match metric.better() {
        Better::Lower => "at most",
        Better::Higher => "at least",
    };
    format!("{} {side} {}", metric.label(), figure(metric, one.limit.bound))
}

/// The value with its interval: `61 ms (55.1 ms to 70 ms)`; or why there is none.
fn measured(one: &JudgedLimit) -> String {
    let metric = one.limit.metric;
    match (one.value, one.low.zip(one.high)) {
        (None, _) if metric.is_counted() => "not counted".into(),
        (None, _) => "no good round".into(),
        (Some(found), None) => format!(
            "{}; only {}, 6 are needed for an interval",
            figure(metric, found),
            plural(one.rounds as usize, "good round")
        ),
        (Some(found), Some((low, high))) if low < high => format!(
            "{} ({} to {})",
            figure(metric, found),
            figure(metric, low),
            figure(metric, high)
        ),
        (Some(found), Some(_)) => figure(metric, found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::limit::Limit;
    use wirebench_record::metric::Metric;

    fn judged(verdict: LimitVerdict, value: Option<f64>, interval: Option<(f64, f64)>) -> JudgedLimit {
        JudgedLimit {
            series: "a@b@c".into(),
            limit: Limit {
                metric: Metric::LatencyP99,
                bound: 50e6,
            },
            verdict,
            value,
            low: interval.map(|one| one.0),
            high: interval.map(|one| one.1),
            rounds: 3,
        }
    }

    #[test]
    fn broken_limits_come_first_and_each_line_says_what_was_found() {
        let limits = [
            judged(LimitVerdict::Holds, Some(10e6), Some((9e6, 11e6))),
            judged(LimitVerdict::CannotTell, Some(10e6), None),
            judged(LimitVerdict::CannotTell, None, None),
            judged(LimitVerdict::Broken, Some(61e6), Some((55e6, 70e6))),
        ];
        let text = terminal(&limits);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "Limits: 1 broken, 1 holds, 2 can't tell");
        assert_eq!(
            lines[2],
            "  ✗ a@b@c: latency p99 at most 50.0 ms: 61.0 ms (55.0 ms to 70.0 ms)"
        );
        assert!(
            lines[3].contains("10.0 ms; only 3 good rounds, 6 are needed"),
            "{}",
            lines[3]
        );
        assert!(lines[4].ends_with("no good round"), "{}", lines[4]);
        assert!(lines[5].starts_with("  ✓"));
        assert_eq!(broken(&limits).unwrap(), "1 of 4 limits is broken");
        assert_eq!(
            table(&limits)
                .markdown()
                .lines()
                .filter(|line| line.starts_with("| "))
                .count(),
            5
        );
        assert_eq!(
            (terminal(&[]), table(&[]).is_empty(), broken(&limits[..3])),
            (String::new(), true, None)
        );
    }
}
