//! Turns a judged cell into a metric of the comparison, with the verdict and all its figures.

use crate::compare::cell::{Cell, Estimates};
use crate::compare::null::TimedNull;
use crate::compare::screen::{Suspicion, is_worse_around_margin};
use crate::compare::series::unjudged_metric;
use crate::compare::sleeps::Sleeps;
use crate::compare::{ALPHA_GATING, ALPHA_INFORMATIVE, FEWEST_PAIRS, INCONCLUSIVE_ABOVE_PERCENT, SCREEN, count};
use wirebench_declare::plan::warm_up;
use wirebench_declare::span::nanos;
use wirebench_record::comparison::{ComparedMetric, Verdict};
use wirebench_record::metric::{Better, Metric};
use wirebench_record::reason::MetricReason;
use wirebench_record::run::{Run, Series};
use wirebench_stats::location::{POWER, resolvable};

/// The result of a cell's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestResult {
    Nothing,
    Worse,
    Better,
    /// A test saw a change that the interval does not show.
    Disputed,
}

/// A cell with its estimates and test results.
pub(super) struct JudgedCell {
    /// Index into the run's series.
    pub(super) series: usize,
    pub(super) cell: Cell,
    pub(super) estimates: Estimates,
    pub(super) stage: u32,
    /// Why the first stage requests fresh rounds.
    pub(super) suspected: Option<Suspicion>,
    /// Whether there were fresh rounds, and enough of them usable.
    pub(super) tested: bool,
    pub(super) result: TestResult,
    /// Whether its values are those of the load generator, which limited most of the candidate's rounds in that stage.
    pub(super) is_client_bound: bool,
    /// The embedded null.
    pub(super) null: Option<TimedNull>,
    /// What the servers' sleeps can change in it; `None` if nothing.
    pub(super) sleeps: Option<Sleeps>,
}

impl JudgedCell {
    /// Sets the result of the tests in both directions. A change is reported only if all of the interval is on that side of
    /// equality. The test ranks rounds among their neighbours, the interval uses differences within pairs; with outliers
    /// they may disagree.
    pub(super) fn set_result(&mut self, worse: bool, better: bool) {
        let interval = self.estimates.interval();
        let agrees = |on_side: fn((f64, f64)) -> bool| interval.is_some_and(on_side);
        self.result = match (worse, better) {
            (true, _) if agrees(|(low, _)| low > 0.0) => TestResult::Worse,
            (_, true) if agrees(|(_, high)| high < 0.0) => TestResult::Better,
            (false, false) => TestResult::Nothing,
            _ => TestResult::Disputed,
        };
    }

    /// Whether the whole interval of the worsening lies above a size.
    fn is_worse_than(&self, size: f64) -> bool {
        self.estimates.interval().is_some_and(|(low, _)| low > size)
    }

    /// Whether the whole interval lies beyond the margin. As one of many intervals it gives no verdict, but such a metric is
    /// not called unchanged.
    fn looks_worse(&self) -> bool {
        self.is_worse_than(self.cell.log_margin())
    }

    /// The reason if the verdict that tests and interval give may be due to how often the servers slept: if it would not hold for
    /// the interval without the most that this can be.
    fn may_be_sleeps(&self) -> Option<MetricReason> {
        let (sleeps, value) = self.sleeps.zip(self.estimates.candidate)?;
        let (low, high) = self.estimates.interval()?;
        let saved = sleeps.saved(self.cell.metric, value);
        let is_open = match self.result {
            TestResult::Worse => low + saved <= 0.0,
            TestResult::Better => high + saved >= 0.0,
            TestResult::Nothing | TestResult::Disputed => high + saved > (INCONCLUSIVE_ABOVE_PERCENT / 100.0).ln_1p(),
        };
        is_open.then(|| sleeps.reason())
    }

    /// Whether a metric that gates from a size on is confirmed worse, with its whole interval beyond that size.
    fn beyond_default_gate(&self) -> bool {
        let above = self.cell.log_gate_above();
        self.result == TestResult::Worse && above.is_some_and(|above| self.is_worse_than(above))
    }

    /// Whether it gates although its metric informs. With a busy load generator, throughput and latency are those of the load
    /// generator.
    fn gates_for_its_size(&self) -> bool {
        self.beyond_default_gate() && !self.is_client_bound
    }

