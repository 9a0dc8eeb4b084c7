//! Turns a judged cell into a metric of the comparison, with the verdict and all its figures.

use crate::compare::cell::{Cell, Figures};
use crate::compare::screen::Suspicion;
use crate::compare::{ALPHA_GATING, ALPHA_INFORMATIVE, FEWEST_PAIRS, INCONCLUSIVE_ABOVE_PERCENT, SCREEN, count};
use wirebench_record::comparison::{ComparedMetric, Verdict};
use wirebench_record::metric::{Better, Metric};
use wirebench_record::reason::MetricReason;
use wirebench_record::run::{Bound, Run, Series};
use wirebench_stats::location::{POWER, resolvable};

/// The result of a cell's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    Worse,
    Better,
    /// A test saw a change that the interval does not show.
    Disputed,
}

/// A cell with everything needed to judge it.
pub(super) struct Judged {
    pub(super) series: usize,
    pub(super) cell: Cell,
    pub(super) figures: Figures,
    pub(super) stage: u32,
    /// Why the first stage asks for fresh rounds.
    pub(super) suspected: Option<Suspicion>,
    /// Whether there were fresh rounds, and enough of them usable.
    pub(super) tested: bool,
    pub(super) found: Found,
    /// The client, where it held back most of the candidate's rounds in that stage.
    pub(super) limit: Option<Bound>,
}

impl Judged {
    /// Sets the tests' results. A change is reported only if the interval agrees, that is, all of it is on that side of
    /// equality. The test ranks rounds among their neighbours, the interval uses differences within pairs; with
    /// outliers they may disagree.
    pub(super) fn take(&mut self, worse: bool, better: bool) {
        let interval = self
            .figures
            .location
            .and_then(|location| location.low.zip(location.high));
        let agrees = |on_side: fn((f64, f64)) -> bool| interval.is_some_and(on_side);
        self.found = match (worse, better) {
            (true, _) if agrees(|(low, _)| low > 0.0) => Found::Worse,
            (_, true) if agrees(|(_, high)| high < 0.0) => Found::Better,
            (false, false) => Found::Nothing,
            _ => Found::Disputed,
        };
    }

    /// Whether a metric that gates from a size on is confirmed worse, with its whole interval beyond that size.
    fn beyond_default_gate(&self) -> bool {
        let low = self.figures.location.and_then(|location| location.low);
        let beyond = self
            .cell
            .log_gate_above()
            .zip(low)
            .is_some_and(|(above, low)| low > above);
        self.found == Found::Worse && beyond
    }

    /// Whether it gates although its metric informs. Throughput and latency of a busy client are the client's.
    fn gates_for_its_size(&self) -> bool {
        self.beyond_default_gate() && self.limit != Some(Bound::Client)
    }
}

/// A difference of logarithms of badness as the relative change of the metric's own value, percent.
pub(super) fn percent(metric: Metric, log: f64) -> f64 {
    match metric.better() {
        Better::Lower => log.exp_m1() * 100.0,
        Better::Higher => (-log).exp_m1() * 100.0,
    }
}

/// The same as a size of worsening, never below 0.
fn worsening(metric: Metric, log: f64) -> f64 {
    percent(metric, log.max(0.0)).abs()
}

