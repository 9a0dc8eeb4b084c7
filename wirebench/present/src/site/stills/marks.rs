//! The marks through a still picture: steps, breaks and releases, with their names in two rows above the plot. As `marks` of
//! `site/assets/lib/text.js` and `drawMarks` of `site/assets/chart/draw.js`.

use super::plot::{Plot, place};
use crate::report::format::{count, shortened};
use crate::site::shown::name;
use crate::site::svg::{Anchor, Path, Svg};
use wirebench_record::site::{Column, Release, Step};
use wirebench_record::trend::Direction;

/// A narrower plot has shorter names, px.
const NARROW: f64 = 560.0;
/// Names nearer to each other than this would be read as one, px.
const BETWEEN: f64 = 6.0;

struct Mark {
    kind: Kind,
    /// The place it belongs to, which orders marks.
    order: usize,
    /// Where its rule is.
    at: f64,
    /// Names of which the first that has room is written.
    names: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Release,
    Break,
    /// Between the last place before and the first after; the class of its colour.
    Step(usize, usize, &'static str),
}

/// Draws the marks of a column.
pub(super) fn draw(svg: &mut Svg, plot: &Plot, column: &Column, releases: &[Release]) {
    let narrow = plot.right - plot.left < NARROW;
    let mut taken: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
    for mark in marks(column, releases, narrow) {
        let x = plot.at(mark.at).round() + 0.5;
        if x < plot.left - 1.0 || x > plot.right + 1.0 {
            continue;
        }
        let (rule, text, top, lane) = match mark.kind {
            Kind::Release => ("rule release".to_owned(), "name".to_owned(), plot.top - 1.0, 1),
            Kind::Break => ("rule break".to_owned(), "name text".to_owned(), plot.top - 1.0, 1),
            Kind::Step(before, after, colour) => {
                let (left, right) = (plot.at(place(before)), plot.at(place(after)));
                let mut between = Path::default();
                between.through([
                    (left, plot.top),
                    (right, plot.top),
                    (right, plot.bottom),
                    (left, plot.bottom),
                ]);
                svg.path(&format!("between {colour}"), &between, "");
                (
                    format!("rule step {colour}"),
                    format!("name {colour}"),
                    plot.top - 18.0,
                    0,
                )
            }
        };
        svg.line(&rule, (x, top), (x, plot.bottom));
        let y = plot.top - if lane == 0 { 27.0 } else { 10.0 };
        let fits = mark
            .names
            .iter()
            .find_map(|name| Some((name, free(name, x, plot.right, &taken[lane])?)));
        if let Some((name, (left, right))) = fits {
            taken[lane].push((left, right));
            svg.text(&text, (f64::midpoint(left, right), y), Anchor::Middle, name);
        }
    }
}

/// The marks in the order in which they get room for their names: those of releases get what the others leave.
fn marks(column: &Column, releases: &[Release], narrow: bool) -> Vec<Mark> {
    let breaks = column.breaks.iter().map(|one| Mark {
        kind: Kind::Break,
        order: one.at,
        at: place(one.at) - 0.5,
        names: vec![cut(&one.why, narrow)],
    });
    let mut found: Vec<Mark> = breaks.chain(column.steps.iter().map(|one| step(one, narrow))).collect();
    found.sort_by_key(|mark| mark.order);
    found.extend(releases.iter().map(|one| Mark {
        kind: Kind::Release,
        order: one.at,
        at: place(one.at),
        names: vec![cut(&one.name, narrow)],
    }));
    found
}

fn step(step: &Step, narrow: bool) -> Mark {
    let meant = step.accepted.is_some() && step.direction != Direction::Better;
    let (shape, word, colour) = match step.direction {
        Direction::Worse if meant => ("▼", "accepted", "noise"),
        Direction::Unknown if meant => ("◇", "accepted", "noise"),
        Direction::Worse => ("▼", "worse", "worse"),
        Direction::Better => ("▲", "better", "better"),
        Direction::Unknown => ("◇", "changed", "noise"),
    };
    let size = percent(step.change_percent);
    let first = if narrow {
        format!("{shape} {size}")
    } else {
        format!("{shape} {word} {size}")
    };
    Mark {
        kind: Kind::Step(step.last_before, step.first_after, colour),
        order: step.first_after,
        at: f64::midpoint(place(step.last_before), place(step.first_after)),
        names: vec![first, shape.into()],
    }
}

/// `+3.20 %`, `−0.41 %`, `0 %`: `percent` of `site/assets/lib/text.js`.
fn percent(value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    match value.abs() {
        size if size < 0.005 => "0 %".into(),
        size if size >= 99.95 => format!("{sign}{} %", count(size)),
        size if size >= 9.995 => format!("{sign}{size:.1} %"),
        size => format!("{sign}{size:.2} %"),
    }
}

fn cut(text: &str, narrow: bool) -> String {
    shortened(&name(text), if narrow { 14 } else { 31 })
}

/// Where a name fits beside its rule at `x` without lying on another; `None` if nowhere.
fn free(name: &str, x: f64, right: f64, taken: &[(f64, f64)]) -> Option<(f64, f64)> {
    let width = width(name);
    let left = (x - width / 2.0).min(right - width).max(0.0);
    let overlaps = |(from, to): &(f64, f64)| left < to + BETWEEN && left + width > from - BETWEEN;
    (!taken.iter().any(overlaps)).then_some((left, left + width))
}

/// About how wide a text of 12 px is; the fonts of readers differ.
fn width(text: &str) -> f64 {
    let ems = text.chars().map(|c| match c {
        ' ' | '.' | ',' | ':' | 'i' | 'j' | 'l' | '|' => 0.32,
        '%' | 'm' | 'w' | 'M' | 'W' => 0.95,
        '+' | '−' | '▲' | '▼' | '◇' => 0.8,
        _ => 0.62,
    });
    12.0 * ems.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_moving_chart() {
        let found = [3.2, -0.41, 0.001, 12.0, 250.4].map(percent);
        assert_eq!(found, ["+3.20 %", "−0.41 %", "0 %", "+12.0 %", "+250 %"]);
    }

    #[test]
    fn a_name_that_would_lie_on_another_has_no_room() {
        let first = free("v1.4.0", 100.0, 500.0, &[]).unwrap();
        assert!(free("v1.5.0", 110.0, 500.0, &[first]).is_none());
        assert!(free("v1.5.0", 200.0, 500.0, &[first]).is_some());
        let (_, right) = free("at the edge", 499.0, 500.0, &[]).unwrap();
        assert!(right <= 500.0, "{right}");
    }
}
