//! Joins the outputs of a round's load pods into one: counts are summed, quantiles are those of all latencies together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::anyhow;

use wirebench_declare::plan::PlannedSeries;
use wirebench_engine::measure::slot::files;
use wirebench_engine::normalise::{self, Jq, Outcome, Shape};
use wirebench_record::run::LoadPod;

use crate::clock::Clock;
use crate::runs::Runs;

/// The output of one load pod.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// The folder with the driver's output.
    pub(crate) folder: PathBuf,
    pub(crate) clock: Clock,
    /// When its load began, by this machine's clock, ns since 1970; `None` if another program started it.
    pub(crate) began: Option<i64>,
}

/// The load of a round: of all pods together, and of each.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) outcome: Outcome,
    pub(crate) pods: Vec<LoadPod>,
    /// Faults of the pods together, as parts of a sentence.
    pub(crate) faults: Vec<String>,
}

/// Load pods that begin further apart than this share of the load's length did not load at the same time.
const APART_PERMILLE: u64 = 100;

/// Reads the outputs one after the other, so that no more than one pod's latencies are in memory at a time.
///
/// # Errors
/// When an output cannot be converted, or the temporary file cannot be written.
pub(crate) fn gather(jq: &Jq, series: &PlannedSeries, outputs: &[Output]) -> anyhow::Result<Gathered> {
    let first = outputs.iter().filter_map(|output| output.began).min();
    let mut combined = Combined::new()?;
    for output in outputs {
        let shape = normalise::read(
            jq,
            series.driver,
            &output.folder.join(files::STDOUT),
            &output.folder.join(files::RAW),
        )?;
        let after = output
            .began
            .zip(first)
            .map(|(began, first)| u64::try_from(began - first).unwrap_or(0));
        combined.add(series, shape, output.clock, after)?;
    }
    combined.finish()
}

struct Combined {
    runs: Runs,
    outcome: Outcome,
    pods: Vec<LoadPod>,
    protocols: BTreeSet<String>,
}

impl Combined {
    fn new() -> anyhow::Result<Self> {
        let runs = Runs::new()
            .map_err(|error| anyhow!("no temporary file for latencies can be made: {error}; free some space"))?;
        let outcome = Outcome {
            elapsed_ns: None,
            ok_count: 0,
            errors: BTreeMap::new(),
            dropped: None,
            cut_off: None,
            latency: None,
            protocol: None,
        };
        Ok(Self {
            runs,
            outcome,
            pods: Vec::new(),
            protocols: BTreeSet::new(),
        })
    }

    fn add(&mut self, series: &PlannedSeries, shape: Shape, clock: Clock, after: Option<u64>) -> anyhow::Result<()> {
        let (good, errors) = normalise::good_and_bad(series, shape.answers, shape.errors);
        self.pods.push(LoadPod {
            ok_count: good.len() as u64,
            failed_count: errors.values().sum(),
            elapsed_ns: shape.elapsed_ns,
            started_after_ns: after,
            clock_offset_ns: clock.offset_ns,
            clock_uncertainty_ns: clock.uncertainty_ns,
        });
        self.runs.add(good)?;
        for (kind, count) in errors {
            *self.outcome.errors.entry(kind).or_default() += count;
        }
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0) + more);
            }
        };
        add(&mut self.outcome.dropped, shape.dropped);
        add(&mut self.outcome.cut_off, shape.cut_off);
        self.outcome.elapsed_ns = self.outcome.elapsed_ns.max(shape.elapsed_ns);
        self.protocols.extend(shape.protocol);
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<Gathered> {
        self.outcome.ok_count = self.runs.count();
        self.outcome.latency = self.runs.latency()?;
        // Of several protocols the whole list is shown, and fails the check.
        let protocols: Vec<String> = self.protocols.into_iter().collect();
        self.outcome.protocol = (!protocols.is_empty()).then(|| protocols.join(" and "));
        let mut faults = Vec::new();
        let apart = self
            .pods
            .iter()
            .filter_map(|pod| pod.started_after_ns)
            .max()
            .unwrap_or(0);
        let elapsed = self.outcome.elapsed_ns.unwrap_or(0);
        if apart * 1000 > elapsed * APART_PERMILLE {
            faults.push(format!(
                "load pods began {} ms apart in a load of {} ms",
                apart / 1_000_000,
                elapsed / 1_000_000
            ));
        }
        Ok(Gathered {
            outcome: self.outcome,
            pods: self.pods,
            faults,
        })
    }
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