/// The result for a cell.
pub(super) fn metric(judged: &Judged, tests: (usize, usize), run: &Run, series: &Series) -> ComparedMetric {
    let (cell, figures) = (&judged.cell, &judged.figures);
    let what = cell.metric;
    let gate = cell.margin.gate;
    let kept = figures.kept.pairs.len();
    let location = figures.location;
    let effect = location.map(|location| percent(what, location.estimate));
    let ends = location
        .and_then(|location| location.low.zip(location.high))
        .map(|(low, high)| {
            let (a, b) = (percent(what, low), percent(what, high));
            (a.min(b), a.max(b))
        });
    // The worse end of the interval shown, so that all sentences use one bound.
    let at_most = (location.and_then(|location| location.high)).map(|bound| worsening(what, bound));
    let (alpha, family) = if gate {
        (ALPHA_GATING, tests.0)
    } else {
        (ALPHA_INFORMATIVE, tests.1)
    };
    let smallest = (figures.sd.filter(|_| kept >= FEWEST_PAIRS))
        .map(|sd| worsening(what, resolvable(cell.log_margin(), sd, kept, alpha, family, POWER)));
    let (verdict, reason) = verdict(judged, at_most);
    let worse_by = location.map_or(0.0, |location| worsening(what, location.estimate));
    ComparedMetric {
        metric: what,
        unit: what.unit().into(),
        better: what.better(),
        primary: gate || judged.gates_for_its_size(),
        verdict,
        reason,
        accepted: (verdict == Verdict::Regressed)
            .then(|| accepted(run, series, what, worse_by))
            .flatten(),
        baseline: figures.baseline,
        candidate: figures.candidate,
        effect_percent: effect,
        effect_low_percent: ends.map(|(low, _)| low),
        effect_high_percent: ends.map(|(_, high)| high),
        worse_at_most_percent: at_most,
        margin_percent: cell.margin.margin.percent(),
        resolvable_percent: smallest,
        spread_percent: figures.sd.map(|sd| sd / std::f64::consts::SQRT_2 * 100.0),
        p_worse: judged.tested.then(|| cell.p_worse()),
        p_better: judged.tested.then(|| cell.p_better()),
        stage: judged.stage,
        pairs: count(cell.pairs()),
        kept: count(kept),
        dropped_baseline: count(figures.kept.far_first),
        dropped_candidate: count(figures.kept.far_second),
        null_percent: None,
        null_pairs: 0,
        flame_graph: None,
    }
}

/// Why a worsening of this size, percent, is meant.
pub(super) fn accepted(run: &Run, series: &Series, metric: Metric, worse_by: f64) -> Option<String> {
    (run.accepted.iter())
        .filter_map(|entry| entry.clone().compile().ok())
        .find(|accepted| accepted.covers(&series.id, Some(metric), worse_by))
        .map(|accepted| accepted.entry.reason)
}

/// Whether the whole interval lies beyond the margin: not a verdict, as it is one of many, but nothing to call unchanged.
fn looks_worse(judged: &Judged) -> bool {
    let low = judged.figures.location.and_then(|location| location.low);
    low.is_some_and(|low| low > judged.cell.log_margin())
}

/// True if the first stage requested fresh rounds because of a possible worsening, and there were none.
fn is_unconfirmed(judged: &Judged) -> bool {
    let screened = judged.cell.margin.gate && judged.cell.p_worse() <= SCREEN;
    judged.stage == 1 && judged.suspected == Some(Suspicion::Changed) && (screened || looks_worse(judged))
}

fn verdict(judged: &Judged, at_most: Option<f64>) -> (Verdict, MetricReason) {
    let margin = judged.cell.margin.margin.percent();
    let kept = judged.figures.kept.pairs.len();
    match at_most {
        _ if kept < FEWEST_PAIRS => (
            Verdict::Inconclusive,
            MetricReason::TooFewPairs {
                usable: count(kept),
                needed: count(FEWEST_PAIRS),
            },
        ),
        _ if judged.found == Found::Worse => (Verdict::Regressed, worse(judged)),
        _ if judged.found == Found::Better => (Verdict::Improved, MetricReason::BetterThan { percent: margin }),
        _ if is_unconfirmed(judged) => (Verdict::Inconclusive, MetricReason::Unconfirmed),
        _ if looks_worse(judged) => (Verdict::Inconclusive, MetricReason::NotBeyondDoubt),
        _ if judged.found == Found::Disputed => (Verdict::Inconclusive, MetricReason::Disputed),
        Some(bound) if bound <= INCONCLUSIVE_ABOVE_PERCENT => {
            (Verdict::Unchanged, MetricReason::NoWorseningAbove { percent: bound })
        }
        _ => {
            let percent = INCONCLUSIVE_ABOVE_PERCENT;
            (Verdict::Inconclusive, MetricReason::NotExcluded { percent })
        }
    }
}

/// The reason of a confirmed worsening: the size it exceeds, and whether it gates because of its size.
fn worse(judged: &Judged) -> MetricReason {
    let margin = judged.cell.margin.margin.percent();
    let above = judged
        .cell
        .margin
        .gate_above
        .map_or(margin, |above| above.percent().max(margin));
    if judged.gates_for_its_size() {
        MetricReason::WorseThanGate { percent: above }
    } else if judged.beyond_default_gate() {
        MetricReason::WorseButClientBound { percent: above }
    } else {
        MetricReason::WorseThan { percent: margin }
    }
}
