//! One pass of a session: each slot measured, then all of them normalised and recorded.
//!
//! Rates that are measured: the capacity, before the first round of a series that offers a share of it, and the highest rate
//! that keeps an objective.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use log::Level;
use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::measure::drive::Measured;
use crate::measure::error::MeasureError;
use crate::measure::side::Side;
use crate::normalise::{self, Jq, failed_round};
use crate::session::stage::{Ending, StagedRun as _};
use crate::session::warm_up::refuse_short;
use crate::session::{Session, Setup};
use wirebench_declare::load::{Load, Rate, Search};
use wirebench_declare::plan::rates::{Bisection, of_capacity};
use wirebench_declare::plan::{PlannedSeries, Slot};
use wirebench_declare::span::nanos;
use wirebench_record::run::{Bound, Round, RoundStatus, SearchStep, Variant};

/// A measured slot, and the folder of its raw output.
pub(super) struct RawRound<'a> {
    pub(super) slot: Slot,
    folder: PathBuf,
    /// The series as it was loaded: that of the plan, with a rate that may have been measured first.
    pub(super) series: PlannedSeries<'a>,
    /// The wall time of the round.
    took: Duration,
    /// What was measured; the driver's output is normalised after the pass, unless a rate was searched.
    result: Result<Measured, String>,
}

impl<'a> Session<'a> {
    /// Measures one round of every series in the pass, then normalises all of them on all cores, while nothing is being
    /// measured. The deadline is checked between pairs, never within one.
    pub(super) fn measure_pass(&mut self, slots: &[Slot], deadline: Option<Instant>) -> anyhow::Result<Ending> {
        self.progress.deadline = deadline;
        let interrupt = &self.setup.prepared.harness.interrupt;
        let mut raws: Vec<RawRound<'a>> = Vec::new();
        let mut ending = Ending::Whole;
        let mut before = None;
        for slot in slots {
            if interrupt.is_requested() {
                ending = Ending::Interrupted;
                break;
            }
            if before != Some(slot.series) && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                ending = Ending::OutOfTime;
                break;
            }
            before = Some(slot.series);
            if self.recorder.given_up(slot.series, slot.variant) {
                self.progress.end(*slot, Duration::ZERO);
                continue;
            }
            let Some(raw) = self.measure(*slot) else {
                ending = Ending::Interrupted;
                break;
            };
            raws.push(raw);
        }
        self.record(&raws);
        self.leave_out_disturbed(&raws);
        self.lengthen(&raws);
        self.recorder.run.spent.measure_ns = nanos(self.began.elapsed());
        self.recorder.conclude(true)?;
        Ok(ending)
    }

    /// Measures one slot; `None` if the user interrupted it.
    fn measure(&mut self, slot: Slot) -> Option<RawRound<'a>> {
        self.progress.begin(slot);
        let mut started = Instant::now();
        let Setup { prepared, series, .. } = self.setup;
        let series = &series[slot.series];
        let side = self.setup.side(slot.variant);
        let folder = self.raw_folder(&format!("{:04}-{}", slot.position, series.id));
        let mut series = series.clone();
        let result = match prepared.broken(&series, side) {
            Some(reason) => Err(reason.clone()),
            None => match self.load_of(slot.series).and_then(|(load, warmup_requests)| {
                series.load = load;
                // What is measured once before the first round is not part of a round.
                started = Instant::now();
                match series.load.search {
                    Some(search) => self.search(&series, search, slot, &folder),
                    None => prepared.harness.measure(&series, side, &folder, warmup_requests),
                }
            }) {
                Err(MeasureError::Interrupted) => return None,
                result => result.map_err(|error| error.to_string()),
            },
        };
        let with_side = |reason| {
            if self.is_paired() {
                format!("{side}: {reason}")
            } else {
                reason
            }
        };
        let result = result.map_err(with_side);
        if let Err(reason) = &result {
            self.progress
                .log(Level::Error, &format!("failed: {}: {reason}", series.id));
        }
        let took = started.elapsed();
        self.progress.end(slot, took);
        Some(RawRound {
            slot,
            folder,
            series,
            took,
            result,
        })
    }

    /// The folder of raw output with this name.
    pub(super) fn raw_folder(&self, name: &str) -> PathBuf {
        self.recorder.folder.join("raw").join(name)
    }

    /// Normalises raw outputs, and adds their rounds to the record.
    fn record(&mut self, raws: &[RawRound]) {
        let normalising = Instant::now();
        let jq = self.setup.jq;
        let rounds: Vec<Round> = raws.par_iter().map(|raw| round(jq, raw)).collect();
        for (raw, round) in raws.iter().zip(rounds) {
            if let Ok(measured) = &raw.result {
                let spent = &mut self.recorder.run.spent;
                spent.load_ns += nanos(measured.loading);
                if raw.series.load.search.is_none() {
                    spent.start_ns += measured.round.server_ready_ns.unwrap_or(0);
                }
            }
            if round.status == RoundStatus::Invalid {
                let reason = round.reason.as_deref().unwrap_or_default();
                let id = &self.setup.series[raw.slot.series].id;
                self.progress.log(Level::Warn, &format!("invalid: {id}: {reason}"));
            }
            if round.status == RoundStatus::Ok && !self.setup.keep_raw {
                let _ = fs::remove_dir_all(&raw.folder);
            }
            self.recorder.run.series[raw.slot.series].rounds.push(round);
        }
        self.recorder.run.spent.normalise_ns += nanos(normalising.elapsed());
    }

    /// Marks the pairs of a pass that the machine disturbed.
    fn leave_out_disturbed(&mut self, raws: &[RawRound]) {
        let pairs: BTreeSet<(usize, u32)> = raws.iter().map(|raw| (raw.slot.series, raw.slot.round)).collect();
        for (series, round) in pairs {
            if self.recorder.variants[series].len() < 2 {
                continue;
            }
            if let Some(why) = self.recorder.drop_disturbed(series, round) {
                let id = &self.setup.series[series].id;
                self.progress.log(Level::Info, &format!("left out: {id}: {why}"));
            }
        }
    }
}

