//! What timed and counted series share: on which sides they are, which metrics gate, and how they look before they are judged.

use std::collections::BTreeSet;

use crate::compare::counted::sides;
use crate::compare::functions::has_whole_stacks;
use wirebench_declare::compare::{Margin, Margins};
use wirebench_record::comparison::{ComparedMetric, ComparedSeries, Presence, Verdict};
use wirebench_record::counts::Counts;
use wirebench_record::metric::{LARGE_LOSS_PERCENT, Metric};
use wirebench_record::reason::{MetricReason, SeriesReason};
use wirebench_record::run::{Run, Series, Variant};

/// On which sides a series of one run is.
pub(super) const fn presence(series: &Series) -> Presence {
    match series.missing_in {
        None | Some(Variant::Reference | Variant::Null) => Presence::Both,
        Some(Variant::Baseline) => Presence::Added,
        Some(Variant::Candidate) => Presence::Removed,
    }
}

/// The result for a series whose server is the same program on both sides.
pub(super) fn same_program(series: &Series) -> ComparedSeries {
    ComparedSeries {
        verdict: Some(Verdict::Unchanged),
        reason: Some(SeriesReason::SameProgram),
        same_program: true,
        ..unjudged_series(series, Presence::Both)
    }
}

/// The remark on a series whose load the baseline declares differently.
pub(super) fn declared_differently(series: &Series) -> Option<SeriesReason> {
    let differs = series.baseline_digest.is_some();
    differs.then_some(SeriesReason::DeclaredDifferently)
}

/// A series without verdict, reason and metrics.
pub(super) fn unjudged_series(series: &Series, presence: Presence) -> ComparedSeries {
    ComparedSeries {
        id: series.id.clone(),
        scenario: series.scenario.clone(),
        presence,
        verdict: None,
        reason: None,
        same_program: false,
        metrics: Vec::new(),
        functions: Vec::new(),
        work: None,
    }
}

/// A metric without figures: invalid until it is judged.
pub(super) fn unjudged_metric(metric: Metric, margin: Margin) -> ComparedMetric {
    ComparedMetric {
        metric,
        unit: metric.unit().into(),
        better: metric.better(),
        primary: margin.gate,
        verdict: Verdict::Invalid,
        reason: MetricReason::Elsewhere,
        accepted: None,
        baseline: None,
        candidate: None,
        effect_percent: None,
        effect_low_percent: None,
        effect_high_percent: None,
        worse_at_most_percent: None,
        margin_percent: margin.margin.percent(),
        resolvable_percent: None,
        spread_percent: None,
        p_worse: None,
        p_better: None,
        stage: 1,
        pairs: 0,
        kept: 0,
        dropped_baseline: 0,
        dropped_candidate: 0,
        null_percent: None,
        null_pairs: 0,
        flame_graph: None,
    }
}

// Decides which metrics gate in a run: counts, and server CPU, which gates only from a size on if instructions gate in its
// place. The only place that decides this, for the second stage and for the verdict.

/// The margins of a run, and which servers' counts gate.
#[derive(Debug, Clone)]
pub(super) struct Gates<'a> {
    margins: &'a Margins,
    /// Servers whose instructions can be compared, and gate.
    counted: BTreeSet<&'a str>,
}

impl<'a> Gates<'a> {
    /// The gates of a run with baseline and candidate.
    pub(super) fn of(run: &'a Run, margins: &'a Margins) -> Self {
        let both = |series: &'a Series| {
            let (baseline, candidate) = sides(run, series).ok()?;
            Some((series, baseline, candidate))
        };
        Self::over(run.series.iter().filter_map(both), margins)
    }

    /// The gates of series, each with the counts of both sides.
    pub(super) fn over(
        series: impl Iterator<Item = (&'a Series, &'a Counts, &'a Counts)>,
        margins: &'a Margins,
    ) -> Self {
        // Bytes and system calls do not measure work: only instructions replace CPU time, and only if all are counted.
        let is_counted = |counts: &Counts| counts.value(Metric::Instructions).is_some() && has_whole_stacks(counts);
        let gates = |(series, baseline, candidate): &(&Series, &Counts, &Counts)| {
            is_counted(baseline) && is_counted(candidate) && margins.of(&series.id, Metric::Instructions).gate
        };
        let counted = series.filter(gates).map(|(series, _, _)| series.server.as_str());
        Self {
            margins,
            counted: counted.collect(),
        }
    }

    /// The margin of a metric in a series. Where the instructions of its server gate, server CPU gates only from a large loss
    /// on, because no count sees cache misses or work in the kernel; unless the project sets its gate.
    pub(super) fn margin(&self, series: &Series, metric: Metric) -> Margin {
        let margin = self.margins.of(&series.id, metric);
        let steps_back = metric == Metric::ServerCpu && self.counted.contains(series.server.as_str());
        if steps_back && !margin.gate_declared {
            return margin.from_large_losses_on();
        }
        margin
    }

    /// Which metrics gate, in one sentence; `None` if nothing was counted.
    pub(super) fn sentence(&self) -> Option<String> {
        let servers: Vec<&str> = self.counted.iter().copied().collect();
        (!servers.is_empty()).then(|| {
            format!(
                "counts gate, and server CPU per request gates from a confirmed worsening of {LARGE_LOSS_PERCENT} % on, unless \
                 wirebench.toml says otherwise, for {}",
                servers.join(", ")
            )
        })
    }
}
