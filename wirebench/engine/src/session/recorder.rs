//! Holds the record of a running measurement, and writes all of it after every pass.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;

use crate::measure::cores::Cores;
use crate::measure::host;
use crate::measure::values::recorded_command;
use crate::session::lineup::{Entry, Lineup};
use crate::session::{conclude, pairs};
use wirebench_declare::load::{LoadStage, Rate};
use wirebench_declare::percent::Percent;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::plan::rerun::Tally;
use wirebench_declare::scenario::{Amount, Load};
use wirebench_declare::span::nanos;
use wirebench_record::run::{
    Dependency, HostRole, LoadRecord, Pinning, RemoteHost, Round, Run, RunStatus, SCHEMA, SearchRecord, Series,
    SeriesStatus, Spent, StageRecord, ToolVersion, Variant, VariantRevision,
};

/// The record of a run in progress.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) run: Run,
    pub(super) folder: PathBuf,
    /// What is measured of each series.
    variants: Vec<Vec<Variant>>,
}

/// The facts known before a run starts.
#[derive(Debug)]
pub(super) struct Opening<'a> {
    pub(super) profile: &'a str,
    pub(super) rounds: u32,
    pub(super) seed: u64,
    pub(super) repeat: String,
    pub(super) cores: &'a Cores,
    pub(super) unlocked: bool,
    pub(super) tools: Vec<ToolVersion>,
    pub(super) revisions: Vec<VariantRevision>,
    pub(super) dependencies: Vec<Dependency>,
    pub(super) hosts: Vec<RemoteHost>,
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
        let measured = series
            .iter()
            .zip(&lineup.entries)
            .map(|(one, entry)| on_hosts(listed(one, entry), &opening.hosts))
            .collect::<Vec<Series>>();
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
            shards: Vec::new(),
            accepted: Vec::new(),
            host: host::beside(host::describe(opening.cores.available), &opening.hosts),
            hosts: opening.hosts,
            pinning: Pinning {
                server_cores: opening.cores.server.clone(),
                driver_cores: opening.cores.driver.clone(),
                unlocked: opening.unlocked,
            },
            tools: opening.tools,
            variants: opening.revisions,
            dependencies: opening.dependencies,
            series: measured.into_iter().chain(lineup.removed.iter().cloned()).collect(),
        };
        let measured = lineup.entries.iter().map(|entry| entry.variants.clone());
        let removed = lineup.removed.iter().map(|_| Vec::new());
        Self {
            variants: measured.chain(removed).collect(),
            run,
            folder,
        }
    }

    /// A recorder of the same run in another folder, for rounds that are not kept.
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

    /// True if a variant of a series is not measured any further.
    pub(super) fn given_up(&self, series: usize, variant: Variant) -> bool {
        pairs::given_up(&self.run.series[series].rounds, variant)
    }

    /// Marks one pair of a series as dropped if the machine was disturbed. Returns the reason.
    pub(super) fn drop_disturbed(&mut self, series: usize, number: u32) -> Option<String> {
        let others = self.run.hosts.iter().map(|one| one.host.cpu_count);
        let cpu_count = self.run.host.cpu_count + others.sum::<u32>();
        pairs::drop_disturbed(&mut self.run.series[series].rounds, number, cpu_count)
    }

    /// Counts the pairs of a series in a stage of which `planned` were planned.
    pub(super) fn tally(&self, series: usize, stage: u32, planned: u32) -> Tally {
        let rounds = &self.run.series[series].rounds;
        pairs::tally(rounds, &self.variants[series], stage, planned)
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

    /// Derives each series' status from its rounds and the run's status from its series.
    pub(super) fn conclude(&mut self, unfinished: bool) {
        let planned: Vec<usize> = self.run.series.iter().map(|series| self.planned(series)).collect();
        for ((series, variants), planned) in self.run.series.iter_mut().zip(&self.variants).zip(planned) {
            (series.status, series.reason) = if series.same_program && variants.is_empty() {
                let why = "the same program on both sides: nothing was measured";
                (SeriesStatus::Ok, Some(why.to_owned()))
            } else if series.load.counted.is_some() {
                conclude::counted(&series.counts, variants)
            } else {
                conclude::series(&series.rounds, variants, planned, unfinished)
            };
        }
        (self.run.status, self.run.reason) = conclude::run(&self.run.series, unfinished);
        self.run.finished_at = Timestamp::now().to_string();
    }

    /// Writes a temporary file first and renames it, so that a full disk never destroys an earlier state.
    pub(super) fn save(&self) -> anyhow::Result<()> {
        save(&self.run, &self.folder)
    }
}

