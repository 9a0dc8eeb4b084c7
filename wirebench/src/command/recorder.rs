//! Keeps the record of a run while it grows, and writes it whole after every pass.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;

use crate::command::conclude;
use crate::command::lineup::{Entry, Lineup};
use crate::declare::scenario::{Amount, Load};
use crate::declare::span::nanos;
use crate::measure::cores::Cores;
use crate::measure::host;
use crate::measure::values::recorded_command;
use crate::plan::PlannedSeries;
use crate::plan::rerun::{Conditions, Tally, disturbed};
use crate::record::run::{
    LoadRecord, Pinning, Round, RoundStatus, Run, RunStatus, SCHEMA, Series, SeriesStatus, Spent, ToolVersion, Variant,
    VariantRevision,
};

/// Rounds in a row that may fail before a series is given up.
const GIVE_UP_AFTER: usize = 2;

/// A run being made.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) run: Run,
    pub(super) folder: PathBuf,
    /// What is measured of each series.
    variants: Vec<Vec<Variant>>,
}

/// What is known of a run before it starts.
#[derive(Debug)]
pub(super) struct Opening<'a> {
    pub(super) profile: &'a str,
    pub(super) rounds: u32,
    pub(super) seed: u64,
    pub(super) repeat: String,
    pub(super) cores: &'a Cores,
    pub(super) tools: Vec<ToolVersion>,
    pub(super) revisions: Vec<VariantRevision>,
}

impl Recorder {
    /// Begins a run in `folder`, which exists.
    pub(super) fn begin(
        id: String,
        folder: PathBuf,
        opening: Opening,
        series: &[PlannedSeries],
        lineup: &Lineup,
    ) -> Self {
        let removed = Entry {
            variants: Vec::new(),
            missing_in: Some(Variant::Candidate),
            baseline_digest: None,
        };
        let listed: Vec<(&PlannedSeries, &Entry)> = series
            .iter()
            .zip(&lineup.entries)
            .chain(lineup.removed.iter().map(|one| (one, &removed)))
            .collect();
        let now = Timestamp::now().to_string();
        let run = Run {
            schema: SCHEMA.into(),
            id,
            trigger: std::env::var("GITHUB_EVENT_NAME").unwrap_or_else(|_| "local".into()),
            profile: opening.profile.to_owned(),
            status: RunStatus::Incomplete,
            reason: Some("still running, or ended by force".into()),
            started_at: now.clone(),
            finished_at: now,
            spent: Spent::default(),
            seed: opening.seed,
            rounds_planned: opening.rounds,
            repeat: opening.repeat,
            stages: Vec::new(),
            accepted: Vec::new(),
            host: host::describe(opening.cores.available),
            pinning: Pinning {
                server_cores: opening.cores.server.clone(),
                driver_cores: opening.cores.driver.clone(),
            },
            tools: opening.tools,
            variants: opening.revisions,
            series: listed.iter().map(|(one, entry)| planned(one, entry)).collect(),
        };
        let variants = listed.iter().map(|(_, entry)| entry.variants.clone()).collect();
        Self { run, folder, variants }
    }

    /// The same run in another folder, for rounds that are not kept.
    pub(super) fn elsewhere(&self, folder: &Path) -> Self {
        Self {
            run: self.run.clone(),
            folder: folder.to_path_buf(),
            variants: self.variants.clone(),
        }
    }

    /// Adds a round to its series and returns it.
    pub(super) fn add(&mut self, series: usize, round: Round) -> &Round {
        let rounds = &mut self.run.series[series].rounds;
        rounds.push(round);
        &rounds[rounds.len() - 1]
    }

    /// Whether a variant of a series is left alone, because it failed so often in a row, or because the candidate or the
    /// baseline did: then there is nothing to compare it with.
    pub(super) fn given_up(&self, series: usize, variant: Variant) -> bool {
        let failing = |variant| {
            let rounds = self.run.series[series].rounds.iter().rev();
            let own = rounds.filter(|round| round.variant == variant).take(GIVE_UP_AFTER);
            own.filter(|round| round.status == RoundStatus::Failed).count() == GIVE_UP_AFTER
        };
        [variant, Variant::Candidate, Variant::Baseline]
            .into_iter()
            .any(failing)
    }

    /// Leaves the rounds of one series that were measured back to back out of every comparison, when the machine was
    /// disturbed during one of them; says why.
    pub(super) fn drop_disturbed(&mut self, series: usize, round: u32) -> Option<String> {
        let cpu_count = self.run.host.cpu_count;
        let mut pair: Vec<&mut Round> = self.run.series[series]
            .rounds
            .iter_mut()
            .filter(|one| one.round == round)
            .collect();
        let conditions: Vec<Conditions> = pair
            .iter()
            .map(|one| Conditions {
                steal_ns: one.host_steal_ns,
                elapsed_ns: one.elapsed_ns,
            })
            .collect();
        let why = disturbed(&conditions, cpu_count)?;
        for one in &mut pair {
            one.dropped = Some(why.clone());
        }
        Some(why)
    }

