//! Ratios below each other over one logarithmic axis: what was published as a diamond, ours as a dot with its interval.

use wirebench_judge::summary::head_to_head::Multiple;
use wirebench_present::report::format::{shortened, three_digits};
use wirebench_present::site::scale::{self, Log};
use wirebench_present::site::svg::{Anchor, Markup, Path, Svg};

/// Narrow enough for a phone.
const WIDTH: f64 = 340.0;
/// A row is a line of words and a line of marks.
const ROW: f64 = 34.0;
const FOOT: f64 = 18.0;
/// Where the axis begins and ends; numbers follow.
const PLOT: (f64, f64) = (6.0, 286.0);
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

/// A ratio with the ends of its interval; all three are equal where it has none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratio {
    /// The lower end.
    pub(super) low: f64,
    /// The ratio.
    pub(super) at: f64,
    /// The upper end.
    pub(super) high: f64,
}

impl From<Multiple> for Ratio {
    fn from(multiple: Multiple) -> Self {
        Self {
            low: multiple.low,
            at: multiple.times,
            high: multiple.high,
        }
    }
}

/// The words of a row and its ratios.
pub(super) type Row = (String, Vec<(Mark, Ratio)>);

/// The picture of these rows; `None` without a ratio.
#[expect(clippy::cast_precision_loss, reason = "some dozens of rows")]
pub(super) fn picture(rows: &[Row], fact: &str) -> Option<Markup> {
    let ratios = rows.iter().flat_map(|(_, ratios)| ratios).map(|(_, ratio)| ratio);
    ratios.clone().next()?;
    let axis = scale::axis(ratios.map(|ratio| (ratio.low, ratio.high)), PLOT);
    let height = ROW * rows.len() as f64;
    let mut svg = Svg::new(WIDTH, height + FOOT);
    for tick in ticks(axis.range()) {
        svg.line("grid", (axis.at(tick), 0.0), (axis.at(tick), height));
        let label = format!("× {}", three_digits(tick).trim_end_matches(".00").trim_end_matches('0'));
        svg.text("tick", (axis.at(tick), height + 13.0), Anchor::Middle, &label);
    }
    svg.line("one", (axis.at(1.0), 0.0), (axis.at(1.0), height));
    let mut alt = Vec::new();
    for (number, (label, ratios)) in rows.iter().enumerate() {
        let top = ROW * number as f64;
        svg.text("name", (0.0, top + 13.0), Anchor::Start, &shortened(label, LABEL));
        for (mark, ratio) in ratios {
            draw(&mut svg, axis, top + 24.0, *mark, *ratio);
            let whose = if *mark == Mark::Diamond { " published" } else { "" };
            alt.push(format!("{label}{whose} × {}", three_digits(ratio.at)));
        }
    }
    Some(svg.finish("beside-one", &format!("{fact}: {}", alt.join("; "))))
}

/// 1, 2 and 5 of each power of ten between two values; over more than two powers only the powers.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let factors: &[f64] = match (high / low).log10() {
        powers if powers > 2.0 => &[1.0],
        powers if powers > 1.0 => &[1.0, 3.0],
        _ => &[1.0, 2.0, 5.0],
    };
    let mut ticks = Vec::new();
    let mut power = 10_f64.powf(low.log10().floor());
    while power <= high && ticks.len() < 40 {
        ticks.extend(factors.iter().map(|factor| factor * power));
        power *= 10.0;
    }
    let inside = |tick: &f64| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9);
    ticks.retain(inside);
    ticks
}

fn draw(svg: &mut Svg, axis: Log, middle: f64, mark: Mark, ratio: Ratio) {
    let mut path = Path::default();
    let at = (axis.at(ratio.at), middle);
    if mark == Mark::Diamond {
        path.diamond(at);
        svg.path("published", &path, "");
        return;
    }
    svg.line("whisker", (axis.at(ratio.low), middle), (axis.at(ratio.high), middle));
    path.dot(at);
    svg.path("point", &path, "");
    let times = format!("× {}", three_digits(ratio.at));
    svg.text("times", (PLOT.1 + 6.0, middle + 4.0), Anchor::Start, &times);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks((150.0, 700.0)), [200.0, 500.0]);
        assert_eq!(ticks((90.0, 20_000.0)), [100.0, 1_000.0, 10_000.0]);
    }

    #[test]
    fn a_row_has_its_words_its_marks_and_is_said() {
        let ratio = |at: f64| Ratio {
            low: at * 0.9,
            at,
            high: at * 1.1,
        };
        let ratios = vec![(Mark::Dot, ratio(1.4)), (Mark::Diamond, ratio(2.9))];
        let rows = [("throughput".to_owned(), ratios)];
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
