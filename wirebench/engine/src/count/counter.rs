//! Makes all runs that counting needs, several at once: counts do not depend on how busy the machine is.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use crate::count::busy;
use crate::count::profile::Tree;
use crate::count::program::{ServerProgram, is_under_callgrind};
use crate::count::server_run::{ServerRun, ServerRunError};
use crate::count::tool::{Tool, Toolbox, written};
use crate::count::tool::{ToolOutput, no_counts};
use crate::count::variant_runs::{EndedRun, Failure, FailureKind, VariantRuns};
use crate::count::work;
use crate::measure::error::{MeasureError, unwritable};
use crate::measure::side::Side;
use crate::measure::slot::Harness;
use crate::measure::staging::LAYOUTS;
use crate::normalise::Jq;
use rayon::ThreadPoolBuilder;
use rayon::prelude::{ParallelBridge as _, ParallelIterator as _};
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::runtime::Runtime;
use wirebench_declare::scenario::Amount;
use wirebench_record::counts::{CountStatus, Counts};
use wirebench_record::run::Variant;

/// The most runs at once: more gain little, and valgrind takes memory.
const MOST_WORKERS: usize = 8;

/// A load that took this long did not fit into one second of the wall clock because the machine was busy. It might fit if it
/// is repeated.
const LITTLE_OVER_A_SECOND: Range<Duration> = Duration::from_secs(1)..Duration::from_millis(1_700);
/// How often such a run is repeated.
const REPEATS: usize = 2;

/// Further short and long runs of a server of which only wire bytes are counted: no tool's runs repeat them.
const MORE_PLAIN: usize = 3;
/// The number of a variant's first plain runs.
const FIRST_PLAIN: usize = 2;

/// A server run that failed sooner than this is repeated once.
const REPEAT_BEFORE: Duration = Duration::from_secs(30);

/// One variant of a counted series.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The series.
    pub series: &'a PlannedSeries<'a>,
    /// The side whose server runs.
    pub side: &'a Side,
    /// Why it cannot be counted, if that is known before.
    pub broken: Option<String>,
}

/// What all server runs have in common.
#[derive(Clone, Copy)]
pub struct Counter<'a> {
    /// The project and its drivers.
    pub bench: &'a Harness<'a>,
    /// The tools under which servers run.
    pub toolbox: &'a Toolbox,
    /// Reads the output of drivers.
    pub jq: &'a Jq,
    /// The run's folder; call stacks stay there.
    pub folder: &'a Path,
    /// Whether the output of tools and drivers is kept.
    pub keep_raw: bool,
    /// The largest spread, as a share, with which a figure is given.
    pub spread_at_most: f64,
}

/// A server run that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// Server runs that have ended, this one included.
    pub done: usize,
    /// All server runs.
    pub all: usize,
    /// Index of its job.
    pub job: usize,
    /// Whether all runs of its job have ended.
    pub is_last_of_job: bool,
}

/// One server run that is to be made.
#[derive(Debug, Clone, Copy)]
struct PlannedRun<'a> {
    /// Index of its job.
    job: usize,
    /// Its number among the runs of its job under its tool.
    number: usize,
    run: ServerRun<'a>,
}

impl PlannedRun<'_> {
    fn is_first_plain(&self) -> bool {
        self.run.tool == Tool::Plain && self.number < FIRST_PLAIN
    }
}

/// What kind of failure an error is.
const fn kind(error: &ServerRunError) -> FailureKind {
    match error {
        ServerRunError::Measure(MeasureError::NotReady(_)) => FailureKind::NotReady,
        ServerRunError::Connections { .. } => FailureKind::Uncountable,
        ServerRunError::Measure(_) => FailureKind::Other,
    }
}

const fn is_interrupt(error: &ServerRunError) -> bool {
    matches!(error, ServerRunError::Measure(MeasureError::Interrupted))
}

impl Job<'_> {
    /// Whether it is the baseline's second copy.
    fn is_null(&self) -> bool {
        self.side.revision.variant == Variant::Null
    }
}