    /// How the pairs of a series stand in a stage of which `planned` were planned.
    pub(super) fn tally(&self, series: usize, stage: u32, planned: u32) -> Tally {
        let mut tally = Tally {
            planned,
            ..Tally::default()
        };
        let variants = &self.variants[series];
        let compared = |variant: &&Variant| **variant != Variant::Reference || !variants.contains(&Variant::Baseline);
        let mut pairs: BTreeMap<u32, Vec<&Round>> = BTreeMap::new();
        for one in self.run.series[series].rounds.iter().filter(|one| one.stage == stage) {
            pairs.entry(one.round).or_default().push(one);
        }
        for pair in pairs.values() {
            let undisturbed = pair.iter().all(|one| one.dropped.is_none());
            let good = |variant: &Variant| {
                let mut own = pair.iter().filter(|one| one.variant == *variant);
                own.any(|one| one.status == RoundStatus::Ok)
            };
            let whole = variants.iter().filter(compared).all(good);
            tally.measured += 1;
            tally.undisturbed += u32::from(undisturbed);
            tally.whole += u32::from(undisturbed && whole);
        }
        tally
    }

    /// Rounds of each variant planned for a series, over all stages so far.
    fn planned(&self, series: &Series) -> usize {
        let stages = self.run.stages.iter().filter(|stage| stage.series.contains(&series.id));
        let planned: u32 = if self.run.stages.is_empty() {
            self.run.rounds_planned
        } else {
            stages.map(|stage| stage.rounds).sum()
        };
        planned as usize
    }

    /// Judges each series by its rounds and the run by its series.
    pub(super) fn conclude(&mut self, unfinished: bool) {
        let planned: Vec<usize> = self.run.series.iter().map(|series| self.planned(series)).collect();
        for ((series, variants), planned) in self.run.series.iter_mut().zip(&self.variants).zip(planned) {
            (series.status, series.reason) = conclude::series(&series.rounds, variants, planned, unfinished);
        }
        (self.run.status, self.run.reason) = conclude::run(&self.run.series, unfinished);
        self.run.finished_at = Timestamp::now().to_string();
    }

    /// Writes run.json beside itself first, so that a full disk never costs an earlier state.
    pub(super) fn save(&self) -> anyhow::Result<()> {
        let file = self.folder.join("run.json");
        let save = || -> anyhow::Result<()> {
            let mut beside = tempfile::NamedTempFile::new_in(&self.folder)?;
            serde_json::to_writer_pretty(&mut beside, &self.run)?;
            beside.write_all(b"\n")?;
            beside.persist(&file)?;
            Ok(())
        };
        save().with_context(|| unwritable(&file))
    }
}

/// What to say, before the reason, of a results file that cannot be written.
pub(super) fn unwritable(file: &Path) -> String {
    format!(
        "{}: cannot be written; free some space or choose another folder with --out",
        file.display()
    )
}

/// Makes the folder of a new run.
pub(super) fn new_folder(base: &Path, seed: u64) -> anyhow::Result<(String, PathBuf)> {
    let id = format!(
        "{}-{:06x}",
        Timestamp::now().strftime("%Y%m%dT%H%M%SZ"),
        seed & 0x00ff_ffff
    );
    let folder = base.join(&id);
    fs::create_dir_all(folder.join("raw")).with_context(|| {
        format!(
            "{}: cannot be made; choose another folder with --out DIR",
            folder.display()
        )
    })?;
    Ok((id, folder))
}

fn planned(series: &PlannedSeries, entry: &Entry) -> Series {
    Series {
        id: series.id.clone(),
        scenario: series.scenario.name.clone(),
        server: series.server.name.clone(),
        driver: series.driver.name.clone(),
        protocol: series.protocol.name().into(),
        load: load(&series.load),
        digest: series.digest.clone(),
        command: recorded_command(series),
        status: SeriesStatus::Incomplete,
        reason: None,
        missing_in: entry.missing_in,
        baseline_digest: entry.baseline_digest.clone(),
        injected_burn_ns: None,
        rounds: Vec::new(),
    }
}

fn load(load: &Load) -> LoadRecord {
    let (mut requests, mut duration_ns, mut starts) = (None, None, None);
    match load.amount {
        Amount::Requests(count) => requests = Some(count),
        Amount::Duration(span) => duration_ns = Some(nanos(span.0)),
        Amount::Starts(count) => starts = Some(count),
    }
    LoadRecord {
        connections: starts.is_none().then_some(load.connections),
        streams: starts.is_none().then_some(load.streams),
        requests,
        duration_ns,
        starts,
        rate_per_s: load.rate,
        warmup_ns: load.warmup.map(|span| nanos(span.0)),
    }
}
