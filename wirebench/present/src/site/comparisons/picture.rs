//! Ratios below each other over one logarithmic axis: what was published as a diamond, ours as a dot with its interval.

use crate::report::format::three_digits;
use crate::site::scale::Log;
use crate::site::svg::{Anchor, Path, Picture, Svg};

/// Narrow enough for a phone.
const WIDTH: f64 = 340.0;
/// A row is a line of words and a line of marks.
const ROW: f64 = 34.0;
const FOOT: f64 = 18.0;
/// Where the axis begins and ends; numbers follow.
const PLOT: (f64, f64) = (6.0, 286.0);
/// The axis reaches at least so far to either side of 1.
const REACH: f64 = 1.25;
/// Characters of a row's words.
const LABEL: usize = 52;

/// How a ratio is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Measured here.
    Dot,
    /// Published.
    Diamond,
}

/// A ratio with the ends of its interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratio {
    pub(super) low: f64,
    pub(super) at: f64,
    pub(super) high: f64,
    pub(super) mark: Mark,
}

/// The picture of so many rows; none without a row.
#[expect(clippy::cast_precision_loss, reason = "some dozens of rows")]
pub(super) fn picture(rows: &[(String, Vec<Ratio>)], fact: &str) -> Option<Picture> {
    let ratios = || rows.iter().flat_map(|(_, ratios)| ratios);
    ratios().next()?;
    let low = ratios().map(|ratio| ratio.low).fold(1.0 / REACH, f64::min);
    let high = ratios().map(|ratio| ratio.high).fold(REACH, f64::max);
    let axis = Log::new((low / 1.08, PLOT.0), (high * 1.08, PLOT.1));
    let height = ROW * rows.len() as f64;
    let mut svg = Svg::new(WIDTH, height + FOOT);
    for tick in axis.ticks() {
        svg.line("grid", (axis.at(tick), 0.0), (axis.at(tick), height));
        let label = format!("× {}", three_digits(tick).trim_end_matches(".00").trim_end_matches('0'));
        svg.text("tick", (axis.at(tick), height + 13.0), Anchor::Middle, &label);
    }
    svg.line("one", (axis.at(1.0), 0.0), (axis.at(1.0), height));
    let mut said = Vec::new();
    for (number, (label, ratios)) in rows.iter().enumerate() {
        let top = ROW * number as f64;
        svg.text("name", (0.0, top + 13.0), Anchor::Start, &short(label));
        for ratio in ratios {
            one(&mut svg, axis, top + 24.0, *ratio);
            let whose = if ratio.mark == Mark::Diamond { " published" } else { "" };
            said.push(format!("{label}{whose} × {}", three_digits(ratio.at)));
        }
    }
    Some(svg.finish("claims", &format!("{fact}: {}", said.join("; "))))
}

fn one(svg: &mut Svg, axis: Log, middle: f64, ratio: Ratio) {
    let mut mark = Path::default();
    let at = (axis.at(ratio.at), middle);
    if ratio.mark == Mark::Diamond {
        mark.diamond(at);
        svg.path("published", &mark, "");
        return;
    }
    svg.line("whisker", (axis.at(ratio.low), middle), (axis.at(ratio.high), middle));
    mark.dot(at);
    svg.path("point", &mark, "");
    let times = format!("× {}", three_digits(ratio.at));
    svg.text("times", (PLOT.1 + 6.0, middle + 4.0), Anchor::Start, &times);
}

/// Words that fit on the picture.
fn short(label: &str) -> String {
    if label.chars().count() <= LABEL {
        return label.to_owned();
    }
    label.chars().take(LABEL - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_words_its_marks_and_is_said() {
        let ratio = |at: f64, mark| Ratio {
            low: at * 0.9,
            at,
            high: at * 1.1,
            mark,
        };
        let rows = [(
            "throughput".to_owned(),
            vec![ratio(1.4, Mark::Dot), ratio(2.9, Mark::Diamond)],
        )];
        let drawn = picture(&rows, "gRPC ÷ HTTP").unwrap().to_string();
        for needed in [
            "class=\"whisker\"",
            "class=\"published\"",
            "throughput × 1.40; throughput published × 2.90",
            ">× 1.40<",
        ] {
            assert!(drawn.contains(needed), "no {needed} in {drawn}");
        }
        assert!(picture(&[], "nothing").is_none());
    }
}