/// Why a run under valgrind is skipped: another run of the same server, of any variant and operation, failed under it.
/// A figure that one side lacks cannot be compared, so the failure is found once.
fn failed_before(jobs: &[Job], run: &ServerRun, runs: &[VariantRuns]) -> Option<Failure> {
    let server = &run.series.server.name;
    let others = jobs
        .iter()
        .zip(runs)
        .filter(|(job, _)| (run.tool.is_valgrind() || run.tool == Tool::Runtime) && job.series.server.name == *server);
    let mut failed = others.flat_map(|(_, runs)| &runs.failed);
    // A server that does not get ready under one of valgrind's tools will not under the others.
    let would_fail = |tool: Tool, kind| tool == run.tool || (tool.is_valgrind() && kind == FailureKind::NotReady);
    let (tool, failure) = failed.find(|(tool, failure)| would_fail(**tool, failure.kind))?;
    if failure.kind == FailureKind::NotTried {
        return Some(failure.clone());
    }
    let why = match *tool == run.tool {
        // One sentence for both sides.
        true => failure.why.clone(),
        false => format!("not tried, as {} failed on this server: {}", tool.name(), failure.why),
    };
    Some(Failure {
        kind: FailureKind::NotTried,
        why,
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
    /// Counts every job; returns `None` if the user interrupted. `say` is called after each server run.
    ///
    /// # Errors
    /// When the run's folder cannot be written.
    pub fn count(&self, jobs: &[Job], say: &(dyn Fn(Counted) + Sync)) -> std::io::Result<Option<Vec<Counts>>> {
        let planned = self.planned(jobs);
        let no_runs = || VariantRuns {
            missing: self.toolbox.missing().into_iter().map(|(program, _)| program).collect(),
            ..VariantRuns::default()
        };
        let runs = Mutex::new(jobs.iter().map(|_| no_runs()).collect::<Vec<_>>());
        let alone = RwLock::new(());
        let done = AtomicUsize::new(0);
        let left: Vec<AtomicUsize> = jobs.iter().map(|_| AtomicUsize::new(0)).collect();
        for one in &planned {
            left[one.job].fetch_add(1, Ordering::Relaxed);
        }
        let make = |one: &PlannedRun| {
            if !self.bench.interrupt.is_requested() {
                self.make_planned(jobs, one, &runs, &alone);
            }
            say(Counted {
                done: done.fetch_add(1, Ordering::Relaxed) + 1,
                all: planned.len(),
                job: one.job,
                is_last_of_job: left[one.job].fetch_sub(1, Ordering::Relaxed) == 1,
            });
        };
        // Threads and programs that are started from here on inherit it.
        let _preferred = busy::Preferred::new();
        let workers = ThreadPoolBuilder::new().num_threads(self.workers(jobs)).build();
        let workers = workers.map_err(std::io::Error::other)?;
        // The first plain runs find out what kind of program a server is.
        let (plain, under_tools): (Vec<_>, Vec<_>) = planned.iter().partition(|one| one.is_first_plain());
        for (is_plain, planned) in [(true, plain), (false, under_tools)] {
            // In the plan's order, so that a failure is known before similar runs.
            workers.install(|| planned.into_iter().par_bridge().for_each(make));
            if is_plain && !self.bench.interrupt.is_requested() {
                self.tell_what_can_be_counted(jobs, &runs);
            }
        }
        if self.bench.interrupt.is_requested() {
            return Ok(None);
        }
        let runs = runs.into_inner().expect("no holder of this lock panics");
        let busy = self.busy(jobs);
        let counts = jobs
            .iter()
            .zip(&runs)
            .map(|(job, runs)| self.counts(job, runs, busy.as_deref()));
        counts.collect::<Result<_, _>>().map(Some)
    }

    /// Tells one line for each server, after the plain runs.
    fn tell_what_can_be_counted(&self, jobs: &[Job], runs: &Mutex<Vec<VariantRuns>>) {
        let runs = runs.lock().expect("no holder of this lock panics");
        let mut programs = BTreeMap::new();
        for (job, runs) in jobs.iter().zip(runs.iter()) {
            if let Some(plain) = runs.plain() {
                programs.entry(&job.series.server.name).or_insert(&plain.program);
            }
        }
        for (server, program) in programs {
            let runtime = self.runtime_of(program);
            let without = self.toolbox.without_counter.as_deref();
            let counted = match (program.uncountable(runtime, without.is_none()), runtime) {
                (Some(why), runtime) if is_under_callgrind(runtime) => {
                    format!("instructions by function, allocations, bytes and segments are counted; {why}")
                }
                (Some(why), runtime) => {
                    let figures = runtime.map_or_else(
                        || "bytes and segments".to_owned(),
                        |runtime| format!("bytes, segments and {}s by function", runtime.unit),
                    );
                    match without {
                        None => format!("instructions, {figures} are counted; {why}"),
                        Some(without) => {
                            let counter = "of its instructions the processor has no usable counter here";
                            format!("{figures} are counted; {why}; {counter}: {without}")
                        }
                    }
                }
                (None, _) => "native code, so instructions and allocations are counted too".into(),
            };
            log::info!("{server}: {counted}");
        }
    }

    /// The load of the machine if other programs keep it busy, such as `load 20 on 2 cores`.
    pub fn busy(&self, jobs: &[Job]) -> Option<String> {
        busy::other_load(self.workers(jobs), self.bench.cores.available)
    }

    /// The runtime that can count what the functions of a program do.
    fn runtime_of(&self, program: &ServerProgram) -> Option<&Runtime> {
        let runs = |runtime: &&Runtime| runtime.programs.iter().any(|name| program.names.contains(name));
        self.bench.runtimes.iter().find(runs)
    }

    /// One more than there are cores, because every run waits for the clock for a part of its time; servers with a
    /// fixed port must follow each other.
    fn workers(&self, jobs: &[Job]) -> usize {
        let fixed = |job: &Job| job.side.server_of(job.series).front.port.is_some();
        if jobs.iter().any(fixed) {
            1
        } else {
            (self.bench.cores.available + 1).clamp(1, MOST_WORKERS)
        }
    }

    /// Every run in the order in which it is made. Under each tool two short and two long runs give the slope and its
    /// spread; all of them give the wire bytes. Under callgrind, a third length shows whether the
    /// cost stays the same, and further start layouts show the effect of the heap's first blocks. Call stacks are kept
    /// once for each length. The baseline's second copy is counted once, at the first layout.
    fn planned<'a>(&self, jobs: &'a [Job<'a>]) -> Vec<PlannedRun<'a>> {
        let mut planned = Vec::new();
        for (place, job) in jobs.iter().enumerate().filter(|(_, job)| job.broken.is_none()) {
            let Amount::Counted { few, many } = job.series.load.amount else {
                continue;
            };
            for tool in Tool::ALL.into_iter().filter(|tool| self.toolbox.has(*tool)) {
                let runs = match (tool, job.is_null()) {
                    (Tool::Plain, true) => vec![(few, 0)],
                    (Tool::Plain, false) => [(few, 0), (many, 0)].repeat(1 + MORE_PLAIN),
                    (Tool::Runtime | Tool::Strace | Tool::Dhat, true) => Vec::new(),
                    (Tool::PerfStat | Tool::Callgrind, true) => vec![(few, 0), (many, 0)],
                    (Tool::Runtime | Tool::PerfStat | Tool::Strace | Tool::Dhat, false) => {
                        [(few, 0), (many, 0)].repeat(2)
                    }
                    (Tool::Callgrind, false) => {
                        let others = (1..LAYOUTS.len()).flat_map(|layout| [(few, layout), (many, layout)]);
                        let first = [(few, 0), (many, 0), (few, 0), (many, 0), (few.midpoint(many), 0)];
                        first.into_iter().chain(others).collect()
                    }
                };
                planned.extend(
                    runs.into_iter()
                        .enumerate()
                        .map(|(number, (requests, layout))| PlannedRun {
                            job: place,
                            number,
                            run: ServerRun {
                                series: job.series,
                                side: job.side,
                                tool,
                                runtime: None,
                                requests,
                                layout,
                                stacks: number < 2 && !job.is_null(),
                            },
                        }),
                );
            }
        }
        planned
    }

    /// Makes one server run, unless an earlier one showed that it would fail.
    fn make_planned(&self, jobs: &[Job], planned: &PlannedRun, runs: &Mutex<Vec<VariantRuns>>, alone: &RwLock<()>) {
        let PlannedRun { job, number, mut run } = *planned;
        let lock = || runs.lock().expect("no holder of this lock panics");
        {
            let mut all = lock();
            let known = &all[job];
            // Tools repeat the wire bytes of what they can count, further plain runs those of the rest.
            let is_needless = known.facts().is_some_and(|plain| {
                let runtime = self.runtime_of(&plain.program);
                let is_uncountable = plain.program.varies().is_some();
                let is_under_callgrind = is_under_callgrind(runtime);
                let tool = if is_under_callgrind {
                    Tool::Callgrind
                } else {
                    Tool::Runtime
                };
                run.runtime = runtime.filter(|_| run.tool == tool);
                if is_under_callgrind {
                    // Its memory does not depend on the layout: further repetitions tell more.
                    run.layout = 0;
                }
                match run.tool {
                    Tool::Plain => !planned.is_first_plain() && (!is_uncountable || is_under_callgrind),
                    Tool::Runtime => run.runtime.is_none(),
                    Tool::PerfStat => !is_uncountable || is_under_callgrind,
                    Tool::Strace | Tool::Dhat | Tool::Callgrind => is_uncountable && run.runtime.is_none(),
                }
            });
            let is_plain_needed = run.tool != Tool::Runtime && known.failed.contains_key(&Tool::Plain);
            if is_needless || known.failed.contains_key(&run.tool) || is_plain_needed {
                return;
            }
            if let Some(failure) = failed_before(jobs, &run, &all) {
                all[job].failed.insert(run.tool, failure);
                return;
            }
        }
        let folder = self.folder.join(format!(
            "raw/{}/{}/{}-{}-{}",
            run.series.id,
            // One letter, because this path is in the tools' arguments too, and must have equal length.
            run.side.revision.variant.name().get(..1).unwrap_or_default(),
            run.tool.name(),
            run.requests,
            number
        ));
        let beside_others = alone.read().expect("no holder of this lock panics");
        let began = Instant::now();
        let mut ended = self.make(&run, &folder);
        drop(beside_others);
        // On a busy machine a run sometimes fails, and beside others a server whose second port is fixed. A failure alone, or one
        // after a long wait, is the program's.
        let again = began.elapsed() < REPEAT_BEFORE && ended.as_ref().is_err_and(|error| !is_interrupt(error));
        if again && fs::remove_dir_all(&folder).is_ok() {
            let _alone = alone.write().expect("no holder of this lock panics");
            ended = self.make(&run, &folder);
        }
        let is_ok = ended.is_ok();
        match ended {
            Ok(run) => lock()[job].ended.push(run),
            Err(error) if is_interrupt(&error) => {}
            Err(error) => {
                let failure = Failure {
                    kind: kind(&error),
                    why: explained(run.tool, &error.to_string()),
                };
                let mut all = lock();
                if let ServerRunError::Connections { plain, .. } = error {
                    all[job].closing = plain;
                }
                all[job].failed.insert(run.tool, failure);
            }
        }
        if is_ok && !self.keep_raw {
            let _ = fs::remove_dir_all(&folder);
        }
    }

    fn make(&self, run: &ServerRun, folder: &Path) -> Result<EndedRun, ServerRunError> {
        let (mut ended, mut took) = run.make(self.bench, self.toolbox, self.jq, folder)?;
        for _ in 0..REPEATS {
            if !LITTLE_OVER_A_SECOND.contains(&took) {
                break;
            }
            fs::remove_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
            (ended, took) = run.make(self.bench, self.toolbox, self.jq, folder)?;
        }
        if ended.output.plain.is_none() {
            let tree = Tree::of(run.side.repository.as_deref()).or(Some(self.bench.root));
            if let Some(runtime) = run.runtime.filter(|_| run.tool == Tool::Runtime) {
                let work = work::read(runtime, self.jq, folder, &tree)?;
                ended.output.work = Some(work.ok_or_else(|| no_counts(run.tool))?);
            } else {
                let callgrind = run.runtime.and_then(|runtime| runtime.callgrind.as_ref());
                ended.output = ToolOutput::read(run.tool, run.stacks, &written(run.tool, folder), &tree, callgrind)?;
            }
        }
        Ok(ended)
    }

    fn counts(&self, job: &Job, runs: &VariantRuns, busy: Option<&str>) -> std::io::Result<Counts> {
        let variant = job.side.revision.variant;
        if let Some(why) = &job.broken {
            return Ok(Counts::without(variant, CountStatus::Failed, why.clone()));
        }
        let runtime = runs.facts().and_then(|plain| self.runtime_of(&plain.program));
        runs.counts(
            variant,
            (self.spread_at_most, busy),
            runtime,
            self.folder,
            &format!("counts/{}", job.series.id),
        )
    }
}
