//! A session measures a run: it prepares tools and sides, then loads or counts series in stages, and writes the record as it goes.

mod builtin;
mod calibrate;
mod checkout;
mod counting;
mod join;
mod pairs;
mod pass;
pub mod prepare;
mod progress;
mod rates;
mod recorder;
mod run;
mod series_record;
mod side_request;
mod spec;
pub mod status;
mod time;
mod variants;

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use anyhow::Context as _;
use log::Level;
use serde::Serialize;

use crate::measure::side::Side;
use crate::normalise::Jq;
use crate::session::prepare::Prepared;
use crate::session::progress::{Heading, Progress};
use crate::session::recorder::Recorder;

use crate::session::variants::SeriesVariants;
use wirebench_declare::plan::{PlannedSeries, Slot, Stretch, pairs};
use wirebench_record::run::{Stage, Variant};

pub use join::join_shards;
pub use pairs::{given_up, tally};
pub use progress::remaining;
pub use rates::achieved;
pub use recorder::{new_folder, save, started_run, unwritable};
pub use run::{NothingToMeasure, Recorded, locked, measure, screen_stage};
pub use series_record::unmeasured;
pub use side_request::{CodeSource, SideRequest};
pub use spec::{Part, Purpose, RunSpec};
pub use time::StageTime;

/// Everything that a session needs.
#[derive(Debug, Clone, Copy)]
struct Setup<'a> {
    prepared: &'a Prepared<'a>,
    jq: &'a Jq,
    series: &'a [PlannedSeries<'a>],
    /// What is measured of each series.
    entries: &'a [SeriesVariants],
    /// One for each variant, built.
    sides: &'a [Side],
    keep_raw: bool,
}

/// How a stage ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// Every round was measured.
    Whole,
    /// The time given was over first.
    OutOfTime,
    /// The user requested a stop.
    Interrupted,
}

/// A run in progress.
#[derive(Debug)]
struct Session<'a> {
    /// What was measured so far.
    recorder: Recorder,
    setup: Setup<'a>,
    progress: Progress<'a>,
    began: Instant,
    /// Every slot planned so far.
    slots: Vec<Slot>,
    /// The rates of series that offer a share of the capacity, requests/s, by index; known once measured.
    rates: BTreeMap<usize, u32>,
}

/// plan.json.
#[derive(Serialize)]
struct PlanFile<'a> {
    seed: u64,
    series: Vec<(&'a str, &'a str)>,
    slots: &'a [Slot],
}

impl<'a> Session<'a> {
    fn new(setup: Setup<'a>, recorder: Recorder) -> Self {
        Self {
            recorder,
            progress: Progress::new(setup.series),
            setup,
            began: Instant::now(),
            slots: Vec::new(),
            rates: BTreeMap::new(),
        }
    }

    /// Measures the rounds of one stage, and up to four extra rounds of each series whose pairs were disturbed or failed too
    /// often. After `time.end` no new round begins, and the stage is recorded with the rounds that every series has. A stage that
    /// another one follows ends earlier (see [`StageTime`]), and once it is late it has no extra rounds: the next stage measures
    /// such series anew.
    ///
    /// # Errors
    /// When the results folder cannot be written.
    fn stage(&mut self, stage: &Stage, time: StageTime) -> anyhow::Result<Ending> {
        let deadline = time.end;
        let members: Vec<(usize, Vec<Variant>)> = self
            .setup
            .series
            .iter()
            .zip(self.setup.entries)
            .enumerate()
            .filter(|(_, (series, entry))| {
                !series.load.is_counted() && stage.series.contains(&series.id) && !entry.variants.is_empty()
            })
            .map(|(index, (_, entry))| (index, entry.variants.clone()))
            .collect();
        if self.is_paired() {
            self.progress.log(
                Level::Info,
                &format!("stage {}: {}", self.stage_number(stage.number), stage.why),
            );
            self.recorder.run.stages.push(stage.clone());
        }
        let first_round = self.slots.last().map_or(0, |slot| slot.round + 1);
        let slots = self.plan(&members, stage.rounds, stage.number)?;
        self.enter(stage.number, "round", &slots);
        let mut ending = Ending::Whole;
        for round in (first_round..).take(stage.rounds as usize) {
            ending = self.pass(&in_round(&slots, round), deadline)?;
            if ending == Ending::OutOfTime {
                self.shorten(stage, round - first_round, "the time given was over");
            }
            if ending != Ending::Whole {
                return Ok(ending);
            }
            let whole = round - first_round + 1;
            if whole < stage.rounds && time.is_enough(whole, members.len(), Instant::now()) {
                self.shorten(stage, whole, "ended to leave time for the second stage,");
                return Ok(Ending::Whole);
            }
        }
        while ending == Ending::Whole && self.is_paired() && !time.is_late(Instant::now()) {
            let extra = self.extra_pairs(&members, stage);
            if extra.is_empty() {
                break;
            }
            let slots = self.plan(&extra, 1, stage.number)?;
            self.enter(stage.number, "extra round", &slots);
            ending = self.pass(&slots, deadline)?;
            if ending == Ending::OutOfTime {
                self.progress.log(
                    Level::Info,
                    "the time given was over before every disturbed round was made up for",
                );
            }
        }
        Ok(ending)
    }

