//! A trend in a terminal: a line for each series and metric, followed by its steps and breaks.

use std::fmt::Write as _;

use askama::Template;

use crate::report::cause::{moved, sentence};
use crate::report::format::{figure, grouped, plain, plural, signed, three_digits, with_interval};
use wirebench_record::run::short_commit;
use wirebench_record::trend::{Basis, ChangePoint, Direction, Group, Push, SeenNoise, Segment, Trace, Trend};

/// The widest column, characters: longer names do not widen it.
const WIDEST: usize = 60;

/// Shapes and words of a step and of a standing, the same in a terminal and on every page.
pub const WORSE: &str = "▼ worse";
/// A step towards what is better.
pub const BETTER: &str = "▲ better";
/// A step of which nobody says which way is better.
pub const CHANGED: &str = "◇ changed";

/// If the smallest step that would be seen is larger, percent, the trace is too noisy to judge.
pub const TOO_NOISY: f64 = 100.0;

#[derive(Template)]
#[template(path = "trend.txt")]
struct Text<'a> {
    trend: &'a Trend,
    /// How wide the columns of series and of metrics are, characters.
    widths: (usize, usize),
}

/// The trend as text.
pub fn render(trend: &Trend) -> String {
    let width = |text: fn(&Trace) -> String| {
        let widths = trend.traces.iter().map(|trace| text(trace).chars().count());
        widths.filter(|width| *width <= WIDEST).max().unwrap_or(0)
    };
    let widths = (width(name), width(what));
    let text = Text { trend, widths }.render();
    text.expect("the template only writes into a string")
}

/// The traces of each source.
fn sources(trend: &Trend) -> Vec<&[Trace]> {
    trend.traces.chunk_by(|one, next| one.source == next.source).collect()
}

/// The pushes at which several series stepped, or something got worse.
fn groups(trend: &Trend) -> Vec<&Group> {
    let groups = trend.groups.iter();
    groups.filter(|group| group.stepped > 1 || group.alert).collect()
}

fn line(trace: &Trace, (series, metric): (usize, usize)) -> String {
    format!("{:series$}  {:metric$}  {}", name(trace), what(trace), standing(trace))
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

/// The level of a trace, and what its noise allows to see.
fn standing(trace: &Trace) -> String {
    let Some(newest) = trace.segments.last() else {
        return trace
            .not_judged
            .as_deref()
            .map_or_else(|| "no values".to_owned(), plain);
    };
    let level = level(trace, newest);
    let seen = match newest.resolvable_percent {
        Some(percent) if percent > TOO_NOISY => "too noisy to judge".to_owned(),
        Some(percent) => format!("sees steps from {} %", three_digits(percent)),
        None => "too few values to say what it sees".to_owned(),
    };
    let mut line = format!("{level}, {} values, {seen}", grouped(trace.points));
    if trace.stopped {
        let last = trace
            .newest
            .as_ref()
            .map_or_else(String::new, |newest| push(&newest.at));
        let _ = write!(line, "; stopped: last measured at {last}");
    }
    for word in newest.noise.iter().flat_map(kinds) {
        let _ = write!(line, ", {word}");
    }
    if trace.left_out > 0 {
        let _ = write!(line, ", {} left out", grouped(trace.left_out));
    }
    if let Some(newest) = &trace.newest
        && let Some(why) = &newest.left_out
    {
        let value = newest
            .value
            .map_or_else(|| "none".to_owned(), |value| in_unit(trace, value));
        let _ = write!(
            line,
            "; newest value not judged: {value} at {}: {}",
            push(&newest.at),
            plain(why)
        );
    }
    line
}

/// The kinds of noise in a trace, in words.
pub fn kinds(noise: &SeenNoise) -> Vec<String> {
    let mut found = Vec::new();
    if noise.autocorrelation >= 0.3 {
        found.push(format!(
            "values follow each other (autocorrelation {:.1})",
            noise.autocorrelation
        ));
    }
    if noise.returns > 0 {
        found.push(format!("levels come and go ({} times of late)", noise.returns));
    }
    if noise.drift_percent != 0.0 {
        found.push(format!("drifts by {} % in 100 values", signed(noise.drift_percent)));
    }
    if noise.outliers_percent >= 2.0 {
        found.push(format!("outliers {} %", three_digits(noise.outliers_percent)));
    }
    found
}

fn level(trace: &Trace, segment: &Segment) -> String {
    match segment.basis {
        Basis::Ratio => format!("{:.3} of the reference", segment.level),
        Basis::Value => in_unit(trace, segment.level),
    }
}

fn in_unit(trace: &Trace, level: f64) -> String {
    match trace.metric {
        Some(metric) => figure(metric, level),
        None => format!("{} {}", three_digits(level), plain(&trace.unit))
            .trim_end()
            .to_owned(),
    }
}

fn step(point: &ChangePoint) -> String {
    let word = match point.direction {
        Direction::Better => BETTER,
        Direction::Worse => WORSE,
        Direction::Unknown => CHANGED,
    };
    let meaning = match (&point.accepted, point.alert) {
        _ if point.not_code.is_some() => format!(", {}", plain(point.not_code.as_deref().unwrap_or_default())),
        (Some(reason), _) => format!(", accepted: {}", plain(reason)),
        (None, _) if point.open && point.recent => ", ALERT (new)".to_owned(),
        (None, _) if point.open => ", ALERT".to_owned(),
        (None, true) => ", fixed: a later step took it back".to_owned(),
        (None, false) => String::new(),
    };
    format!(
        "{word} {} after {} up to {}{meaning}",
        with_interval(point.change_percent, point.low_percent, point.high_percent),
        plain(short_commit(&point.last_before.commit)),
        push(&point.first_after)
    )
}

fn push(push: &Push) -> String {
    let day = push.at.as_deref().and_then(|time| time.get(..10)).unwrap_or("no date");
    format!("{} ({})", plain(short_commit(&push.commit)), plain(day))
}

/// The metrics that moved at a push: `http worse by 2.8 to 4.1 % (25 metrics, 5 series) at 0123456789ab (2026-11-21); 25 of 30 moved`.
pub fn headline(group: &Group) -> String {
    format!(
        "{} at {}; {} of {} moved",
        sentence(&moved(group)),
        push(&group.first_after),
        grouped(group.stepped),
        grouped(group.measured),
    )
}

fn totals(trend: &Trend) -> String {
    let steps = || {
        let segments = trend.traces.iter().flat_map(|trace| &trace.segments);
        segments.flat_map(|segment| &segment.change_points)
    };
    let of = |direction| steps().filter(|point| point.direction == direction).count();
    let accepted = steps().filter(|point| point.accepted.is_some()).count();
    format!(
        "{} runs, {} series × metrics: {} steps worse ({accepted} accepted), {} better, {} of unknown direction; {}, {} new",
        grouped(trend.runs),
        grouped(trend.traces.len()),
        of(Direction::Worse),
        of(Direction::Better),
        of(Direction::Unknown),
        open_regressions(trend.open),
        grouped(trend.recent_alerts)
    )
}

/// How many regressions are open: `1 open regression`.
pub fn open_regressions(open: usize) -> String {
    plural(open, "open regression")
}
