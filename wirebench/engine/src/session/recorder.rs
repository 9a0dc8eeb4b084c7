//! Holds the record of a running measurement, and writes all of it after every pass.
//!
//! The record of a planned series before its first round. The status of a series, derived from its rounds or counts, and the status of a
//! run, derived from its series.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;

use crate::measure::digest;
use crate::measure::values::recorded_command;
use crate::normalise::whole;
use crate::session::checkout::VariantPlan;
use crate::session::pairs;
use wirebench_declare::load::{LoadStage, Rate};
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::scenario::{Amount, Load};
use wirebench_declare::span::nanos;
use wirebench_record::counts::{CountStatus, Counts};
use wirebench_record::run::{
    Host, HostRole, LoadRecord, Pinning, RemoteHost, Round, RoundStatus, Run, RunStatus, SCHEMA, SearchRecord, Series,
    SeriesStatus, StageRecord, Variant,
};

/// The record of a run in progress.
#[derive(Debug)]
pub struct Recorder {
    /// The record so far.
    pub run: Run,
    /// The run's folder, which exists.
    pub folder: PathBuf,
    /// What is measured of each series.
    pub variants: Vec<Vec<Variant>>,
}

/// A finished run: its record, and the folder that it is in.
#[derive(Debug)]
pub struct Recorded {
    /// The record, as run.json has it.
    pub run: Run,
    /// The run's folder.
    pub folder: PathBuf,
}

/// The record of a run that starts now on a host, without tools, variants and series.
pub fn started_run(id: String, profile: &str, seed: u64, rounds: u32, host: Host) -> Run {
    let now = Timestamp::now().to_string();
    Run {
        schema: SCHEMA.into(),
        id,
        trigger: std::env::var("GITHUB_EVENT_NAME").unwrap_or_else(|_| "local".into()),
        profile: profile.to_owned(),
        reason: Some("still running, or ended by force".into()),
        started_at: now.clone(),
        finished_at: now,
        seed,
        rounds_planned: rounds,
        host,
        pinning: Pinning {
            unlocked: true,
            ..Pinning::default()
        },
        ..Run::default()
    }
}

impl Recorder {
    /// Begins to record a run in `folder`, which exists, with the series of a plan.
    pub(super) fn begin(mut run: Run, folder: PathBuf, plan: &VariantPlan) -> Self {
        let entries = plan.entries.iter();
        let planned = entries.map(|entry| on_hosts(entry.record.clone(), &run.hosts));
        run.series = planned.chain(plan.removed.iter().cloned()).collect();
        let measured = plan.entries.iter().map(|entry| entry.variants.clone());
        let removed = plan.removed.iter().map(|_| Vec::new());
        Self {
            run,
            folder,
            variants: measured.chain(removed).collect(),
        }
    }

    /// A recorder of the same run in another folder, for rounds that are not kept.
    pub(super) fn in_folder(&self, folder: &Path) -> Self {
        Self {
            run: self.run.clone(),
            folder: folder.to_path_buf(),
            variants: self.variants.clone(),
        }
    }

    /// True if a variant of a series is not measured any further.
    pub fn given_up(&self, series: usize, variant: Variant) -> bool {
        pairs::given_up(&self.run.series[series].rounds, variant)
    }

    /// Marks one pair of a series as dropped if the machine was disturbed. Returns the reason.
    pub(super) fn drop_disturbed(&mut self, series: usize, number: u32) -> Option<String> {
        let others = self.run.hosts.iter().map(|one| one.host.cpu_count);
        let cpu_count = self.run.host.cpu_count + others.sum::<u32>();
        pairs::drop_disturbed(&mut self.run.series[series].rounds, number, cpu_count)
    }

