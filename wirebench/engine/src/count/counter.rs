//! Makes all runs that counting needs, several at once: counts do not depend on how busy the machine is.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::count::pass::{Pass, PassError};
use crate::count::profile::callgrind::Instructions;
use crate::count::profile::dhat::Allocated;
use crate::count::profile::{ProfileError, Tree, callgrind, dhat, strace};
use crate::count::series::{Counted, Failure, FailureKind, Good, Runs};
use crate::count::tool::{Tool, Toolbox, written};
use crate::measure::side::Side;
use crate::measure::slot::{Harness, SlotError};
use crate::measure::staging::LAYOUTS;
use crate::measure::target::TargetError;
use crate::normalise::Jq;
use rayon::ThreadPoolBuilder;
use rayon::prelude::{ParallelBridge as _, ParallelIterator as _};
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::scenario::Amount;
use wirebench_record::counts::{CountStatus, Counts};
use wirebench_record::run::Variant;

/// The most runs at once: more gain little, and valgrind takes memory.
const MOST_WORKERS: usize = 8;

/// A load that took this long crossed a second of the wall clock because the machine was busy; it might fit into one
/// when repeated.
const NEARLY_A_SECOND: Range<Duration> = Duration::from_secs(1)..Duration::from_millis(1_700);
/// How often such a run is made again.
const REPEATS: usize = 2;

/// A server run that failed sooner than this is repeated once.
const WORTH_A_SECOND: Duration = Duration::from_secs(10);

/// One variant of a counted series.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The question.
    pub series: &'a PlannedSeries<'a>,
    /// Whose server.
    pub side: &'a Side,
    /// Why it cannot be counted, when that is known before.
    pub broken: Option<String>,
}

/// What every run shares.
#[derive(Clone, Copy)]
pub struct Counter<'a> {
    /// The project and its drivers.
    pub bench: &'a Harness<'a>,
    /// What watches servers.
    pub toolbox: &'a Toolbox,
    /// For what drivers wrote.
    pub jq: &'a Jq,
    /// The run's folder; call stacks stay there.
    pub folder: &'a Path,
    /// Whether what tools and drivers wrote is kept too.
    pub keep_raw: bool,
    /// The largest spread, as a share, with which a figure is given.
    pub spread_at_most: f64,
    /// Receives one line for each server: what can be counted.
    pub tell: &'a (dyn Fn(&str) + Sync),
}

/// One run of the list.
#[derive(Debug, Clone, Copy)]
struct Turn {
    job: usize,
    tool: Tool,
    requests: u64,
    layout: usize,
    stacks: bool,
    number: usize,
}

/// Why the result of a server run is not used.
#[derive(Debug, thiserror::Error)]
enum TurnError {
    #[error(transparent)]
    Pass(#[from] PassError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error("{0} wrote no counts")]
    Nothing(&'static str),
}

impl TurnError {
    fn is_interrupt(&self) -> bool {
        matches!(self, Self::Pass(error) if error.is_interrupt())
    }

    fn kind(&self) -> FailureKind {
        match self {
            Self::Pass(PassError::Slot(SlotError::Target(TargetError::NotReady { .. }))) => FailureKind::NotReady,
            Self::Pass(PassError::Connections { .. }) => FailureKind::Uncountable,
            _ => FailureKind::Other,
        }
    }
}

impl Job<'_> {
    /// Whether it is the baseline's second copy.
    fn is_null(&self) -> bool {
        self.side.revision.variant == Variant::Null
    }
}

/// Why a run under valgrind is skipped: another run of the same server, of any variant and operation, failed under it.
/// A figure that one side lacks cannot be compared, so the failure is found once.
fn failed_before(jobs: &[Job], turn: &Turn, runs: &[Runs]) -> Option<Failure> {
    let server = &jobs[turn.job].series.server.name;
    let others = jobs
        .iter()
        .zip(runs)
        .filter(|(job, _)| turn.tool.is_valgrind() && job.series.server.name == *server);
    let mut failed = others.flat_map(|(_, runs)| &runs.failed);
    // A server that does not get ready under one of valgrind's tools will not under the others.
    let in_vain = |tool: Tool, kind| tool == turn.tool || (tool.is_valgrind() && kind == FailureKind::NotReady);
    let (tool, failure) = failed.find(|(tool, failure)| in_vain(**tool, failure.kind))?;
    if failure.kind == FailureKind::NotTried {
        return Some(failure.clone());
    }
    Some(Failure {
        kind: FailureKind::NotTried,
        why: format!("not tried, as {} failed on this server: {}", tool.name(), failure.why),
    })
}

/// Why a tool's runs failed, with advice if there is any.
fn explained(tool: Tool, error: &str) -> String {
    if tool.is_valgrind() && error.contains("signal 4") {
        return format!(
            "valgrind does not know an instruction of this program (illegal instruction); build it without \
             target-cpu=native or newer instruction sets, such as AVX-512. It {error}"
        );
    }
    error.to_owned()
}

impl Counter<'_> {
    /// Counts every job; returns `None` if the user interrupted. `say` is called for each job after its last run.
    ///
    /// # Errors
    /// When the run's folder cannot be written.
    pub fn count(&self, jobs: &[Job], say: &(dyn Fn(usize, usize) + Sync)) -> std::io::Result<Option<Vec<Counts>>> {
        let turns = self.turns(jobs);
        let runs = Mutex::new(jobs.iter().map(|_| self.nothing_yet()).collect::<Vec<_>>());
        let done = AtomicUsize::new(0);
        let take = |turn: &Turn| {
            if !self.bench.interrupt.is_requested() {
                self.take(jobs, turn, &runs);
            }
            say(done.fetch_add(1, Ordering::Relaxed) + 1, turns.len());
        };
        let workers = ThreadPoolBuilder::new().num_threads(self.workers(jobs)).build();
        let workers = workers.map_err(std::io::Error::other)?;
        // What kind of program a server is, the plain runs tell.
        let (plain, tools): (Vec<_>, Vec<_>) = turns.iter().partition(|turn| turn.tool == Tool::Plain);
        for (looks, turns) in [(true, plain), (false, tools)] {
            // In the plan's order: what fails first is not tried again.
            workers.install(|| turns.into_iter().par_bridge().for_each(take));
            if looks && !self.bench.interrupt.is_requested() {
                self.say_what_can_be_counted(jobs, &runs);
            }
        }
        if self.bench.interrupt.is_requested() {
            return Ok(None);
        }
        let runs = runs.into_inner().expect("no holder of this lock panics");
        let counts = jobs.iter().zip(&runs).map(|(job, runs)| self.counts(job, runs));
        counts.collect::<Result<_, _>>().map(Some)
    }

