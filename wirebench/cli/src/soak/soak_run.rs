//! A soak while it runs: first its capacity, then slice after slice of load on one process.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

use super::args::Args;
use super::memory::drift;
use super::result::SoakResult;
use super::series::keeps_a_rate;
use super::slices;
use wirebench_declare::load::Amount;
use wirebench_declare::plan::rates::of_capacity;
use wirebench_declare::plan::{PlannedSeries, Slot};
use wirebench_declare::span::{Span, nanos};
use wirebench_engine::measure::slot::Measured;
use wirebench_engine::measure::soak::SoakTarget;
use wirebench_engine::normalise::{self, Jq};
use wirebench_engine::session::achieved;
use wirebench_record::run::{Round, RoundStatus, Variant};

/// A soak while it runs.
pub(super) struct SoakRun<'a> {
    pub(super) target: SoakTarget<'a>,
    pub(super) jq: &'a Jq,
    pub(super) folder: &'a Path,
}

impl SoakRun<'_> {
    /// Measures the capacity, then slice after slice.
    ///
    /// # Errors
    /// When the capacity cannot be measured, or the server or the driver cannot go on.
    pub(super) fn all(&mut self, args: &Args, series: &PlannedSeries) -> anyhow::Result<SoakResult> {
        let (_, closed) = self.one(series)?;
        anyhow::ensure!(
            closed.status != RoundStatus::Failed && closed.ok_count > Some(0),
            "capacity: {}",
            closed.reason.unwrap_or_default()
        );
        let capacity_per_s = achieved(&closed).unwrap_or(0);
        let mut load = series.load.clone();
        let mut most_per_s = capacity_per_s;
        let mut rate_per_s = None;
        if keeps_a_rate(series) {
            most_per_s = of_capacity(capacity_per_s, args.share);
            rate_per_s = Some(most_per_s);
            load = load.at(most_per_s);
        } else {
            load.connections = of_capacity(args.connections, args.share);
        }
        let (slices, slice) = slices::divide(args.length.0, most_per_s);
        load.amount = Amount::Duration(Span(slice));
        let series = PlannedSeries { load, ..series.clone() };
        let mut soak = SoakResult {
            server: args.server.clone(),
            operation: args.operation.clone(),
            driver: series.driver.name.clone(),
            protocol: series.protocol.name(),
            connections: series.load.connections,
            capacity_per_s,
            rate_per_s,
            achieved_per_s: 0.0,
            slices,
            slice_ns: nanos(slice),
            requests: 0,
            failures: 0,
            errors: BTreeMap::new(),
            remarks: Vec::new(),
            memory: Vec::new(),
            flat: false,
        };
        let mut readings: Vec<(String, Vec<u64>)> = Vec::new();
        let mut elapsed_ns = 0;
        for number in 1..=slices {
            let (_, round) = self
                .one(&series)
                .with_context(|| format!("slice {number} of {slices}"))?;
            elapsed_ns += round.elapsed_ns.unwrap_or_default();
            soak.add(number, &round);
            for (place, (name, rss)) in self.target.rss().into_iter().enumerate() {
                if readings.len() <= place {
                    readings.push((name, Vec::new()));
                }
                readings[place].1.extend(rss);
            }
            log::info!("{}", soak.progress_line(number, &readings));
        }
        soak.achieved_per_s = rate(soak.requests - soak.failures, elapsed_ns);
        soak.memory = readings.iter().filter_map(|(name, list)| drift(name, list)).collect();
        soak.flat = soak.memory.len() == readings.len() && soak.memory.iter().all(|one| one.flat);
        Ok(soak)
    }

    /// Runs one load, reads its output and checks it.
    fn one(&mut self, series: &PlannedSeries) -> anyhow::Result<(Measured, Round)> {
        let slot = Slot {
            position: 0,
            round: 0,
            series: 0,
            variant: Variant::Candidate,
            stage: 1,
        };
        let measured = self.target.load(series)?;
        let round = normalise::round(self.jq, series, slot, &measured, self.folder);
        Ok((measured, round))
    }
}

/// Good answers per second.
#[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
fn rate(answers: u64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 {
        return 0.0;
    }
    answers as f64 / (elapsed_ns as f64 / 1e9)
}