fn round(jq: &Jq, raw: &RawRound) -> Round {
    let round = match &raw.result {
        Ok(measured) if raw.series.load.search.is_some() => measured.round.clone(),
        Ok(measured) => normalise::round(jq, &raw.series, raw.slot, measured, &raw.folder),
        Err(reason) => failed_round(raw.slot, reason.clone()),
    };
    let mut round = Round {
        took_ns: Some(nanos(raw.took)),
        ..round
    };
    refuse_short(&raw.series.load, &mut round);
    round
}

impl Session<'_> {
    /// A load of a series with its rate in requests per second; a share of the capacity is measured once, before the first
    /// round.
    pub(super) fn at_rate(&mut self, index: usize, load: Load) -> Result<Load, MeasureError> {
        let Some(Rate::OfCapacity(share)) = load.rate else {
            return Ok(load);
        };
        if let Some(rate) = self.rates.get(&index) {
            return Ok(load.at(*rate));
        }
        let began = Instant::now();
        let (capacity, bound) = self.capacity(index, &load)?;
        self.recorder.run.spent.calibrate_ns += nanos(began.elapsed());
        let rate = of_capacity(capacity, share);
        self.rates.insert(index, rate);
        let recorded = &mut self.recorder.run.series[index].load;
        recorded.rate_per_s = Some(rate);
        recorded.capacity_per_s = Some(capacity);
        recorded.capacity_bound = bound;
        Ok(load.at(rate))
    }

    /// Measures the capacity: good responses per second in a closed loop over the same connections. Returns the lowest of all
    /// variants.
    fn capacity(&mut self, index: usize, load: &Load) -> Result<(u32, Option<Bound>), MeasureError> {
        let series = &self.setup.series[index];
        let closed = series.with_load(load.for_capacity());
        let mut least: Option<(u32, Option<Bound>)> = None;
        for variant in self.recorder.variants[index].clone() {
            let side = self.setup.side(variant);
            let with_side = |reason: String| MeasureError::Failed(format!("capacity of the {side}: {reason}"));
            if let Some(reason) = side.broken.get(&series.server.name) {
                return Err(with_side(reason.clone()));
            }
            let slot = before_rounds(index, variant);
            let folder = self.raw_folder(&format!("capacity-{}-{}", variant.name(), series.id));
            let (loading, round) = match self.step(&closed, slot, side, &folder) {
                Ok(measured) => measured,
                Err(MeasureError::Interrupted) => return Err(MeasureError::Interrupted),
                Err(error) => return Err(with_side(error.to_string())),
            };
            self.recorder.run.spent.load_ns += nanos(loading);
            if round.status != RoundStatus::Ok {
                return Err(with_side(round.reason.unwrap_or_default()));
            }
            let found = achieved(&round).unwrap_or(0);
            if least.is_none_or(|(fewest, _)| found < fewest) {
                least = Some((found, round.bound));
            }
        }
        least.ok_or_else(|| MeasureError::Failed("no variant is there to measure the capacity of".into()))
    }

    /// Searches for the highest rate that keeps the objective. Returns the driver's time and the round of the highest rate that
    /// passed, normalised, with all steps of the search.
    pub(super) fn search(
        &self,
        series: &PlannedSeries,
        search: Search,
        slot: Slot,
        folder: &Path,
    ) -> Result<Measured, MeasureError> {
        let side = self.setup.side(slot.variant);
        let mut bisection = Bisection::new(search.from, search.to);
        let (mut steps, mut loading) = (Vec::new(), Duration::ZERO);
        let (mut best, mut lowest): (Option<Round>, Option<Round>) = (None, None);
        while let Some(rate) = bisection.next_rate() {
            let at_rate = series.with_load(series.load.at(rate));
            let own = folder.join(format!("step-{}-{rate}", steps.len() + 1));
            let (took, round) = match self.step(&at_rate, slot, side, &own) {
                // An overloaded server may keep the driver from ending: this rate is too high.
                Err(error @ MeasureError::TimedOut(_)) => (Duration::ZERO, failed_round(slot, error.to_string())),
                other => other?,
            };
            loading += took;
            let step = search_step(rate, search, &round);
            bisection.answer(step.passed);
            if step.passed {
                best = Some(round);
            } else {
                lowest = Some(round);
            }
            steps.push(step);
        }
        let none = || format!("no rate from {}/s on keeps the objective", search.from);
        let mut round = best.unwrap_or_else(|| {
            let last = steps.last().and_then(|step| step.why.clone());
            let reason = last.map_or_else(none, |why| format!("{}: {why}", none()));
            Round {
                status: RoundStatus::Invalid,
                reason: Some(reason),
                ..lowest.unwrap_or_else(|| failed_round(slot, String::new()))
            }
        });
        round.search = steps;
        Ok(Measured {
            round,
            loading,
            ..Measured::default()
        })
    }

    /// One driver run, normalised immediately, after the server has stopped. Its raw output is removed unless the round
    /// is not ok.
    fn step(
        &self,
        series: &PlannedSeries,
        slot: Slot,
        side: &Side,
        folder: &Path,
    ) -> Result<(Duration, Round), MeasureError> {
        let warmup_requests = self.warmup_requests.get(&slot.series).copied().unwrap_or(0);
        let harness = &self.setup.prepared.harness;
        let measured = harness.measure(series, side, folder, warmup_requests)?;
        let round = normalise::round(self.setup.jq, series, slot, &measured, folder);
        if round.status == RoundStatus::Ok && !self.setup.keep_raw {
            let _ = fs::remove_dir_all(folder);
        }
        Ok((measured.loading, round))
    }
}