    /// Ends the run: concludes, writes the record, removes empty folders.
    ///
    /// # Errors
    /// When the record cannot be written.
    fn finish(mut self) -> anyhow::Result<Recorder> {
        self.recorder
            .conclude(self.setup.prepared.harness.interrupt.is_requested());
        self.recorder.save()?;
        self.progress.finish();
        if !self.setup.keep_raw {
            // Removes empty folders only: the others hold output of rounds that are not ok.
            let _ = fs::remove_dir(self.recorder.folder.join("raw"));
        }
        Ok(self.recorder)
    }

    /// Whether more than one variant is measured.
    fn is_paired(&self) -> bool {
        self.setup.sides.len() > 1
    }

    fn stage_number(&self, stage: u32) -> String {
        let has_baseline = |side: &Side| side.revision.variant == Variant::Baseline;
        let stages = if self.setup.sides.iter().any(has_baseline) {
            2
        } else {
            1
        };
        format!("{stage}/{stages}")
    }

    fn enter(&mut self, stage: u32, kind: &'static str, slots: &[Slot]) {
        let first_round = slots.first().map_or(0, |slot| slot.round);
        let name = if stage == 1 { "screen" } else { "decide" };
        let heading = Heading {
            stage: self
                .is_paired()
                .then(|| format!("stage {} {name}", self.stage_number(stage))),
            kind,
            first_round,
            rounds: slots.last().map_or(0, |slot| slot.round + 1 - first_round),
        };
        self.progress.enter(heading, slots);
    }

    /// Plans the slots of a stage and writes plan.json before they are measured.
    fn plan(&mut self, members: &[(usize, Vec<Variant>)], rounds: u32, stage: u32) -> anyhow::Result<Vec<Slot>> {
        let stretch = Stretch {
            series: members,
            rounds,
            first_round: self.slots.last().map_or(0, |slot| slot.round + 1),
            first_position: self.slots.len(),
            stage,
        };
        let slots = pairs(&stretch, self.recorder.run.seed);
        self.slots.extend(&slots);
        let plan = PlanFile {
            seed: self.recorder.run.seed,
            series: self.setup.series.iter().map(|one| (&*one.id, &*one.digest)).collect(),
            slots: &self.slots,
        };
        let file = self.recorder.folder.join("plan.json");
        fs::write(&file, serde_json::to_vec_pretty(&plan)?).with_context(|| unwritable(&file))?;
        Ok(slots)
    }

    /// The series that get an extra pair, with their variants.
    fn extra_pairs(&self, members: &[(usize, Vec<Variant>)], stage: &Stage) -> Vec<(usize, Vec<Variant>)> {
        let needs_extra = |(series, variants): &&(usize, Vec<Variant>)| {
            let tally = self.recorder.tally(*series, stage.number, stage.rounds);
            variants.len() > 1 && tally.wants_another() && !self.recorder.given_up(*series, variants[0])
        };
        members.iter().filter(needs_extra).cloned().collect()
    }

    /// Records that a stage ended early, with the number of rounds that every series has.
    fn shorten(&mut self, stage: &Stage, whole: u32, why: &str) {
        let why = format!("{why} after {whole} of {} rounds", stage.rounds);
        self.progress.log(Level::Info, &why);
        if let Some(recorded) = self.recorder.run.stages.last_mut() {
            recorded.rounds = whole;
            recorded.why = format!("{}; {why}", recorded.why);
        }
    }
}

fn in_round(slots: &[Slot], round: u32) -> Vec<Slot> {
    slots.iter().copied().filter(|slot| slot.round == round).collect()
}
