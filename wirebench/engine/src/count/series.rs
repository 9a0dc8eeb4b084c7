//! Computes the counts of one variant of a counted series from its server runs.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use crate::count::figures;
use crate::count::nature::Nature;
use crate::count::pass::Plain;
use crate::count::profile::callgrind::Instructions;
use crate::count::profile::dhat::Allocated;
use crate::count::profile::{Caller, Lines, PerRequest, Spent, Stacks, lines, per_request};
use crate::count::tool::Tool;
use crate::count::wire::Wire;
use wirebench_record::counts::{CallerCost, CountStatus, Counts, Figure, FunctionCost, Point, Source};
use wirebench_record::metric::Metric;
use wirebench_record::run::Variant;

/// Functions kept of each kind; further ones cost too little to matter.
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
type StacksOf = fn(&Counted) -> Option<(&Stacks, &Lines)>;

/// The cost of a request by call stack, and the most expensive line of each function.
type Costs = (PerRequest, HashMap<String, Source>);

/// A run that ended well.
#[derive(Debug)]
pub struct Good {
    /// Its requests.
    pub requests: u64,
    /// Its start layout.
    pub layout: u32,
    /// What the relay saw.
    pub wire: Wire,
    /// What the tool counted.
    pub counted: Counted,
}

/// What a tool counted in one run.
#[derive(Debug)]
pub enum Counted {
    /// A plain run: facts about the server.
    Nothing(Plain),
    /// System calls by name.
    Syscalls(BTreeMap<String, u64>),
    /// Heap allocations.
    Heap(Allocated),
    /// Instructions, by call stack.
    Code(Instructions),
    /// Instructions of the whole run, without call stacks.
    Total(u64),
}

/// Why a tool's runs of a series failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// In words, with advice if there is any.
    pub why: String,
}

/// The kind of a failure, by which it is decided what is not tried any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The server did not get ready.
    NotReady,
    /// Skipped, because another run of the same server failed.
    NotTried,
    /// The program is none that can be counted: it closes connections. Nothing is wrong with it.
    Uncountable,
    /// Anything else.
    Other,
}

/// The results of all runs of one variant.
#[derive(Debug, Default)]
pub struct Runs {
    /// Each run that ended well.
    pub good: Vec<Good>,
    /// Why the runs under a tool cannot be used.
    pub failed: BTreeMap<Tool, Failure>,
    /// Tools that this machine lacks.
    pub missing: Vec<Tool>,
}

impl Runs {
    /// The counts of a variant; call stacks are written to `folder` and named relative to `base`.
    ///
    /// # Errors
    /// When the stacks cannot be written.
    pub fn counts(&self, variant: Variant, spread_at_most: f64, base: &Path, folder: &str) -> std::io::Result<Counts> {
        if let Some(failure) = self.failed.get(&Tool::Plain) {
            let status = match failure.kind {
                FailureKind::Uncountable => CountStatus::Skipped,
                FailureKind::NotReady | FailureKind::NotTried | FailureKind::Other => CountStatus::Failed,
            };
            return Ok(Counts::without(variant, status, failure.why.clone()));
        }
        let mut counts = Counts::without(variant, CountStatus::Ok, String::new());
        counts.figures = self.figures(spread_at_most);
        counts.remarks = self.remarks(&counts.figures);
        counts.syscalls = self.syscalls();
        let calls = self.calls();
        for (metric, (costs, sources)) in self.costs() {
            if metric == Metric::Instructions {
                counts.callers = callers(&costs, &counts.syscalls);
            }
            let calls = |function: &str| calls.get(function).copied().filter(|_| metric == Metric::Instructions);
            let function = |spent: Spent| FunctionCost {
                calls: calls(&spent.function),
                source: sources.get(&spent.function).cloned(),
                function: spent.function,
                metric,
                cost: spent.own,
                inclusive: Some(spent.inclusive),
                blamed: spent.blamed,
            };
            counts
                .functions
                .extend(costs.functions(FUNCTIONS).into_iter().map(function));
            let file = format!("{folder}/{}.{}.folded", variant.name(), metric.name());
            fs::create_dir_all(base.join(folder))?;
            fs::write(base.join(&file), costs.folded())?;
            counts.stacks.insert(metric, file);
        }
        (counts.status, counts.reason) = self.status(&counts.figures);
        Ok(counts)
    }

