//! Counts: the figures of one variant of a counted series, with the points of their slopes, and the costs of functions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;
use crate::names;
use crate::run::Variant;

/// Begins the reason of a figure that was refused while other programs kept every core busy.
pub const BUSY_MACHINE: &str = "the machine is busy";

/// System calls in which a request waits: a new one matters however rare it is.
pub const BLOCKING_CALLS: [&str; 5] = ["nanosleep", "clock_nanosleep", "fsync", "fdatasync", "flock"];

/// What was counted of one variant of a series.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Which side of a comparison it belongs to.
    pub variant: Variant,
    /// How it went.
    pub status: CountStatus,
    /// Why it is not ok, in one sentence.
    pub reason: Option<String>,
    /// What to know before trusting the figures: an interpreter or a JIT compiler, work in the background, no symbols.
    pub remarks: Vec<String>,
    /// Every figure, in the order of [`Metric::COUNTED`]; figures that could not be counted at all are left out.
    pub figures: Vec<Figure>,
    /// System calls per request by name.
    pub syscalls: BTreeMap<String, f64>,
    /// Who makes these calls through the C library, of servers whose instructions were counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<CallerCost>,
    /// What single functions cost per request, the most expensive first.
    pub functions: Vec<FunctionCost>,
    /// What the project's own functions do per request, where a language runtime counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
    /// Files of folded call stacks, relative to the run's folder, by what they weigh (`instructions`, `allocations` or
    /// `allocated_bytes`, per request).
    #[serde(deserialize_with = "names::paths")]
    pub stacks: BTreeMap<Metric, String>,
}

/// How counting went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CountStatus {
    /// Every figure that the tools at hand can give was taken.
    Ok,
    /// Some figures were refused, or a tool is missing; the others are good.
    Partial,
    /// Nothing could be counted: server or driver failed, or it was not the load asked for.
    #[default]
    Failed,
    /// Nothing was tried: no tool for it on this machine.
    Skipped,
}

/// One counted number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What was counted; its unit is the metric's.
    pub metric: Metric,
    /// Per request (or of one program, where the metric says so); null when it was refused.
    pub value: Option<f64>,
    /// How far the value may be off, in the metric's unit: the largest distance of a repetition from it, or the sampling error of
    /// the repetitions where that is larger.
    pub spread: Option<f64>,
    /// Why there is no value, in one sentence.
    pub refused: Option<String>,
    /// The value at each start layout (lengths of the program's path), in the order of the layouts; the value above is their
    /// mean. Empty if only one layout was counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_layout: Vec<f64>,
    /// What was counted over whole server runs, each of so many requests; empty where it is no slope.
    pub points: Vec<Point>,
}

/// One whole server run, from exec to exit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Requests that the driver sent.
    pub requests: u64,
    /// The count over the whole run, start and stop included.
    pub total: u64,
    /// The start layout: which length the program's path had.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub layout: u32,
}

/// Functions of each metric that a run's page shows, and that a history keeps.
pub const SHOWN_FUNCTIONS: usize = 10;

/// What one function costs per request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionCost {
    /// Its name, demangled, without the parts that change from build to build; an address without symbols.
    pub function: String,
    /// What is counted: `instructions`, `allocations` or `allocated_bytes`.
    pub metric: Metric,
    /// Its own cost per request: without the functions it calls, with the allocator's work for it.
    pub cost: f64,
    /// Its inclusive cost per request: with the functions it calls; null in older records, and of programs that go from stack to
    /// stack, as Go's do: callgrind then loses callers, so that `blamed` is too little for some functions and too much for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inclusive: Option<f64>,
    /// Its blamed cost per request: its own, and that of the code outside the project that it calls; null for other code, and
    /// in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blamed: Option<f64>,
    /// How often a request calls it; null for other code, for what is inlined everywhere, for metrics other than instructions,
    /// and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<f64>,
    /// Where most of `blamed` lies (in older records, of `cost`), in the project's own sources; null for other code, and where
    /// it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// What the project's own functions do per request, counted by the language's runtime. It is no cost: it names and explains,
/// and never gates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// What is counted, in the singular: `block`, `bytecode`.
    pub unit: String,
    /// What one more call of a function may cost by itself, in this unit.
    pub call: f64,
    /// Each function, the one that does most first.
    pub functions: Vec<FunctionWork>,
}

/// What one function does per request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionWork {
    /// Its name in the source; that of the function around it, where it has none.
    pub function: String,
    /// Where it begins.
    pub source: Source,
    /// Units per request.
    pub count: f64,
    /// How far the count may be off.
    pub spread: f64,
    /// Calls per request.
    pub calls: f64,
    /// Twelve hex digits of its source, where the runtime says where it ends; without blanks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// How much one function uses the C library's function for a system call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallerCost {
    /// The system call.
    pub syscall: String,
    /// The project's function that makes it, or else the nearest one that is not the C library's or the language's.
    pub function: String,
    /// Instructions per request in the C library's function, which go with the number of calls.
    pub cost: f64,
}

/// Where a function is in the project's own sources.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Relative to the repository's root, with `/`.
    pub file: String,
    /// From 1: where it begins, or its line that costs most.
    pub line: u32,
    /// Its last line, where `line` is its first and the counter says where it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<u32>,
}

impl Source {
    /// A line of a function whose end is not known.
    pub fn at(file: impl Into<String>, line: u32) -> Self {
        Self {
            file: file.into(),
            line,
            last_line: None,
        }
    }
}

impl Counts {
    /// Counts without any figure, and the reason.
    pub fn without(variant: Variant, status: CountStatus, reason: String) -> Self {
        Self {
            variant,
            status,
            reason: Some(reason),
            ..Self::default()
        }
    }

    /// The figure of a metric, refused ones included.
    pub fn figure(&self, metric: Metric) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.metric == metric)
    }

    /// The value of a metric and its spread.
    pub fn value(&self, metric: Metric) -> Option<(f64, f64)> {
        let figure = self.figure(metric)?;
        Some((figure.value?, figure.spread.unwrap_or(0.0)))
    }

    /// The value of a metric at the first start layout, which is the only one at which the null is counted.
    pub fn at_first_layout(&self, metric: Metric) -> Option<f64> {
        let figure = self.figure(metric)?;
        figure
            .value
            .map(|mean| figure.by_layout.first().copied().unwrap_or(mean))
    }
}