    /// Derives each series' status from its rounds or counts and the run's status from its series, and writes the record. The run
    /// ends now; `unfinished` if that is before all could be measured.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn conclude(&mut self, unfinished: bool) -> anyhow::Result<()> {
        let run = &mut self.run;
        let planned: Vec<usize> = run.series.iter().map(|series| planned_rounds(run, series)).collect();
        for ((series, planned), variants) in run.series.iter_mut().zip(planned).zip(&self.variants) {
            (series.status, series.reason) = if series.same_program && variants.is_empty() {
                let why = "the same program on both sides: nothing was measured";
                (SeriesStatus::Ok, Some(why.to_owned()))
            } else if series.load.counted.is_some() {
                of_counts(&series.counts, variants)
            } else {
                of_series(&series.rounds, variants, planned, unfinished)
            };
        }
        (run.status, run.reason) = of_run(&run.series, unfinished);
        run.finished_at = Timestamp::now().to_string();
        save(run, &self.folder)
    }

    /// Ends the run: concludes, and removes the folder of raw output if it is empty: it holds output of rounds that are not ok.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn finish(mut self, unfinished: bool) -> anyhow::Result<Recorded> {
        self.conclude(unfinished)?;
        let _ = fs::remove_dir(self.folder.join("raw"));
        let Self { run, folder, .. } = self;
        Ok(Recorded { run, folder })
    }
}

/// Writes run.json: a temporary file first, which is renamed, so that a full disk never destroys an earlier state.
///
/// # Errors
/// When the folder cannot be written.
pub fn save(run: &Run, folder: &Path) -> anyhow::Result<()> {
    let file = folder.join("run.json");
    let save = || -> anyhow::Result<()> {
        let mut unfinished = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut unfinished, run)?;
        unfinished.write_all(b"\n")?;
        unfinished.persist(&file)?;
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

/// Makes the folder of a new run, which no other run has; returns the run's id too.
///
/// # Errors
/// When it cannot be made.
pub fn new_folder(base: &Path, seed: u64) -> anyhow::Result<(String, PathBuf)> {
    new_folder_at(base, Timestamp::now(), seed)
}

fn new_folder_at(base: &Path, now: Timestamp, seed: u64) -> anyhow::Result<(String, PathBuf)> {
    let first = format!("{}-{:06x}", now.strftime("%Y%m%dT%H%M%SZ"), seed & 0x00ff_ffff);
    let cannot_be_made = |folder: &Path| {
        format!(
            "{}: cannot be made; choose another folder with --out DIR",
            folder.display()
        )
    };
    fs::create_dir_all(base).with_context(|| cannot_be_made(base))?;
    let (mut id, mut number) = (first.clone(), 1);
    loop {
        let folder = base.join(&id);
        match fs::create_dir(&folder).and_then(|()| fs::create_dir(folder.join("raw"))) {
            // Another run began in the same second with the same seed.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                number += 1;
                id = format!("{first}-{number}");
            }
            made => return made.with_context(|| cannot_be_made(&folder)).map(|()| (id, folder)),
        }
    }
}

/// A series whose load crosses a network has other digests: its values are not comparable with those on one machine.
fn on_hosts(series: Series, hosts: &[RemoteHost]) -> Series {
    if hosts.is_empty() {
        return series;
    }
    let has = |role| hosts.iter().any(|one| one.role == role);
    let hosts = match (has(HostRole::Server), has(HostRole::Driver)) {
        (true, true) => "server and driver on other hosts",
        (true, false) => "server on another host",
        (false, _) => "driver on another host",
    };
    let with_hosts = |digest: &str| digest::short(&format!("{digest} {hosts}"));
    Series {
        digest: with_hosts(&series.digest),
        baseline_digest: series.baseline_digest.as_deref().map(with_hosts),
        ..series
    }
}

/// A planned series without measured values.
pub fn unmeasured(series: &PlannedSeries) -> Series {
    Series {
        id: series.id.clone(),
        scenario: series.scenario.name.clone(),
        server: series.server.name.clone(),
        driver: series.driver.name.clone(),
        protocol: series.protocol.name().into(),
        load: load_record(&series.load),
        limits: series.scenario.limits.clone(),
        digest: series.digest.clone(),
        command: recorded_command(series),
        status: SeriesStatus::Incomplete,
        ..Series::default()
    }
}