    fn figures(&self, spread_at_most: f64) -> Vec<Figure> {
        let slope = |metric, of: &dyn Fn(&Good) -> Option<u64>| {
            let points: Vec<Point> = self.points(of);
            let under = tool_of(metric);
            match self.failed.get(&under) {
                Some(failure) => Some(figures::refused(
                    metric,
                    format!("under {}: {}", under.name(), failure.why),
                )),
                None if points.is_empty() => None,
                None => Some(figures::slope(metric, points, spread_at_most)),
            }
        };
        let wire = |of: fn(&Wire) -> Option<u64>| move |run: &Good| of(&run.wire);
        let heap = |of: fn(&Allocated) -> u64| {
            move |run: &Good| match &run.counted {
                Counted::Heap(heap) => Some(of(heap)),
                _ => None,
            }
        };
        let code = |run: &Good| match &run.counted {
            Counted::Code(code) => Some(code.total),
            Counted::Total(total) => Some(*total),
            _ => None,
        };
        let calls = |run: &Good| match &run.counted {
            Counted::Syscalls(calls) => Some(calls.values().sum()),
            _ => None,
        };
        let instructions = slope(Metric::Instructions, &code);
        let start_up = instructions
            .as_ref()
            .and_then(|slope| figures::intercept(Metric::StartUpInstructions, slope));
        let plain = self.plain();
        let program = plain.and_then(|plain| program_bytes(&plain.nature));
        let found = [
            instructions,
            slope(Metric::Allocations, &heap(|heap| heap.blocks)).filter(|_| !self.has_own_allocator()),
            slope(Metric::AllocatedBytes, &heap(|heap| heap.bytes)).filter(|_| !self.has_own_allocator()),
            slope(Metric::Syscalls, &calls),
            slope(Metric::WireBytesSent, &wire(|wire| Some(wire.sent))),
            slope(Metric::WireBytesReceived, &wire(|wire| Some(wire.received))),
            slope(Metric::SegmentsSent, &wire(|wire| wire.segments_sent)),
            plain.map(|plain| figures::known(Metric::PayloadBytes, plain.payload_bytes)),
            program.map(|bytes| figures::known(Metric::BinaryBytes, bytes)),
            start_up,
        ];
        found.into_iter().flatten().collect()
    }

    fn remarks(&self, figures: &[Figure]) -> Vec<String> {
        let mut remarks = self.plain().map(|plain| plain.nature.remarks()).unwrap_or_default();
        let code = self.good.iter().find_map(|run| match &run.counted {
            Counted::Code(code) => Some(&code.remarks),
            _ => None,
        });
        remarks.extend(code.into_iter().flatten().cloned());
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
        let restless = self.good.iter().any(|run| run.wire.restless * 10 > run.wire.turns);
        if restless {
            remarks.push("server or driver never rest between requests: counts vary with their timing".into());
        }
        remarks
    }

    /// System calls per request by name; those whose number does not depend on requests are left out. A call that every
    /// longer run makes more often is kept even if it is rare: a call that blocks in few requests does not change the
    /// total.
    fn syscalls(&self) -> BTreeMap<String, f64> {
        let names = self.good.iter().flat_map(|run| match &run.counted {
            Counted::Syscalls(calls) => calls.keys().cloned().collect(),
            _ => Vec::new(),
        });
        let names: std::collections::BTreeSet<String> = names.collect();
        let per_request = |name: String| {
            let points = self.points(&|run| match &run.counted {
                Counted::Syscalls(calls) => Some(calls.get(&name).copied().unwrap_or(0)),
                _ => None,
            });
            let rare = (!SCHEDULED.contains(&name.as_str()))
                .then(|| figures::rare(&points))
                .flatten();
            let value = figures::slope(Metric::Syscalls, points, f64::INFINITY).value?;
            let value = if value > 0.0 { value } else { rare? };
            Some((name, value))
        };
        names.into_iter().filter_map(per_request).collect()
    }

    /// How often a request calls each of the project's functions.
    fn calls(&self) -> BTreeMap<String, f64> {
        let code = self.good.iter().filter_map(|run| match &run.counted {
            Counted::Code(code) => Some(code.calls.keys()),
            _ => None,
        });
        let names: std::collections::BTreeSet<&String> = code.flatten().collect();
        let per_request = |name: &String| {
            let points = self.points(&|run| match &run.counted {
                Counted::Code(code) => Some(code.calls.get(name).copied().unwrap_or(0)),
                _ => None,
            });
            let value = figures::slope(Metric::Syscalls, points, f64::INFINITY).value?;
            (value > 0.0).then(|| (name.clone(), value))
        };
        names.into_iter().filter_map(per_request).collect()
    }