/// Writes run.json atomically.
///
/// # Errors
/// When the folder cannot be written.
pub fn save(run: &Run, folder: &Path) -> anyhow::Result<()> {
    let file = folder.join("run.json");
    let save = || -> anyhow::Result<()> {
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut beside, run)?;
        beside.write_all(b"\n")?;
        beside.persist(&file)?;
        Ok(())
    };
    save().with_context(|| unwritable(&file))
}

/// The message, without its cause, for a results file that cannot be written.
pub fn unwritable(file: &Path) -> String {
    format!(
        "{}: cannot be written; free some space or choose another folder with --out",
        file.display()
    )
}

/// Makes the folder of a new run; returns the run's id too.
///
/// # Errors
/// When it cannot be made.
pub fn new_folder(base: &Path, seed: u64) -> anyhow::Result<(String, PathBuf)> {
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

/// A series before its first round.
pub(super) fn listed(series: &PlannedSeries, entry: &Entry) -> Series {
    Series {
        missing_in: entry.missing_in,
        same_program: entry.same_program,
        baseline_digest: entry.baseline_digest.clone(),
        ..unmeasured(series)
    }
}

/// The same with digests that say that the load crosses a network: values without one are another question.
fn on_hosts(series: Series, hosts: &[RemoteHost]) -> Series {
    if hosts.is_empty() {
        return series;
    }
    let has = |role| hosts.iter().any(|one| one.role == role);
    let what = match (has(HostRole::Server), has(HostRole::Driver)) {
        (true, true) => "server and driver on other hosts",
        (true, false) => "server on another host",
        (false, _) => "driver on another host",
    };
    let crossed = |digest: &str| host::digits(&format!("{digest} {what}"));
    Series {
        digest: crossed(&series.digest),
        baseline_digest: series.baseline_digest.as_deref().map(crossed),
        ..series
    }
}

/// A planned series of which nothing is measured yet.
#[must_use]
pub fn unmeasured(series: &PlannedSeries) -> Series {
    Series {
        id: series.id.clone(),
        scenario: series.scenario.name.clone(),
        server: series.server.name.clone(),
        driver: series.driver.name.clone(),
        protocol: series.protocol.name().into(),
        load: load(&series.load),
        limits: series.scenario.limits.clone(),
        digest: series.digest.clone(),
        command: recorded_command(series),
        status: SeriesStatus::Incomplete,
        reason: None,
        missing_in: None,
        same_program: false,
        baseline_digest: None,
        injected_burn_ns: None,
        counts: Vec::new(),
        rounds: Vec::new(),
    }
}

fn load(load: &Load) -> LoadRecord {
    let (mut requests, mut duration_ns, mut starts, mut counted) = (None, None, None, None);
    let mut samples = None;
    let mut stages = Vec::new();
    match &load.amount {
        Amount::Requests(count) => requests = Some(*count),
        Amount::Duration(span) => duration_ns = Some(nanos(span.0)),
        Amount::Starts(count) => starts = Some(*count),
        Amount::Samples(count) => samples = Some(*count),
        Amount::Counted { many, .. } => counted = Some(*many),
        Amount::Stages(each) => {
            let stage = |one: &LoadStage| StageRecord {
                connections: one.connections,
                duration_ns: nanos(one.duration.0),
            };
            stages = each.iter().map(stage).collect();
        }
    }
    let (rate_per_s, rate_permille) = match load.rate {
        None => (None, None),
        Some(Rate::PerSecond(rate)) => (Some(rate), None),
        Some(Rate::OfCapacity(share)) => (None, Some(permille(share))),
    };
    let search = load.search.map(|search| SearchRecord {
        p99_ns: nanos(search.p99.0),
        from_per_s: search.from,
        to_per_s: search.to,
    });
    LoadRecord {
        connections: (!load.is_without_server()).then_some(load.connections),
        streams: (!load.is_without_server()).then_some(load.streams),
        requests,
        duration_ns,
        starts,
        samples,
        counted,
        rate_per_s,
        warmup_ns: load.warmup.map(|span| nanos(span.0)),
        rate_permille,
        capacity_per_s: None,
        capacity_bound: None,
        stages,
        pause_ns: load.pause.map(|span| nanos(span.0)),
        search,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "declared shares of a capacity lie between 0 and 100 %"
)]
fn permille(share: Percent) -> u32 {
    (share.percent() * 10.0).round() as u32
}
