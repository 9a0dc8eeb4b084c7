//! Keeps the record of a run while it grows, and writes it whole after every pass.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use jiff::Timestamp;

use crate::declare::scenario::{Amount, Load};
use crate::declare::span::nanos;
use crate::measure::cores::Cores;
use crate::measure::host;
use crate::measure::values::recorded_command;
use crate::plan::PlannedSeries;
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
}

/// What is known of a run before it starts.
#[derive(Debug)]
pub(super) struct Opening<'a> {
    pub(super) root: &'a Path,
    pub(super) profile: &'a str,
    pub(super) rounds: u32,
    pub(super) seed: u64,
    pub(super) repeat: String,
    pub(super) cores: &'a Cores,
    pub(super) tools: Vec<ToolVersion>,
}

impl Recorder {
    /// Begins a run in `folder`, which exists.
    pub(super) fn begin(id: String, folder: PathBuf, opening: Opening, series: &[PlannedSeries]) -> Self {
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
            variants: vec![revision(opening.root)],
            series: series.iter().map(planned).collect(),
        };
        Self { run, folder }
    }

    /// Adds a round to its series and returns it.
    pub(super) fn add(&mut self, series: usize, round: Round) -> &Round {
        let rounds = &mut self.run.series[series].rounds;
        rounds.push(round);
        &rounds[rounds.len() - 1]
    }

    /// Whether a series has failed so often in a row that it is left alone.
    pub(super) fn given_up(&self, series: usize) -> bool {
        let rounds = &self.run.series[series].rounds;
        rounds.len() >= GIVE_UP_AFTER
            && rounds
                .iter()
                .rev()
                .take(GIVE_UP_AFTER)
                .all(|round| round.status == RoundStatus::Failed)
    }

    /// Judges each series by its rounds and the run by its series.
    pub(super) fn conclude(&mut self, interrupted: bool) {
        let planned = self.run.rounds_planned as usize;
        for series in &mut self.run.series {
            let (status, reason) = conclusion(&series.rounds, planned, interrupted);
            series.status = status;
            series.reason = reason;
        }
        let failed = self
            .run
            .series
            .iter()
            .filter(|series| series.status == SeriesStatus::Failed)
            .count();
        (self.run.status, self.run.reason) = match (interrupted, failed) {
            (true, _) => (RunStatus::Incomplete, Some("interrupted".into())),
            (false, 0) => (RunStatus::Complete, None),
            (false, count) => (
                RunStatus::Failed,
                Some(format!("{count} of {} series failed", self.run.series.len())),
            ),
        };
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

fn conclusion(rounds: &[Round], planned: usize, interrupted: bool) -> (SeriesStatus, Option<String>) {
    let good = rounds.iter().filter(|round| round.status == RoundStatus::Ok).count();
    let why = || {
        rounds
            .iter()
            .find_map(|round| round.reason.clone())
            .unwrap_or_else(|| "no round was measured".into())
    };
    match good {
        good if good == planned => (SeriesStatus::Ok, None),
        good if interrupted && rounds.len() < planned => (
            SeriesStatus::Incomplete,
            Some(format!(
                "interrupted after {} of {planned} rounds, {good} of them good",
                rounds.len()
            )),
        ),
        0 => (SeriesStatus::Failed, Some(why())),
        good => (
            SeriesStatus::Partial,
            Some(format!("{good} of {planned} rounds good; {}", why())),
        ),
    }
}

fn planned(series: &PlannedSeries) -> Series {
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
        missing_in: None,
        baseline_digest: None,
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

/// The checked-out commit, when the project is a repository.
fn revision(root: &Path) -> VariantRevision {
    let git = |args: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"]);
    let modified = commit
        .as_ref()
        .and_then(|_| git(&["status", "--porcelain", "--untracked-files=no"]))
        .map(|text| !text.is_empty());
    let committed_at = commit
        .as_ref()
        .and_then(|_| git(&["show", "--no-patch", "--format=%cI", "HEAD"]));
    VariantRevision {
        variant: Variant::Candidate,
        commit,
        modified,
        name: None,
        committed_at,
        injected_burn_ns: None,
    }
}
