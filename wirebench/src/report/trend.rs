//! A trend as a person reads it in a terminal: a line for each series and metric, and below it where it stepped or broke.

use std::fmt::Write as _;

use crate::record::metric::Metric;
use crate::record::run::short_commit;
use crate::record::trend::{Basis, ChangePoint, Direction, Push, Segment, Trace, Trend};
use crate::report::comparison::words::figure;
use crate::report::format::{bytes, count, plain, three_digits, time};

/// Names longer than this do not widen the columns of all others.
const WIDEST: usize = 60;

/// The trend as text.
#[must_use]
pub fn render(trend: &Trend) -> String {
    let mut out = String::new();
    let width = |text: fn(&Trace) -> String| {
        let widths = trend.traces.iter().map(|trace| text(trace).chars().count());
        widths.filter(|width| *width <= WIDEST).max().unwrap_or(0)
    };
    let (series, metric) = (width(name), width(what));
    let mut source = "runs";
    for trace in &trend.traces {
        if trace.source != source {
            source = &trace.source;
            let _ = writeln!(out, "\n{}", plain(source));
        }
        let _ = writeln!(
            out,
            "{:series$}  {:metric$}  {}",
            name(trace),
            what(trace),
            standing(trace)
        );
        for segment in &trace.segments {
            events(&mut out, segment);
        }
    }
    let _ = writeln!(out, "\n{}", totals(trend));
    out
}

fn name(trace: &Trace) -> String {
    plain(&trace.series)
}

fn what(trace: &Trace) -> String {
    match trace.metric {
        Some(metric) => metric.label().to_owned(),
        None if trace.unit.is_empty() => "no unit".to_owned(),
        None => plain(&trace.unit),
    }
}

/// Where a trace stands now.
fn standing(trace: &Trace) -> String {
    let Some(newest) = trace.segments.last() else {
        return "no values".to_owned();
    };
    let level = level(trace, newest.level);
    let seen = match newest.resolvable_percent {
        Some(percent) => format!("sees steps from {} %", three_digits(percent)),
        None => "too few values to say what it sees".to_owned(),
    };
    let mut line = format!("{level}, {} values, {seen}", count_of(trace.points));
    if trace.left_out > 0 {
        let _ = write!(line, ", {} left out", count_of(trace.left_out));
    }
    line
}

fn level(trace: &Trace, level: f64) -> String {
    match (trace.basis, trace.metric) {
        (Basis::Ratio, _) => format!("{level:.3} of the reference"),
        (Basis::Value, Some(metric)) if metric.is_counted() => figure(metric, level),
        (Basis::Value, Some(Metric::PeakRss)) => bytes(level),
        (Basis::Value, Some(Metric::Throughput)) => format!("{} req/s", count(level)),
        (Basis::Value, Some(_)) => time(level),
        (Basis::Value, None) => format!("{} {}", three_digits(level), plain(&trace.unit))
            .trim_end()
            .to_owned(),
    }
}

fn events(out: &mut String, segment: &Segment) {
    if let Some(why) = &segment.broken_by {
        let _ = writeln!(out, "    ── broken at {}: {}", push(&segment.first), plain(why));
    }
    for point in &segment.change_points {
        let _ = writeln!(out, "    {}", step(point));
    }
}

fn step(point: &ChangePoint) -> String {
    let (symbol, word) = match point.direction {
        Direction::Better => ("▽", "better"),
        Direction::Worse => ("▲", "worse"),
        Direction::Unknown => ("◇", "changed"),
    };
    let meaning = match (&point.accepted, point.alert) {
        (Some(reason), _) => format!(", accepted: {}", plain(reason)),
        (None, true) if point.recent => ", ALERT (new)".to_owned(),
        (None, true) => ", ALERT".to_owned(),
        (None, false) => String::new(),
    };
    format!(
        "{symbol} {word} {} % ({} … {}) after {} up to {}{meaning}",
        signed(point.change_percent),
        signed(point.low_percent),
        signed(point.high_percent),
        plain(short_commit(&point.last_before.commit)),
        push(&point.first_after)
    )
}

fn push(push: &Push) -> String {
    let day = push.at.as_deref().and_then(|time| time.get(..10)).unwrap_or("no date");
    format!("{} ({})", plain(short_commit(&push.commit)), plain(day))
}

/// With its sign, one decimal: `+3.1`, `−0.4`.
fn signed(percent: f64) -> String {
    let sign = if percent < 0.0 { '−' } else { '+' };
    format!("{sign}{:.1}", percent.abs())
}

fn totals(trend: &Trend) -> String {
    let steps = || {
        let segments = trend.traces.iter().flat_map(|trace| &trace.segments);
        segments.flat_map(|segment| &segment.change_points)
    };
    let of = |direction| steps().filter(|point| point.direction == direction).count();
    let accepted = steps().filter(|point| point.accepted.is_some()).count();
    format!(
        "{} runs, {} series × metrics: {} steps worse ({accepted} accepted, {} alerts, {} of them new), {} better, {} of unknown direction",
        count_of(trend.runs),
        count_of(trend.traces.len()),
        of(Direction::Worse),
        trend.alerts,
        trend.recent_alerts,
        of(Direction::Better),
        of(Direction::Unknown)
    )
}

#[expect(clippy::cast_precision_loss, reason = "counts of runs stay far below 2^53")]
fn count_of(number: usize) -> String {
    count(number as f64)
}
