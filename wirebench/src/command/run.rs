//! `wirebench run`: the main job.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::ValueEnum;
use serde::Serialize;

use crate::command::prepare::{self, Prepared};
use crate::command::progress::Progress;
use crate::command::recorder::{self, Opening, Recorder};
use crate::command::selection::SelectionArgs;
use crate::command::{Outcome, report, results};
use crate::declare::Project;
use crate::declare::span::nanos;
use crate::measure::cores::Cores;
use crate::measure::interrupt::Interrupt;
use crate::measure::slot::{Measured, SlotError};
use crate::normalise::{self, Jq, failed_round};
use crate::plan::{self, PlannedSeries, Slot};
use crate::record::run::{Round, RoundStatus, RunStatus};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench run --profile quick
  wirebench run --scenario weather-multiplexed --rounds 10 --seed 7
  wirebench run --server http --driver 'h*' --pin off --keep-raw")]
pub(super) struct Args {
    #[command(flatten)]
    selection: SelectionArgs,
    /// Rounds of each series; without it, the profile's.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// Seed of the order of rounds; without it, a new one, which the record keeps.
    #[arg(long)]
    seed: Option<u32>,
    /// Whether server and driver get cores of their own.
    #[arg(long, value_enum, default_value_t = Pin::Auto)]
    pin: Pin,
    /// The folder that takes the run's folder; without it, results/ in the project.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep every driver's raw output (hundreds of MB); without it, only that of rounds that are not good.
    #[arg(long)]
    keep_raw: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Pin {
    /// A quarter of the cores for the server, the rest for the driver, where there are two or more.
    Auto,
    /// Server and driver share all cores.
    Off,
}

#[derive(Serialize)]
struct PlanFile<'a> {
    seed: u64,
    series: Vec<(&'a str, &'a str)>,
    slots: &'a [Slot],
}