    /// True if the first stage requested fresh rounds because of a possible worsening, and there were none.
    fn is_unconfirmed(&self) -> bool {
        let screened = self.cell.margin.gate && self.cell.p_worse() <= SCREEN;
        let suspected = self.stage == 1 && self.suspected == Some(Suspicion::Changed);
        (!self.tested && self.is_open_large_loss()) || (suspected && (screened || self.looks_worse()))
    }

    /// Whether a metric that can gate looks worse by a large loss, and no test confirmed it, so that equal counts are no all-clear. The
    /// null of such a metric must be smaller: with few pairs the noise of a machine looks like a loss, too.
    fn is_open_large_loss(&self) -> bool {
        let Some((above, location)) = self.cell.log_large_loss().zip(self.estimates.location) else {
            return false;
        };
        if self.result != TestResult::Nothing || self.is_client_bound || location.estimate <= above {
            return false;
        }
        let agrees = if self.estimates.kept.pairs.len() < FEWEST_PAIRS {
            self.cell.is_worse_in_every_pair(above)
        } else {
            self.is_worse_than(0.0)
        };
        agrees
            && !self
                .null
                .as_ref()
                .is_some_and(|null| null.contradicts(location.estimate))
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

/// The result for a cell; `tests` are the numbers of gating and of informative tests in the run.
pub(super) fn metric(judged: &JudgedCell, tests: (usize, usize), run: &Run, series: &Series) -> ComparedMetric {
    let (cell, estimates) = (&judged.cell, &judged.estimates);
    let metric = cell.metric;
    let kept = estimates.kept.pairs.len();
    let location = estimates.location;
    let (low, high) = (judged.estimates.interval())
        .map(|(low, high)| (percent(metric, low), percent(metric, high)))
        .map(|(one, other)| (one.min(other), one.max(other)))
        .unzip();
    // The worse end of the interval shown, so that all sentences use one bound.
    let at_most = judged.estimates.interval().map(|(_, high)| worsening(metric, high));
    let (alpha, tests) = if cell.margin.gate {
        (ALPHA_GATING, tests.0)
    } else {
        (ALPHA_INFORMATIVE, tests.1)
    };
    let smallest = (estimates.sd.filter(|_| kept >= FEWEST_PAIRS))
        .map(|sd| worsening(metric, resolvable(cell.log_margin(), sd, kept, alpha, tests, POWER)));
    let (verdict, reason) = match series.load.warmup_unknown_after_ns {
        Some(after_ns) if kept >= FEWEST_PAIRS => (Verdict::Inconclusive, maybe_not_warm(run, after_ns)),
        _ => verdict(judged, at_most),
    };
    let is_bounded = !matches!(reason, MetricReason::SleepsDiffer { .. });
    let effect = location.map(|location| location.estimate);
    let worse_by = effect.map_or(0.0, |effect| worsening(metric, effect));
    let mut compared = ComparedMetric {
        primary: cell.margin.gate || judged.gates_for_its_size() || judged.is_open_large_loss(),
        verdict,
        reason,
        accepted: (verdict == Verdict::Regressed)
            .then(|| accepted(run, series, metric, worse_by))
            .flatten(),
        baseline: estimates.baseline,
        candidate: estimates.candidate,
        effect_percent: effect.map(|effect| percent(metric, effect)),
        effect_low_percent: low,
        effect_high_percent: high,
        worse_at_most_percent: at_most.filter(|_| is_bounded),
        resolvable_percent: smallest.filter(|_| is_bounded),
        spread_percent: estimates.sd.map(|sd| sd / std::f64::consts::SQRT_2 * 100.0),
        p_worse: judged.tested.then(|| cell.p_worse()),
        p_better: judged.tested.then(|| cell.p_better()),
        stage: judged.stage,
        pairs: count(cell.pairs()),
        kept: count(kept),
        dropped_baseline: count(estimates.kept.far_first),
        dropped_candidate: count(estimates.kept.far_second),
        ..unjudged_metric(metric, cell.margin)
    };
    if let Some(null) = &judged.null {
        null.add_to(&mut compared, effect);
    }
    compared
}

/// The reason of the entry in accepted.toml that accepts a worsening of this size, percent.
pub(super) fn accepted(run: &Run, series: &Series, metric: Metric, worse_by: f64) -> Option<String> {
    (run.accepted.iter())
        .filter_map(|entry| entry.clone().compile().ok())
        .find(|accepted| accepted.covers(&series.id, Some(metric), worse_by))
        .map(|accepted| accepted.entry.reason)
}

/// The verdict of one cell, which holds only if it is not due to how often the servers slept.
fn verdict(judged: &JudgedCell, at_most: Option<f64>) -> (Verdict, MetricReason) {
    let (verdict, reason) = uncorrected_verdict(judged, at_most);
    match judged.may_be_sleeps() {
        Some(sleeps) if verdict != Verdict::Inconclusive => (Verdict::Inconclusive, sleeps),
        _ => (verdict, reason),
    }
}

/// The verdict of one cell. The order of the arms is that of the table in VERDICT, "The rule": what was confirmed comes before
/// what only looks so, and both before what the bound says.
fn uncorrected_verdict(judged: &JudgedCell, at_most: Option<f64>) -> (Verdict, MetricReason) {
    let margin = judged.cell.margin.margin.percent();
    let kept = judged.estimates.kept.pairs.len();
    match at_most {
        _ if kept < FEWEST_PAIRS => (Verdict::Inconclusive, too_few(judged)),
        _ if judged.result == TestResult::Worse => (Verdict::Regressed, worse(judged)),
        _ if judged.result == TestResult::Better => (Verdict::Improved, MetricReason::BetterThan { percent: margin }),
        _ if judged.is_unconfirmed() => (Verdict::Inconclusive, MetricReason::Unconfirmed),
        _ if judged.looks_worse() => (Verdict::Inconclusive, MetricReason::NotBeyondDoubt),
        _ if judged.result == TestResult::Disputed => (Verdict::Inconclusive, MetricReason::Disputed),
        _ if is_worse_around_margin(&judged.cell, &judged.estimates) => (
            Verdict::Inconclusive,
            MetricReason::WorseAroundMargin { percent: margin },
        ),
        Some(bound) if bound <= INCONCLUSIVE_ABOVE_PERCENT && judged.is_worse_than(0.0) => (
            Verdict::Unchanged,
            MetricReason::WorseWithinMargin { percent: bound, margin },
        ),
        Some(bound) if bound <= INCONCLUSIVE_ABOVE_PERCENT => {
            (Verdict::Unchanged, MetricReason::NoWorseningAbove { percent: bound })
        }
        _ => {
            let percent = INCONCLUSIVE_ABOVE_PERCENT;
            (Verdict::Inconclusive, MetricReason::NotExcluded { percent })
        }
    }
}

/// The reason of every timed metric of a series whose servers were not seen to be warm.
fn maybe_not_warm(run: &Run, after_ns: u64) -> MetricReason {
    let timed = run.series.iter().filter(|series| !series.is_counted());
    let enough = warm_up::budget_for_longest(count(timed.count()));
    let minutes = u32::try_from(enough.as_secs().div_ceil(60)).ok();
    MetricReason::MaybeNotWarm {
        minutes: minutes.filter(|_| after_ns < nanos(warm_up::LONGEST)),
    }
}

/// The reason of a metric with fewer pairs than a verdict needs.
fn too_few(judged: &JudgedCell) -> MetricReason {
    let usable = count(judged.estimates.kept.pairs.len());
    let needed = count(FEWEST_PAIRS);
    if judged.is_open_large_loss() {
        MetricReason::WorseInEveryPair { usable, needed }
    } else {
        MetricReason::TooFewPairs { usable, needed }
    }
}

/// The reason of a confirmed worsening: the size it exceeds, and whether it gates because of its size.
fn worse(judged: &JudgedCell) -> MetricReason {
    let margin = judged.cell.margin.margin.percent();
    let above = (judged.cell.margin.gate_above).map_or(margin, |above| above.percent().max(margin));
    if judged.gates_for_its_size() {
        MetricReason::WorseThanGate { percent: above }
    } else if judged.beyond_default_gate() {
        MetricReason::WorseButClientBound { percent: above }
    } else {
        MetricReason::WorseThan { percent: margin }
    }
}
