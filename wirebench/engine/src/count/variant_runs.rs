//! Computes the counts of one variant of a counted series from its server runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use crate::count::figures;
use crate::count::profile::{FunctionSpending, PerRequest, RunCost, Stacks, dearest_lines, per_request};
use crate::count::program::{ServerProgram, is_under_callgrind};
use crate::count::relay::Wire;
use crate::count::server_run::PlainFacts;
use crate::count::tool::Tool;
use crate::count::tool::ToolOutput;
use crate::count::work::{FunctionCounts, FunctionPlace};
use wirebench_declare::runtime::Runtime;
use wirebench_record::counts::{
    BUSY_MACHINE, CountStatus, Counts, Figure, FunctionCost, FunctionWork, Point, Source, Work,
};
use wirebench_record::metric::Metric;
use wirebench_record::run::Variant;

/// Functions kept, of the project and of others each; further ones cost too little to matter.
const FUNCTIONS: usize = 400;

/// Fewer heap blocks than this over a whole server run are those of the C library alone.
const FEWEST_BLOCKS: u64 = 50;

/// Calls whose number depends on scheduling and memory: small differences are ignored.
const SCHEDULED: [&str; 16] = [
    "brk",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "futex",
    "madvise",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "poll",
    "ppoll",
    "pselect6",
    "restart_syscall",
    "sched_yield",
    "select",
];

/// Extracts call stacks and costs by line from a tool's result; `None` if the tool has none.
type CostOf = fn(&ToolOutput) -> Option<&RunCost>;

/// The cost of a request by call stack, and the most expensive line of each function.
type Costs = (PerRequest, HashMap<String, Source>);

/// A run that ended well.
#[derive(Debug)]
pub struct EndedRun {
    /// Its requests.
    pub requests: u64,
    /// Its start layout.
    pub layout: u32,
    /// The traffic with the driver.
    pub wire: Wire,
    /// What was counted.
    pub output: ToolOutput,
}

/// Why a tool's runs of a series failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// The reason, with advice if there is any.
    pub why: String,
}

/// The kind of a failure, which decides what is not tried any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The server did not get ready.
    NotReady,
    /// Skipped, because another run of the same server failed.
    NotTried,
    /// The program cannot be counted, because it closes connections. This is no fault of the program.
    Uncountable,
    /// Anything else.
    Other,
}

/// The results of all runs of one variant.
#[derive(Debug, Default)]
pub struct VariantRuns {
    /// Each run that ended well.
    pub ended: Vec<EndedRun>,
    /// Why the runs under a tool cannot be used.
    pub failed: BTreeMap<Tool, Failure>,
    /// Programs of tools that are missing on this machine.
    pub missing: Vec<&'static str>,
    /// The facts about a server that closes connections, so that only its runtime can count.
    pub closing: Option<Box<PlainFacts>>,
}

impl VariantRuns {
    /// The counts of a variant, with the largest spread of a figure, a share of it, and the machine's load if others keep it busy;
    /// `runtime` counted what functions do; call stacks are written to `folder` and named relative to `base`.
    ///
    /// # Errors
    /// When the stacks cannot be written.
    pub fn counts(
        &self,
        variant: Variant,
        (spread_at_most, busy): (f64, Option<&str>),
        runtime: Option<&Runtime>,
        base: &Path,
        folder: &str,
    ) -> std::io::Result<Counts> {
        if let Some(failure) = self.failed.get(&Tool::Plain) {
            let status = match failure.kind {
                FailureKind::Uncountable => CountStatus::Skipped,
                FailureKind::NotReady | FailureKind::NotTried | FailureKind::Other => CountStatus::Failed,
            };
            return Ok(Counts {
                work: runtime.and_then(|runtime| self.work(runtime)),
                ..Counts::without(variant, status, failure.why.clone())
            });
        }
        let mut counts = Counts::without(variant, CountStatus::Ok, String::new());
        counts.figures = self.figures(spread_at_most);
        let counted = counts.figures.iter_mut().filter(|figure| !figure.points.is_empty());
        for (why, load) in counted.filter_map(|figure| figure.refused.as_mut().zip(busy)) {
            *why = format!("{BUSY_MACHINE}: {load}; {why}");
        }
        counts.remarks = self.remarks(&counts.figures, runtime);
        counts.syscalls = self.syscalls();
        counts.work = runtime.and_then(|runtime| self.work(runtime));
        let calls = self.calls();
        for (metric, (costs, sources)) in self.costs() {
            if metric == Metric::Instructions {
                counts.callers = costs.callers(&counts.syscalls.keys().cloned().collect());
            }
            let calls = |function: &str| calls.get(function).copied().filter(|_| metric == Metric::Instructions);
            let function = |spending: FunctionSpending| FunctionCost {
                calls: calls(&spending.function),
                source: sources.get(&spending.function).cloned(),
                function: spending.function,
                metric,
                cost: spending.own,
                inclusive: Some(spending.inclusive).filter(|_| !is_under_callgrind(runtime)),
                blamed: spending.blamed,
            };
            counts
                .functions
                .extend(costs.functions(FUNCTIONS).into_iter().map(function));
            let file = format!("{folder}/{}.{}.folded", variant.name(), metric.name());
            fs::create_dir_all(base.join(folder))?;
            let folded = if is_under_callgrind(runtime) {
                costs.folded_by_package()
            } else {
                costs.folded()
            };
            fs::write(base.join(&file), folded)?;
            counts.stacks.insert(metric, file);
        }
        (counts.status, counts.reason) = self.status(&counts.figures);
        Ok(counts)
    }

