//! One pass of a session: each slot measured, then all of them normalised and recorded.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::measure::drive::Measured;
use crate::measure::error::MeasureError;
use crate::session::stage::{Ending, StagedRun as _};
use crate::session::warm_up::refuse_short;
use crate::session::{Session, Setup};
use log::Level;
use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};
use wirebench_declare::span::nanos;

use crate::normalise::{self, Jq, failed_round};
use wirebench_declare::plan::{PlannedSeries, Slot};
use wirebench_record::run::{Round, RoundStatus};

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
        self.progress.set_deadline(deadline);
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
        for (raw, round) in raws.iter().zip(self.normalise(raws)) {
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

    /// One round for each raw output, in the same order.
    fn normalise(&self, raws: &[RawRound]) -> Vec<Round> {
        let jq = self.setup.jq;
        raws.par_iter().map(|raw| round(jq, raw)).collect()
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
