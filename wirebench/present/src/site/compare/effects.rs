//! The axis that all effects of a comparison share: worse to the right, whichever way the metric counts.

use crate::report::percent::declared;
use crate::site::scale::{Linear, stretched};
use crate::site::svg::{Anchor, Svg};
use wirebench_judge::summary::comparison::Row;
use wirebench_record::comparison::ComparedMetric;
use wirebench_record::metric::Better;

const EDGE: f64 = 8.0;
/// The axis reaches at least so far, and at most so far, percent.
const REACH: (f64, f64) = (2.0, 1_000.0);
/// What may stand on the axis, percent.
const TICKS: [f64; 9] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
/// Labels closer than this run into each other, px.
const APART: f64 = 34.0;

/// The axis of one comparison.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    scale: Linear,
    reach: f64,
    /// Where it begins and ends, px.
    ends: (f64, f64),
}

impl Axis {
    /// Wide enough for every interval, between two places of a picture.
    pub(super) fn within<'a>(rows: impl Iterator<Item = &'a Row<'a>>, ends: (f64, f64)) -> Self {
        let metrics = rows.filter_map(|row| row.metric);
        let reached = metrics.flat_map(|metric| {
            [
                metric.effect_percent,
                metric.effect_low_percent,
                metric.effect_high_percent,
            ]
        });
        let far = reached
            .flatten()
            .map(f64::abs)
            .filter(|end| end.is_finite())
            .fold(REACH.0, f64::max);
        let reach = (far * 1.1).min(REACH.1);
        let end = stretched(reach);
        Self {
            scale: Linear::new((-end, ends.0 + EDGE), (end, ends.1 - EDGE)),
            reach,
            ends,
        }
    }

    /// Where a change towards what is worse stands, percent.
    pub(super) fn at(&self, percent: f64) -> f64 {
        self.scale.at(stretched(percent.clamp(-self.reach, self.reach)))
    }

    /// Where the lower end, the estimate and the upper end of an effect stand, as far as they are known.
    pub(super) fn places(&self, metric: &ComparedMetric) -> (Option<f64>, Option<f64>, Option<f64>) {
        let at = |percent: f64| match metric.better {
            Better::Lower => self.at(percent),
            Better::Higher => self.at(-percent),
        };
        (
            metric.effect_low_percent.map(at),
            metric.effect_percent.map(at),
            metric.effect_high_percent.map(at),
        )
    }

    /// Draws it at the head of a picture.
    pub(super) fn draw_head(&self, svg: &mut Svg) {
        let zero = self.at(0.0);
        svg.text("end", (self.ends.0 + EDGE, 11.0), Anchor::Start, "← better");
        svg.text("end", (self.ends.1 - EDGE, 11.0), Anchor::End, "worse →");
        svg.text("tick", (zero, 26.0), Anchor::Middle, "0");
        let mut last = zero;
        for tick in TICKS.into_iter().filter(|tick| *tick <= self.reach) {
            let x = self.at(tick);
            if x - last < APART || x > self.ends.1 - EDGE {
                continue;
            }
            last = x;
            let label = declared(tick);
            svg.text("tick", (x.min(self.ends.1 - 16.0), 26.0), Anchor::Middle, &label);
            svg.text(
                "tick",
                ((2.0 * zero - x).max(self.ends.0 + 16.0), 26.0),
                Anchor::Middle,
                &label,
            );
        }
    }
}