    /// One line for each server, after the plain runs.
    fn say_what_can_be_counted(&self, jobs: &[Job], runs: &Mutex<Vec<Runs>>) {
        let runs = runs.lock().expect("no holder of this lock panics");
        let mut said = BTreeMap::new();
        for (job, runs) in jobs.iter().zip(runs.iter()) {
            if let Some(plain) = runs.plain() {
                said.entry(&job.series.server.name).or_insert(&plain.nature);
            }
        }
        for (server, nature) in said {
            (self.tell)(&match nature.uncountable() {
                Some(why) => format!("{server}: bytes and segments are counted; {why}"),
                None => format!("{server}: native code, so instructions and allocations are counted too"),
            });
        }
    }

    fn nothing_yet(&self) -> Runs {
        Runs {
            missing: Tool::ALL.into_iter().filter(|tool| !self.toolbox.has(*tool)).collect(),
            ..Runs::default()
        }
    }

    /// One more than there are cores, because every run waits for the clock for a part of its time; servers with a
    /// fixed port must follow each other.
    fn workers(&self, jobs: &[Job]) -> usize {
        let fixed = |job: &Job| job.side.server_of(job.series).port.is_some();
        if jobs.iter().any(fixed) {
            1
        } else {
            (self.bench.cores.available + 1).clamp(1, MOST_WORKERS)
        }
    }

    /// Every run in the order in which it is made. Under each tool one short and one long run give the slope, and a
    /// second short one its spread; all of them give the wire bytes. Under callgrind, a third length shows whether the
    /// cost stays the same, and further start layouts show what the heap's first blocks decide. Call stacks are kept
    /// once for each length. The baseline's second copy is counted once, at the first layout.
    fn turns(&self, jobs: &[Job]) -> Vec<Turn> {
        let mut turns = Vec::new();
        for (place, job) in jobs.iter().enumerate().filter(|(_, job)| job.broken.is_none()) {
            let Amount::Counted { few, many } = job.series.load.amount else {
                continue;
            };
            for tool in Tool::ALL.into_iter().filter(|tool| self.toolbox.has(*tool)) {
                let runs = match (tool, job.is_null()) {
                    (Tool::Plain, true) => vec![(few, 0)],
                    (Tool::Plain, false) => vec![(few, 0), (many, 0)],
                    (Tool::Strace | Tool::Dhat, true) => Vec::new(),
                    (Tool::Callgrind, true) => vec![(few, 0), (many, 0)],
                    (Tool::Strace | Tool::Dhat, false) => vec![(few, 0), (many, 0), (few, 0)],
                    (Tool::Callgrind, false) => {
                        let others = (1..LAYOUTS.len()).flat_map(|layout| [(few, layout), (many, layout)]);
                        let first = [(few, 0), (many, 0), (few, 0), (few.midpoint(many), 0)];
                        first.into_iter().chain(others).collect()
                    }
                };
                turns.extend(runs.into_iter().enumerate().map(|(number, (requests, layout))| Turn {
                    job: place,
                    tool,
                    requests,
                    layout,
                    stacks: number < 2 && !job.is_null(),
                    number,
                }));
            }
        }
        turns
    }

