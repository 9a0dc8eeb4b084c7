//! Decides which metrics gate in a run: counts, and server CPU, which gates only from a size on if instructions gate in its
//! place. The only place that decides this, for the second stage and for the verdict.

use std::collections::BTreeSet;

use crate::compare::counted::sides;
use crate::compare::functions::has_whole_stacks;
use wirebench_declare::compare::{Margin, Margins};
use wirebench_record::counts::Counts;
use wirebench_record::metric::{LARGE_LOSS_PERCENT, Metric};
use wirebench_record::run::{Run, Series};

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