    /// Costs per request by call stack, of everything that has stacks.
    fn costs(&self) -> Vec<(Metric, Costs)> {
        let stacks: [(Metric, StacksOf); 3] = [
            (Metric::Instructions, |counted| match counted {
                Counted::Code(code) => Some((&code.stacks, &code.lines)),
                _ => None,
            }),
            (Metric::Allocations, |counted| match counted {
                Counted::Heap(heap) => Some((&heap.block_stacks, &heap.block_lines)),
                _ => None,
            }),
            (Metric::AllocatedBytes, |counted| match counted {
                Counted::Heap(heap) => Some((&heap.byte_stacks, &heap.byte_lines)),
                _ => None,
            }),
        ];
        let ends = self.good.iter().map(|run| run.requests);
        let (Some(few), Some(many)) = (ends.clone().min(), ends.max()) else {
            return Vec::new();
        };
        let costs = stacks.into_iter().filter_map(|(metric, of)| {
            let at = |wanted: u64| -> (Vec<&Stacks>, Vec<&Lines>) {
                let same = self.good.iter().filter(|run| run.requests == wanted);
                same.filter_map(|run| of(&run.counted)).unzip()
            };
            let ((short, short_lines), (long, long_lines)) = (at(few), at(many));
            let both = !short.is_empty() && !long.is_empty() && many > few;
            both.then(|| {
                let costs = per_request(&short, &long, many - few);
                (metric, (costs, lines::most(&short_lines, &long_lines)))
            })
        });
        costs.collect()
    }

    /// True if the program has an allocator of its own, so that DHAT sees none of its allocations.
    fn has_own_allocator(&self) -> bool {
        let own = self.plain().is_some_and(|plain| plain.nature.own_allocator);
        let blocks = self.good.iter().filter_map(|run| match &run.counted {
            Counted::Heap(heap) => Some(heap.blocks),
            _ => None,
        });
        own && blocks.max().is_some_and(|most| most < FEWEST_BLOCKS)
    }

    fn status(&self, figures: &[Figure]) -> (CountStatus, Option<String>) {
        let mut why: Vec<String> = Vec::new();
        if !self.missing.is_empty() {
            let names: Vec<&str> = self.missing.iter().filter_map(|tool| tool.program()).collect();
            let names: std::collections::BTreeSet<&str> = names.into_iter().collect();
            let names: Vec<&str> = names.into_iter().collect();
            why.push(format!("without {}", names.join(" and ")));
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

    fn points(&self, of: &dyn Fn(&Good) -> Option<u64>) -> Vec<Point> {
        let point = |run: &Good| {
            Some(Point {
                requests: run.requests,
                layout: run.layout,
                total: of(run)?,
            })
        };
        self.good.iter().filter_map(point).collect()
    }

    /// The result of a plain run, if there was one.
    pub fn plain(&self) -> Option<&Plain> {
        self.good.iter().find_map(|run| match &run.counted {
            Counted::Nothing(plain) => Some(plain),
            _ => None,
        })
    }
}

/// The callers of the system calls that requests cause.
fn callers(costs: &PerRequest, syscalls: &BTreeMap<String, f64>) -> Vec<CallerCost> {
    let caller = |caller: Caller| CallerCost {
        syscall: caller.call,
        function: caller.function,
        cost: caller.cost,
    };
    let calls = syscalls.keys().cloned().collect();
    costs.callers(&calls).into_iter().map(caller).collect()
}

/// The tool whose runs a metric is counted in.
const fn tool_of(metric: Metric) -> Tool {
    match metric {
        Metric::Instructions => Tool::Callgrind,
        Metric::Allocations | Metric::AllocatedBytes => Tool::Dhat,
        Metric::Syscalls => Tool::Strace,
        _ => Tool::Plain,
    }
}

/// The size of a server's program file; `None` for an interpreter.
fn program_bytes(nature: &Nature) -> Option<u64> {
    let program = nature.program.as_ref().filter(|_| nature.interpreter.is_none())?;
    fs::metadata(program).ok().map(|file| file.len())
}