    fn figures(&self, spread_at_most: f64) -> Vec<Figure> {
        let slope = |metric, of: &dyn Fn(&EndedRun) -> Option<u64>| {
            let points: Vec<Point> = self.points(of);
            let mut tools = tools_of(metric).iter();
            // What Go allocates depends a little on timing: the figure has its real spread, and no bound refuses it.
            let is_bounded = metric != Metric::Allocations || self.ended.iter().any(|run| run.output.heap.is_some());
            let spread_at_most = if is_bounded { spread_at_most } else { f64::INFINITY };
            match tools.find_map(|tool| Some((tool, self.failed.get(tool)?))) {
                Some((tool, failure)) => Some(figures::refused(
                    metric,
                    format!("under {}: {}", tool.name(), failure.why),
                )),
                None if points.is_empty() => None,
                None => Some(figures::slope(metric, points, spread_at_most)),
            }
        };
        let bytes = |run: &EndedRun| run.output.heap.as_ref().map(|heap| heap.bytes.total);
        let code = |run: &EndedRun| {
            let under_callgrind = run.output.totals.map(|totals| totals.instructions);
            under_callgrind.or(run.output.counter)
        };
        let blocks = |run: &EndedRun| {
            let heap = run.output.heap.as_ref().map(|heap| heap.blocks.total);
            heap.or_else(|| run.output.totals?.allocations)
        };
        let calls = |run: &EndedRun| Some(run.output.syscalls.as_ref()?.values().sum());
        let instructions = slope(Metric::Instructions, &code);
        let start_up = instructions
            .as_ref()
            .and_then(|slope| figures::intercept(Metric::StartUpInstructions, slope));
        let plain = self.plain();
        let program = plain.and_then(|plain| program_bytes(&plain.program));
        let sent = self.traffic(Metric::WireBytesSent, |wire| Some(wire.sent));
        // The length of a few responses says nothing of others where the bytes of many vary.
        let answered = plain.and_then(|plain| plain.payload_bytes);
        let answered = answered.filter(|_| sent.as_ref().is_none_or(figures::repeats));
        let figures = [
            instructions,
            slope(Metric::Allocations, &blocks).filter(|_| !self.has_own_allocator()),
            slope(Metric::AllocatedBytes, &bytes).filter(|_| !self.has_own_allocator()),
            slope(Metric::Syscalls, &calls),
            sent,
            self.traffic(Metric::WireBytesReceived, |wire| Some(wire.received)),
            self.traffic(Metric::SegmentsSent, |wire| wire.segments_sent),
            answered.map(|length| figures::known(Metric::PayloadBytes, length)),
            program.map(|bytes| figures::known(Metric::BinaryBytes, bytes)),
            start_up,
        ];
        figures.into_iter().flatten().collect()
    }

    /// A figure of the traffic. Every run repeats it, at every start layout and under every tool, so that its spread is known
    /// and no bound refuses it; responses of varying length give a wide one.
    fn traffic(&self, metric: Metric, of: fn(&Wire) -> Option<u64>) -> Option<Figure> {
        let mut points = self.points(&|run| of(&run.wire).filter(|_| run.output.work.is_none()));
        points.iter_mut().for_each(|point| point.layout = 0);
        (!points.is_empty()).then(|| figures::slope(metric, points, f64::INFINITY))
    }