pub(super) fn execute(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    let (profile_name, profile) = args.selection.profile(project)?;
    let series = plan::series(project, profile, &args.selection.selection())?;
    let rounds = args.rounds.unwrap_or(profile.rounds);
    let seed = u64::from(args.seed.unwrap_or_else(new_seed));
    let slots = plan::order(series.len(), rounds, seed);
    let cores = if args.pin == Pin::Auto {
        Cores::split()
    } else {
        Cores::shared()
    };
    let (jq, jq_version) = prepare::jq(project)?;
    let base = args.out.clone().unwrap_or_else(|| results(&project.root));
    let (id, folder) = recorder::new_folder(&std::path::absolute(base)?, seed)?;
    let plan = PlanFile {
        seed,
        series: series
            .iter()
            .map(|one| (one.id.as_str(), one.digest.as_str()))
            .collect(),
        slots: &slots,
    };
    let plan_file = folder.join("plan.json");
    fs::write(&plan_file, serde_json::to_vec_pretty(&plan)?).with_context(|| recorder::unwritable(&plan_file))?;

    let interrupt = Interrupt::watch()?;
    let building = Instant::now();
    let mut prepared = prepare::prepare(project, &series, cores, interrupt.clone());
    let build_ns = nanos(building.elapsed());
    prepared.tools.push(jq_version);
    prepared
        .tools
        .extend(prepare::gnuplot(&project.root).map(|(_, version)| version));
    let opening = Opening {
        root: &project.root,
        profile: profile_name,
        rounds,
        seed,
        repeat: repeat(args, rounds, seed),
        cores: &prepared.bench.cores,
        tools: prepared.tools.clone(),
    };
    let mut recorder = Recorder::begin(id, folder.clone(), opening, &series);
    recorder.run.spent.build_ns = build_ns;
    recorder.save()?;

    let mut session = Session {
        prepared: &prepared,
        jq: &jq,
        series: &series,
        keep_raw: args.keep_raw,
        folder: &folder,
    };
    let measuring = Instant::now();
    let mut progress = Progress::new(&series, &slots, rounds);
    for round in 0..rounds {
        let pass: Vec<Slot> = slots.iter().copied().filter(|slot| slot.round == round).collect();
        session.pass(&pass, &mut recorder, &mut progress);
        recorder.run.spent.measure_ns = nanos(measuring.elapsed());
        recorder.conclude(interrupt.asked() || round + 1 < rounds);
        recorder.save()?;
        if interrupt.asked() {
            break;
        }
    }
    progress.finish();
    if !args.keep_raw {
        // Only empty folders go: what is left inside belongs to rounds that are not good.
        let _ = fs::remove_dir(folder.join("raw"));
    }
    report::print(&recorder.run, &folder);
    report::write(&project.root, &recorder.run, &folder)?;
    Ok(if recorder.run.status == RunStatus::Complete {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

/// What a pass over every series needs.
struct Session<'a> {
    prepared: &'a Prepared<'a>,
    jq: &'a Jq,
    series: &'a [PlannedSeries<'a>],
    keep_raw: bool,
    folder: &'a Path,
}

/// A slot that was measured, and where its raw output lies.
struct Raw {
    slot: Slot,
    folder: PathBuf,
    measured: Result<Measured, String>,
}

impl Session<'_> {
    /// Measures every series once, then normalises what was measured, on all cores: nothing is being measured then.
    fn pass(&mut self, pass: &[Slot], recorder: &mut Recorder, progress: &mut Progress) {
        let mut raws = Vec::new();
        for slot in pass {
            if self.prepared.bench.interrupt.asked() {
                break;
            }
            let series = &self.series[slot.series];
            if recorder.given_up(slot.series) {
                progress.end(*slot, Duration::ZERO);
                continue;
            }
            progress.begin(*slot);
            let started = Instant::now();
            let folder = self
                .folder
                .join("raw")
                .join(format!("{:04}-{}", slot.position, series.id));
            let measured = match self.prepared.broken(series) {
                Some(reason) => Err(reason.to_owned()),
                None => match self.prepared.bench.measure(series, &folder) {
                    Err(error) if SlotError::is_interrupt(&error) => break,
                    other => other.map_err(|error| error.to_string()),
                },
            };
            if let Err(reason) = &measured {
                progress.say(&format!("failed: {}: {reason}", series.id));
            }
            progress.end(*slot, started.elapsed());
            raws.push(Raw {
                slot: *slot,
                folder,
                measured,
            });
        }
        let normalising = Instant::now();
        for (raw, round) in raws.iter().zip(self.normalise(&raws)) {
            if let Ok(measured) = &raw.measured {
                recorder.run.spent.load_ns += nanos(measured.loading);
                recorder.run.spent.start_ns += measured.ready_after.map_or(0, nanos);
            }
            let round = recorder.add(raw.slot.series, round);
            if round.status == RoundStatus::Invalid {
                let reason = round.reason.as_deref().unwrap_or_default();
                progress.say(&format!("invalid: {}: {reason}", self.series[raw.slot.series].id));
            }
            if round.status == RoundStatus::Ok && !self.keep_raw {
                let _ = fs::remove_dir_all(&raw.folder);
            }
        }
        recorder.run.spent.normalise_ns += nanos(normalising.elapsed());
    }

    /// One round for each raw output, in the same order.
    fn normalise(&self, raws: &[Raw]) -> Vec<Round> {
        let workers = self.prepared.bench.cores.available.clamp(1, 8);
        let next = std::sync::atomic::AtomicUsize::new(0);
        let done = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let turn = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(raw) = raws.get(turn) else { break };
                        let round = self.round(raw);
                        done.lock().expect("no holder of this lock panics").push((turn, round));
                    }
                });
            }
        });
        let mut done = done.into_inner().expect("no holder of this lock panics");
        done.sort_by_key(|(turn, _)| *turn);
        done.into_iter().map(|(_, round)| round).collect()
    }

    fn round(&self, raw: &Raw) -> Round {
        match &raw.measured {
            Ok(measured) => normalise::round(self.jq, &self.series[raw.slot.series], raw.slot, measured, &raw.folder),
            Err(reason) => failed_round(raw.slot, reason.clone()),
        }
    }
}

fn repeat(args: &Args, rounds: u32, seed: u64) -> String {
    let mut words = vec!["wirebench".to_owned(), "run".to_owned()];
    words.extend(args.selection.as_flags());
    words.extend(["--rounds".into(), rounds.to_string(), "--seed".into(), seed.to_string()]);
    if args.pin == Pin::Off {
        words.extend(["--pin".into(), "off".into()]);
    }
    shell_words::join(words)
}

fn new_seed() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.subsec_nanos() ^ u32::try_from(now.as_secs() & 0xffff_ffff).unwrap_or(0)
}