    /// Makes one server run, unless an earlier one showed that it would fail.
    fn take(&self, jobs: &[Job], turn: &Turn, runs: &Mutex<Vec<Runs>>) {
        let job = &jobs[turn.job];
        let lock = || runs.lock().expect("no holder of this lock panics");
        {
            let mut all = lock();
            let known = &all[turn.job];
            let in_vain = known
                .plain()
                .is_some_and(|plain| turn.tool != Tool::Plain && plain.nature.uncountable().is_some());
            if in_vain || known.failed.contains_key(&turn.tool) || known.failed.contains_key(&Tool::Plain) {
                return;
            }
            if let Some(failure) = failed_before(jobs, turn, &all) {
                all[turn.job].failed.insert(turn.tool, failure);
                return;
            }
        }
        let folder = self.folder.join(format!(
            "raw/{}/{}/{}-{}-{}",
            job.series.id,
            // One letter, because this path is in the tools' arguments too, and must have equal length.
            job.side.revision.variant.name().get(..1).unwrap_or_default(),
            turn.tool.name(),
            turn.requests,
            turn.number
        ));
        let began = Instant::now();
        let mut counted = self.make(job, turn, &folder);
        // On a busy machine a run sometimes fails. A second failure, or one after a long wait, is the program's.
        let again = began.elapsed() < WORTH_A_SECOND && counted.as_ref().is_err_and(|error| !error.is_interrupt());
        if again && fs::remove_dir_all(&folder).is_ok() {
            counted = self.make(job, turn, &folder);
        }
        let good = counted.is_ok();
        match counted {
            Ok(good) => lock()[turn.job].good.push(good),
            Err(error) if error.is_interrupt() => {}
            Err(error) => {
                let failure = Failure {
                    kind: error.kind(),
                    why: explained(turn.tool, &error.to_string()),
                };
                lock()[turn.job].failed.insert(turn.tool, failure);
            }
        }
        if good && !self.keep_raw {
            let _ = fs::remove_dir_all(&folder);
        }
    }

    fn make(&self, job: &Job, turn: &Turn, folder: &Path) -> Result<Good, TurnError> {
        let pass = Pass {
            series: job.series,
            side: job.side,
            tool: turn.tool,
            requests: turn.requests,
            layout: turn.layout,
            stacks: turn.stacks,
        };
        let mut seen = pass.make(self.bench, self.toolbox, self.jq, folder)?;
        for _ in 0..REPEATS {
            if !NEARLY_A_SECOND.contains(&seen.took) {
                break;
            }
            fs::remove_dir_all(folder).map_err(|error| PassError::unwritable(folder, error))?;
            seen = pass.make(self.bench, self.toolbox, self.jq, folder)?;
        }
        let files = written(turn.tool, folder);
        let nothing = || TurnError::Nothing(turn.tool.name());
        let wire = seen.wire;
        let tree = Tree::of(job.side.repository.as_deref()).or(Some(self.bench.root));
        // A server of several processes writes a file for each.
        let counted = match (turn.tool, seen.plain) {
            (Tool::Plain, plain) => Counted::Nothing(plain.ok_or_else(nothing)?),
            (Tool::Strace, _) if files.is_empty() => return Err(nothing()),
            (Tool::Strace, _) => {
                let mut calls = BTreeMap::new();
                for file in &files {
                    for (name, count) in strace::read(file)? {
                        *calls.entry(name).or_default() += count;
                    }
                }
                Counted::Syscalls(calls)
            }
            (Tool::Dhat, _) => {
                let all = files.iter().map(|file| dhat::read(file, &tree));
                Counted::Heap(sum(all, Allocated::absorb)?.ok_or_else(nothing)?)
            }
            (Tool::Callgrind, _) if !turn.stacks => {
                let all = files.iter().map(|file| callgrind::total(file));
                Counted::Total(sum(all, |sum, one| *sum += one)?.ok_or_else(nothing)?)
            }
            (Tool::Callgrind, _) => {
                let all = files.iter().map(|file| callgrind::read(file, &tree));
                Counted::Code(sum(all, Instructions::absorb)?.ok_or_else(nothing)?)
            }
        };
        Ok(Good {
            requests: turn.requests,
            layout: u32::try_from(turn.layout).unwrap_or(u32::MAX),
            wire,
            counted,
        })
    }

    fn counts(&self, job: &Job, runs: &Runs) -> std::io::Result<Counts> {
        let variant = job.side.revision.variant;
        if let Some(why) = &job.broken {
            return Ok(Counts::without(variant, CountStatus::Failed, why.clone()));
        }
        runs.counts(
            variant,
            self.spread_at_most,
            self.folder,
            &format!("counts/{}", job.series.id),
        )
    }
}

/// The sum over all processes of one run; `None` without processes.
fn sum<T>(
    all: impl Iterator<Item = Result<T, ProfileError>>,
    absorb: fn(&mut T, T),
) -> Result<Option<T>, ProfileError> {
    let mut found: Option<T> = None;
    for one in all {
        let one = one?;
        match &mut found {
            Some(found) => absorb(found, one),
            None => found = Some(one),
        }
    }
    Ok(found)
}