    fn remarks(&self, figures: &[Figure], runtime: Option<&Runtime>) -> Vec<String> {
        let by_processor = self.ended.iter().any(|run| run.output.counter.is_some());
        let remarks = self.plain().map(|plain| plain.program.remarks(runtime, by_processor));
        let mut remarks = remarks.unwrap_or_default();
        if let Some(failure) = self.failed.get(&Tool::Runtime) {
            remarks.push(format!("what functions do is not counted: {}", failure.why));
        }
        let code = self.ended.iter().find_map(|run| run.output.code.as_ref());
        remarks.extend(code.into_iter().flat_map(|code| code.remarks.clone()));
        let instructions = figures.iter().find(|figure| figure.metric == Metric::Instructions);
        if let Some(dearer) = instructions.and_then(|figure| figures::curvature(&figure.points)) {
            remarks.push(format!(
                "a request costs {:+.0} % instructions in the second half of a run: work in the background, or data that grows",
                dearer * 100.0
            ));
        }
        if self.has_own_allocator() {
            remarks.push(
                "allocations are not counted: the program hardly ever calls malloc, so it has an allocator of its own"
                    .into(),
            );
        }
        let mut in_lock_step = self.ended.iter().filter(|run| run.output.work.is_none());
        if in_lock_step.any(|run| run.wire.unsettled * 10 > run.wire.exchanges) {
            remarks.push("server or driver never rest between requests: counts vary with their timing".into());
        }
        remarks
    }

    /// System calls per request by name, without those whose number does not depend on requests. A call that every longer run
    /// makes more often is kept even if it is rare: a call that blocks in few requests does not change the total.
    fn syscalls(&self) -> BTreeMap<String, f64> {
        let per_request = |(name, points): (&String, Vec<Point>)| {
            let is_scheduled = SCHEDULED.contains(&name.as_str());
            let rare = figures::rare(&points).filter(|_| !is_scheduled);
            let value = figures::slope(Metric::Syscalls, points, f64::INFINITY).value?;
            let value = if value > 0.0 { value } else { rare? };
            Some((name.clone(), value))
        };
        let points = self.points_by_name(|output| output.syscalls.as_ref());
        points.filter_map(per_request).collect()
    }

    /// Calls per request of each of the project's functions.
    fn calls(&self) -> BTreeMap<String, f64> {
        let per_request = |(name, points): (&String, Vec<Point>)| {
            let value = figures::slope(Metric::Syscalls, points, f64::INFINITY).value?;
            (value > 0.0).then(|| (name.clone(), value))
        };
        let points = self.points_by_name(|output| Some(&output.code.as_ref()?.calls));
        points.filter_map(per_request).collect()
    }

    /// What each of the project's functions does per request; `None` if nothing was counted.
    fn work(&self, runtime: &Runtime) -> Option<Work> {
        let per_request = |of: fn(&FunctionCounts) -> &BTreeMap<FunctionPlace, u64>, place: &FunctionPlace| {
            let total = |run: &EndedRun| Some(of(run.output.work.as_ref()?).get(place).copied().unwrap_or(0));
            figures::slope(Metric::Syscalls, self.points(&total), f64::INFINITY)
        };
        let counted = || self.ended.iter().filter_map(|run| run.output.work.as_ref());
        let places: BTreeSet<&FunctionPlace> = counted().flat_map(|counts| counts.units.keys()).collect();
        let function = |place: &FunctionPlace| {
            let figure = per_request(|counts| &counts.units, place);
            let (file, line, name) = place.clone();
            let body = counted().find_map(|counts| counts.bodies.get(place).cloned());
            let last_line = body.as_ref().map(|body| body.last_line);
            Some(FunctionWork {
                function: name,
                source: Source { file, line, last_line },
                count: figure.value.filter(|count| *count > 0.0)?,
                spread: figure.spread?,
                calls: per_request(|counts| &counts.calls, place).value.unwrap_or(0.0),
                text: body.map(|body| body.text),
            })
        };
        let mut functions: Vec<FunctionWork> = places.iter().filter_map(|place| function(place)).collect();
        functions.sort_by(|one, other| other.count.total_cmp(&one.count));
        functions.truncate(FUNCTIONS);
        (!places.is_empty()).then(|| Work {
            unit: runtime.unit.clone(),
            call: f64::from(runtime.call),
            functions,
        })
    }

    /// Costs per request by call stack, of every metric that has call stacks.
    fn costs(&self) -> Vec<(Metric, Costs)> {
        let costs: [(Metric, CostOf); 4] = [
            (Metric::Instructions, |output| Some(&output.code.as_ref()?.cost)),
            (Metric::Allocations, |output| Some(&output.heap.as_ref()?.blocks)),
            (Metric::Allocations, |output| output.code.as_ref()?.allocations.as_ref()),
            (Metric::AllocatedBytes, |output| Some(&output.heap.as_ref()?.bytes)),
        ];
        let ends = self.ended.iter().map(|run| run.requests);
        let (Some(few), Some(many)) = (ends.clone().min(), ends.max()) else {
            return Vec::new();
        };
        let costs = costs.into_iter().filter_map(|(metric, of)| {
            let at = |wanted: u64| -> Vec<&RunCost> {
                let same = self.ended.iter().filter(|run| run.requests == wanted);
                same.filter_map(|run| of(&run.output)).collect()
            };
            let (short, long) = (at(few), at(many));
            let stacks: [Vec<&Stacks>; 2] = [&short, &long].map(|runs| runs.iter().map(|run| &run.stacks).collect());
            let both = !short.is_empty() && !long.is_empty() && many > few;
            both.then(|| {
                let costs = per_request(&stacks[0], &stacks[1], many - few);
                (metric, (costs, dearest_lines(&short, &long)))
            })
        });
        costs.collect()
    }