fn load_record(load: &Load) -> LoadRecord {
    let mut record = LoadRecord {
        connections: (!load.is_without_server()).then_some(load.connections),
        streams: (!load.is_without_server()).then_some(load.streams),
        warmup_ns: load.warmup.map(|span| nanos(span.0)),
        pause_ns: load.pause.map(|span| nanos(span.0)),
        search: load.search.map(|search| SearchRecord {
            p99_ns: nanos(search.p99.0),
            from_per_s: search.from,
            to_per_s: search.to,
        }),
        ..LoadRecord::default()
    };
    match &load.amount {
        Amount::Requests(count) => record.requests = Some(*count),
        Amount::Duration(span) => record.duration_ns = Some(nanos(span.0)),
        Amount::Starts(count) => record.starts = Some(*count),
        Amount::Samples(count) => record.samples = Some(*count),
        Amount::Counted { many, .. } => record.counted = Some(*many),
        Amount::Stages(each) => {
            let stage = |one: &LoadStage| StageRecord {
                connections: one.connections,
                duration_ns: nanos(one.duration.0),
            };
            record.stages = each.iter().map(stage).collect();
        }
    }
    match load.rate {
        None => {}
        Some(Rate::PerSecond(rate)) => record.rate_per_s = Some(rate),
        Some(Rate::OfCapacity(share)) => record.rate_permille = Some(whole(share.percent() * 10.0)),
    }
    record
}

/// The status of a series with `planned` rounds of each of `variants`; `unfinished` if the run ended before all could
/// be measured.
fn of_series(
    rounds: &[Round],
    variants: &[Variant],
    planned: usize,
    unfinished: bool,
) -> (SeriesStatus, Option<String>) {
    let mut worst = (SeriesStatus::Ok, None);
    // The null is measured only in a random part of the rounds.
    for variant in variants.iter().filter(|variant| **variant != Variant::Null) {
        let own: Vec<&Round> = rounds.iter().filter(|round| round.variant == *variant).collect();
        let (mut status, reason) = of_rounds(&own, planned, unfinished);
        let reason = reason.map(|reason| of_variant(reason, *variant, variants));
        if *variant == Variant::Reference && status == SeriesStatus::Failed {
            // A trend loses a point, but baseline and candidate can still be compared.
            status = SeriesStatus::Partial;
        }
        if rank(status) > rank(worst.0) {
            worst = (status, reason);
        }
    }
    worst
}

/// The status of a counted series, by the counts of `variants`; a reference is never counted, and the null is only a
/// check.
fn of_counts(counts: &[Counts], variants: &[Variant]) -> (SeriesStatus, Option<String>) {
    let mut worst = (SeriesStatus::Ok, None);
    let judged = |variant: &&Variant| matches!(variant, Variant::Baseline | Variant::Candidate);
    for variant in variants.iter().filter(judged) {
        let found = match counts.iter().find(|counts| counts.variant == *variant) {
            None => (
                SeriesStatus::Incomplete,
                Some("interrupted before it was counted".to_owned()),
            ),
            Some(counts) => {
                let status = match counts.status {
                    CountStatus::Ok => SeriesStatus::Ok,
                    CountStatus::Partial => SeriesStatus::Partial,
                    CountStatus::Failed => SeriesStatus::Failed,
                    CountStatus::Skipped => SeriesStatus::Skipped,
                };
                let reason = counts.reason.clone();
                (status, reason.map(|reason| of_variant(reason, *variant, variants)))
            }
        };
        if rank(found.0) > rank(worst.0) || worst.1.is_none() {
            worst = found;
        }
    }
    worst
}

/// A reason with its variant, where there are several.
fn of_variant(reason: String, variant: Variant, variants: &[Variant]) -> String {
    match variants {
        [_] => reason,
        _ => format!("{}: {reason}", variant.name()),
    }
}

/// The status of a run, by its series.
pub(super) fn of_run(series: &[Series], unfinished: bool) -> (RunStatus, Option<String>) {
    let failed = series
        .iter()
        .filter(|series| series.status == SeriesStatus::Failed)
        .count();
    match (unfinished, failed) {
        (true, _) => (RunStatus::Incomplete, Some("interrupted".into())),
        (false, 0) => (RunStatus::Complete, None),
        (false, count) => (
            RunStatus::Failed,
            Some(format!("{count} of {} series failed", series.len())),
        ),
    }
}

const fn rank(status: SeriesStatus) -> u32 {
    match status {
        SeriesStatus::Ok | SeriesStatus::Skipped => 0,
        SeriesStatus::Partial => 1,
        SeriesStatus::Incomplete => 2,
        SeriesStatus::Failed => 3,
    }
}

