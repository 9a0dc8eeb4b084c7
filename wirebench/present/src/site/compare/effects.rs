//! One effect as a whisker on an axis that all effects of a comparison share: worse to the right, whichever way the metric
//! counts; the margin as a band.

use crate::report::comparison::words::declared;
use crate::site::scale::{Linear, stretched};
use crate::site::svg::{Anchor, Path, Picture, Svg};
use wirebench_judge::summary::comparison::Row;
use wirebench_record::comparison::ComparedMetric;
use wirebench_record::metric::Better;

const WIDTH: f64 = 320.0;
const ROW: f64 = 26.0;
const HEAD: f64 = 34.0;
const EDGE: f64 = 8.0;
/// The axis reaches at least so far, and at most so far, percent.
const REACH: (f64, f64) = (2.0, 1_000.0);
/// What may stand on the axis, percent.
const TICKS: [f64; 9] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
/// Labels closer than this run into each other, px.
const APART: f64 = 36.0;

/// The axis of one comparison.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    scale: Linear,
    reach: f64,
}

impl Axis {
    /// Wide enough for every interval.
    pub(super) fn of<'a>(rows: impl Iterator<Item = &'a Row<'a>>) -> Self {
        let metrics = rows.filter_map(|row| row.metric);
        let ends = metrics.flat_map(|metric| {
            [
                metric.effect_percent,
                metric.effect_low_percent,
                metric.effect_high_percent,
                Some(metric.margin_percent),
            ]
        });
        let far = ends
            .flatten()
            .map(f64::abs)
            .filter(|end| end.is_finite())
            .fold(REACH.0, f64::max);
        let reach = (far * 1.1).min(REACH.1);
        let end = stretched(reach);
        Self {
            scale: Linear::new((-end, EDGE), (end, WIDTH - EDGE)),
            reach,
        }
    }

    fn at(&self, percent: f64) -> f64 {
        self.scale.at(stretched(percent.clamp(-self.reach, self.reach)))
    }

    /// The axis itself, for the head of the column.
    pub(super) fn head(&self) -> Picture {
        let mut svg = Svg::new(WIDTH, HEAD);
        let zero = self.at(0.0);
        svg.text("end", (EDGE, 12.0), Anchor::Start, "← better");
        svg.text("end", (WIDTH - EDGE, 12.0), Anchor::End, "worse →");
        svg.text("tick", (zero, 30.0), Anchor::Middle, "0");
        let mut last = zero;
        for tick in TICKS.into_iter().filter(|tick| *tick <= self.reach) {
            let x = self.at(tick);
            if x - last < APART || x > WIDTH - EDGE {
                continue;
            }
            last = x;
            let label = declared(tick);
            svg.text("tick", (x.min(WIDTH - 18.0), 30.0), Anchor::Middle, &label);
            svg.text("tick", ((2.0 * zero - x).max(18.0), 30.0), Anchor::Middle, &label);
        }
        svg.finish_hidden("axis")
    }

    /// The whisker of one row; `class` is its verdict's. The change beside it says the same in words.
    pub(super) fn whisker(&self, metric: &ComparedMetric, class: &str) -> Picture {
        let towards_worse = |percent: f64| match metric.better {
            Better::Lower => percent,
            Better::Higher => -percent,
        };
        let mut svg = Svg::new(WIDTH, ROW);
        let middle = ROW / 2.0;
        let margin = (self.at(-metric.margin_percent), self.at(metric.margin_percent));
        svg.rect("margin", (margin.0, 0.0), (margin.1 - margin.0, ROW));
        svg.line("zero", (self.at(0.0), 0.0), (self.at(0.0), ROW));
        if let (Some(low), Some(high)) = (metric.effect_low_percent, metric.effect_high_percent) {
            let (low, high) = (self.at(towards_worse(low)), self.at(towards_worse(high)));
            svg.line(class, (low, middle), (high, middle));
            for end in [low, high] {
                svg.line(class, (end, middle - 4.0), (end, middle + 4.0));
            }
        }
        if let Some(effect) = metric.effect_percent {
            let mut dot = Path::default();
            dot.dot((self.at(towards_worse(effect)), middle));
            svg.path(&format!("dot {class}"), &dot, "");
        }
        svg.finish_hidden("whisker")
    }
}