    /// True if the program has an allocator of its own, so that DHAT sees none of its allocations.
    fn has_own_allocator(&self) -> bool {
        let own = self.plain().is_some_and(|plain| plain.program.own_allocator);
        let heaps = self.ended.iter().filter_map(|run| run.output.heap.as_ref());
        let blocks = heaps.map(|heap| heap.blocks.total);
        own && blocks.max().is_some_and(|most| most < FEWEST_BLOCKS)
    }

    fn status(&self, figures: &[Figure]) -> (CountStatus, Option<String>) {
        let mut why: Vec<String> = Vec::new();
        if !self.missing.is_empty() {
            why.push(format!("without {}", self.missing.join(" and ")));
        }
        let refused = figures.iter().filter_map(|figure| {
            let reason = figure.refused.as_ref()?;
            Some(format!("{}: {reason}", figure.metric.label()))
        });
        why.extend(refused);
        if why.is_empty() {
            (CountStatus::Ok, None)
        } else {
            (CountStatus::Partial, Some(why.join("; ")))
        }
    }

    fn points(&self, of: &dyn Fn(&EndedRun) -> Option<u64>) -> Vec<Point> {
        let point = |run: &EndedRun| {
            Some(Point {
                requests: run.requests,
                layout: run.layout,
                total: of(run)?,
            })
        };
        self.ended.iter().filter_map(point).collect()
    }

    /// The points of each name that occurs in an output; 0 in outputs without it.
    fn points_by_name(
        &self,
        of: fn(&ToolOutput) -> Option<&BTreeMap<String, u64>>,
    ) -> impl Iterator<Item = (&String, Vec<Point>)> {
        let outputs = self.ended.iter().filter_map(move |run| of(&run.output));
        let names: BTreeSet<&String> = outputs.flat_map(BTreeMap::keys).collect();
        names.into_iter().map(move |name| {
            let total = |run: &EndedRun| Some(of(&run.output)?.get(name).copied().unwrap_or(0));
            (name, self.points(&total))
        })
    }

    /// The facts about the server, of whatever plain run.
    pub fn facts(&self) -> Option<&PlainFacts> {
        self.plain().or(self.closing.as_deref())
    }

    /// The result of a plain run, if there was one.
    pub fn plain(&self) -> Option<&PlainFacts> {
        self.ended.iter().find_map(|run| run.output.plain.as_ref())
    }
}

/// The tools in whose runs a metric is counted.
const fn tools_of(metric: Metric) -> &'static [Tool] {
    match metric {
        Metric::Instructions => &[Tool::Callgrind, Tool::PerfStat],
        Metric::Allocations | Metric::AllocatedBytes => &[Tool::Dhat],
        Metric::Syscalls => &[Tool::Strace],
        _ => &[Tool::Plain],
    }
}

/// The size of a server's program file; `None` for an interpreter.
fn program_bytes(program: &ServerProgram) -> Option<u64> {
    let file = program.file.as_ref().filter(|_| program.interpreter.is_none())?;
    fs::metadata(file).ok().map(|file| file.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::profile::callgrind::Totals;

    /// A run under callgrind of a program whose allocations callgrind sees.
    fn under_callgrind(requests: u64, count: u64) -> EndedRun {
        let totals = Totals {
            instructions: count * 1_000,
            allocations: Some(count),
        };
        EndedRun {
            requests,
            layout: 0,
            wire: Wire::default(),
            output: ToolOutput {
                totals: Some(totals),
                ..ToolOutput::default()
            },
        }
    }

    #[test]
    fn allocations_that_callgrind_counts_have_their_spread_where_instructions_are_refused() {
        let counts = [(20, 5_000), (120, 9_100), (20, 5_000), (120, 9_160)];
        let runs = VariantRuns {
            ended: counts.map(|(requests, count)| under_callgrind(requests, count)).into(),
            ..VariantRuns::default()
        };
        let figures = runs.figures(0.005);
        let figure = |metric| figures.iter().find(|figure| figure.metric == metric).unwrap();
        assert!(figure(Metric::Instructions).refused.is_some());
        let allocations = figure(Metric::Allocations);
        assert_eq!((allocations.value, &allocations.refused), (Some(41.3), &None));
        assert!(allocations.spread.unwrap() >= 0.3);
    }
}