/// The slot of what is measured of a series before its first round.
pub(super) const fn before_rounds(series: usize, variant: Variant) -> Slot {
    Slot {
        position: 0,
        round: 0,
        series,
        variant,
        stage: 1,
    }
}
/// The result of one rate: it passes if the round passes every check and its p99 keeps the objective.
fn search_step(rate_per_s: u32, search: Search, round: &Round) -> SearchStep {
    let p99_ns = round.latency_ns.map(|latency| latency.p99);
    let bound = nanos(search.p99.0);
    let why = if round.status == RoundStatus::Ok {
        let over = p99_ns.is_none_or(|p99| p99 > bound);
        over.then(|| format!("p99 is over {}", search.p99.as_flag()))
    } else {
        Some(round.reason.clone().unwrap_or_default())
    };
    SearchStep {
        rate_per_s,
        achieved_per_s: achieved(round),
        p99_ns,
        passed: why.is_none(),
        why,
    }
}

/// Good responses per second, rounded down.
fn achieved(round: &Round) -> Option<u32> {
    let elapsed = u128::from(round.elapsed_ns.filter(|ns| *ns > 0)?);
    let per_second = u128::from(round.ok_count?) * 1_000_000_000 / elapsed;
    Some(u32::try_from(per_second).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_declare::span::Span;
    use wirebench_record::run::{Latency, Variant};

    fn round(p99: u64, status: RoundStatus) -> Round {
        let latency = Latency {
            min: 1,
            mean: 1,
            p50: 1,
            p90: 1,
            p95: 1,
            p99,
            p999: p99,
            max: p99,
        };
        Round {
            status,
            reason: Some("why".into()),
            elapsed_ns: Some(2_000_000_000),
            ok_count: Some(2_001),
            latency_ns: Some(latency),
            ..Round::unmeasured(Variant::Candidate, 0, 0, 1)
        }
    }

    #[test]
    fn a_rate_passes_within_the_bound_and_with_every_check() {
        let search = Search {
            p99: Span(Duration::from_millis(5)),
            from: 1,
            to: 2,
        };
        let step = search_step(1_000, search, &round(5_000_000, RoundStatus::Ok));
        assert_eq!((step.passed, step.why, step.achieved_per_s), (true, None, Some(1_000)));
        let slow = search_step(1_000, search, &round(5_000_001, RoundStatus::Ok));
        assert_eq!((slow.passed, slow.why.as_deref()), (false, Some("p99 is over 5ms")));
        let bad = search_step(1_000, search, &round(1, RoundStatus::Invalid));
        assert_eq!((bad.passed, bad.why.as_deref()), (false, Some("why")));
    }
}
