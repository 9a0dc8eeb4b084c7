//! A session measures a run: it prepares tools and sides, then loads or counts series in stages, and writes the record as it goes.

mod checkout;
mod counting;
mod join;
mod pairs;
mod pass;
pub mod prepare;
mod progress;
mod recorder;
mod run;
mod sampling;
mod stage;
mod warm_up;

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use log::Level;
use serde_json::json;

use crate::measure::side::Side;
use crate::normalise::Jq;
use crate::session::prepare::Prepared;
use crate::session::progress::Progress;
use crate::session::warm_up::Limits;
use wirebench_declare::plan::{PlannedSeries, Slot};
use wirebench_record::run::{Run, Stage, Variant};

pub use join::join_shards;
pub use progress::remaining;
pub use recorder::{Recorded, Recorder, new_folder, save, started_run, unmeasured, unwritable};
pub use run::{CodeSource, NothingToMeasure, Part, Purpose, RunSpec, SideRequest, measure};
pub use stage::{Ending, Member, SecondStage, StagedRun, measure_stages, screen_stage};

/// Everything that a session needs.
#[derive(Debug, Clone, Copy)]
struct Setup<'a> {
    prepared: &'a Prepared<'a>,
    jq: &'a Jq,
    series: &'a [PlannedSeries<'a>],
    /// One for each variant, built.
    sides: &'a [Side],
    keep_raw: bool,
}

impl<'a> Setup<'a> {
    fn side(&self, variant: Variant) -> &'a Side {
        let mut sides = self.sides.iter();
        sides
            .find(|side| side.revision.variant == variant)
            .expect("a plan names only variants that have a side")
    }
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
    /// What the servers of each series need before a round, by index; known once measured.
    warmup_requests: BTreeMap<usize, u64>,
    /// The lengths of rounds that are longer than declared, by index of the series.
    lengths: BTreeMap<usize, Duration>,
    limits: Limits,
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
            warmup_requests: BTreeMap::new(),
            lengths: BTreeMap::new(),
            limits: Limits::NONE,
        }
    }

    /// Ends the run.
    ///
    /// # Errors
    /// When the record cannot be written.
    fn finish(self) -> anyhow::Result<Recorded> {
        let recorded = self
            .recorder
            .finish(self.setup.prepared.harness.interrupt.is_requested())?;
        self.progress.finish();
        Ok(recorded)
    }

    fn stage_number(&self, stage: u32) -> String {
        let has_baseline = |side: &Side| side.revision.variant == Variant::Baseline;
        let stages = 1 + u32::from(self.setup.sides.iter().any(has_baseline));
        format!("{stage}/{stages}")
    }
}

impl StagedRun for Session<'_> {
    fn run(&mut self) -> &mut Run {
        &mut self.recorder.run
    }

    fn slots(&mut self) -> &mut Vec<Slot> {
        &mut self.slots
    }

    fn is_paired(&self) -> bool {
        self.setup.sides.len() > 1
    }

    fn begin(&mut self, stage: &Stage) -> Vec<Member> {
        if self.is_paired() {
            self.log(&format!("stage {}: {}", self.stage_number(stage.number), stage.why));
        }
        let is_member = |series: &PlannedSeries, variants: &[Variant]| {
            !series.load.is_counted() && stage.series.contains(&series.id) && !variants.is_empty()
        };
        let all = self.setup.series.iter().zip(&self.recorder.variants).enumerate();
        let members = all.filter(|(_, (series, variants))| is_member(series, variants));
        members
            .map(|(index, (_, variants))| (index, variants.clone()))
            .collect()
    }

    /// Writes plan.json before the slots are measured.
    fn enter(&mut self, stage: &Stage, kind: &'static str, slots: &[Slot]) -> anyhow::Result<()> {
        let series: Vec<_> = self.setup.series.iter().map(|one| (&one.id, &one.digest)).collect();
        let plan = json!({"seed": self.recorder.run.seed, "series": series, "slots": self.slots});
        let file = self.recorder.folder.join("plan.json");
        fs::write(&file, serde_json::to_vec_pretty(&plan)?).with_context(|| unwritable(&file))?;
        let name = if stage.number == 1 { "screen" } else { "decide" };
        let number = self.stage_number(stage.number);
        let stage = self.is_paired().then(|| format!("stage {number} {name}"));
        self.progress.enter(stage, kind, slots);
        Ok(())
    }

    fn pass(&mut self, slots: &[Slot], deadline: Option<Instant>) -> anyhow::Result<Ending> {
        self.measure_pass(slots, deadline)
    }

    fn log(&self, text: &str) {
        self.progress.log(Level::Info, text);
    }
}