/// The status of one variant's rounds. Rounds of a disturbed pair are measured again, so they are ignored here.
fn of_rounds(rounds: &[&Round], planned: usize, unfinished: bool) -> (SeriesStatus, Option<String>) {
    let good = rounds
        .iter()
        .filter(|round| round.status == RoundStatus::Ok && round.dropped.is_none())
        .count();
    let why = || {
        let bad = rounds.iter().find_map(|round| round.reason.clone());
        let dropped = || rounds.iter().find_map(|round| round.dropped.clone());
        bad.or_else(dropped).unwrap_or_else(|| "no round was measured".into())
    };
    match good {
        good if good >= planned && good > 0 => (SeriesStatus::Ok, None),
        good if unfinished && rounds.len() < planned => (
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

/// Rounds of each variant planned for a series, over all stages so far.
fn planned_rounds(run: &Run, series: &Series) -> usize {
    let stages = run.stages.iter().filter(|stage| stage.series.contains(&series.id));
    let planned: u32 = if run.stages.is_empty() {
        run.rounds_planned
    } else {
        stages.map(|stage| stage.rounds).sum()
    };
    planned as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_second_and_one_seed_have_ids_and_folders_of_their_own() {
        let base = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-11-21T05:10:47Z".parse().unwrap();
        let made = [(), ()].map(|()| new_folder_at(&base.path().join("results"), now, 42).unwrap());
        let ids = made.each_ref().map(|(id, _)| id.as_str());
        assert_eq!(ids, ["20261121T051047Z-00002a", "20261121T051047Z-00002a-2"]);
        assert!(made.iter().all(|(_, folder)| folder.join("raw").is_dir()));
    }
}

#[cfg(test)]
mod status_tests {
    use super::*;
    use crate::normalise::failed_round;
    use wirebench_declare::plan::Slot;

    const BOTH: [Variant; 2] = [Variant::Baseline, Variant::Candidate];

    fn good(variant: Variant) -> Round {
        Round {
            status: RoundStatus::Ok,
            reason: None,
            ..bad(variant)
        }
    }

    fn bad(variant: Variant) -> Round {
        let slot = Slot {
            position: 0,
            round: 0,
            series: 0,
            variant,
            stage: 1,
        };
        failed_round(slot, "it fell over".into())
    }

    fn dropped(variant: Variant) -> Round {
        Round {
            dropped: Some("steal".into()),
            ..good(variant)
        }
    }

    #[test]
    fn every_variant_must_have_its_rounds() {
        let whole = [good(Variant::Baseline), good(Variant::Candidate)];
        assert_eq!(of_series(&whole, &BOTH, 1, false), (SeriesStatus::Ok, None));
        let half = [bad(Variant::Baseline), good(Variant::Candidate)];
        let (status, reason) = of_series(&half, &BOTH, 1, false);
        assert_eq!(status, SeriesStatus::Failed);
        assert_eq!(reason.as_deref(), Some("baseline: it fell over"));
    }

    #[test]
    fn an_extra_round_makes_up_for_a_dropped_one() {
        let mut rounds = vec![dropped(Variant::Baseline), dropped(Variant::Candidate)];
        rounds.extend(BOTH.map(good));
        let (status, reason) = of_series(&rounds, &BOTH, 2, false);
        assert_eq!(status, SeriesStatus::Partial);
        assert_eq!(reason.as_deref(), Some("baseline: 1 of 2 rounds good; steal"));
        rounds.extend(BOTH.map(good));
        assert_eq!(of_series(&rounds, &BOTH, 2, false).0, SeriesStatus::Ok);
    }

    #[test]
    fn a_broken_reference_costs_the_trend_not_the_comparison() {
        let all = [Variant::Baseline, Variant::Candidate, Variant::Reference];
        let rounds = [
            good(Variant::Baseline),
            good(Variant::Candidate),
            bad(Variant::Reference),
        ];
        assert_eq!(of_series(&rounds, &all, 1, false).0, SeriesStatus::Partial);
    }

    #[test]
    fn a_single_variant_is_told_as_it_always_was() {
        let alone = [Variant::Candidate];
        let (status, reason) = of_series(&[good(Variant::Candidate)], &alone, 3, true);
        assert_eq!(status, SeriesStatus::Incomplete);
        assert_eq!(
            reason.as_deref(),
            Some("interrupted after 1 of 3 rounds, 1 of them good")
        );
        assert_eq!(of_series(&[], &alone, 3, false).0, SeriesStatus::Failed);
    }
}
