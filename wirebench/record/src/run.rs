//! The record of one run, `wirebench.run/v1`: its series, its machine, and every round.
//!
//! The unit is in every name; times are integer nanoseconds, sizes integer bytes; null means not measured, never 0.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accepted::Accepted;
use crate::counts::{Counts, Source};
use crate::limit::Limit;
use crate::metric::Metric;
use crate::names;
pub use crate::round::{Bound, CpuTime, Latency, LoadPod, ProcessUsage, Round, RoundStatus, SearchStep};

/// The schema's name, the value of [`Run::schema`].
pub const SCHEMA: &str = "wirebench.run/v1";

/// One measurement on one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Always `wirebench.run/v1`.
    pub schema: String,
    /// Unique name: UTC start time, six hex digits, and a number from the second run of one second and seed on.
    #[serde(deserialize_with = "names::run")]
    pub id: String,
    /// What started it: `local`, or the name of the event in a workflow.
    pub trigger: String,
    /// The profile that was run.
    #[serde(deserialize_with = "names::profile")]
    pub profile: String,
    /// Whether it ran to its end.
    pub status: RunStatus,
    /// Why it is not complete, in one sentence.
    pub reason: Option<String>,
    /// RFC 3339, UTC.
    #[serde(deserialize_with = "names::time")]
    pub started_at: String,
    /// RFC 3339, UTC.
    pub finished_at: String,
    /// Wall time, ns, by part of the run.
    pub spent: Spent,
    /// The seed of the order of rounds; of several shards, the first's.
    pub seed: u64,
    /// Rounds planned for each series.
    pub rounds_planned: u32,
    /// The command that repeats it, from the project's folder.
    pub repeat: String,
    /// What was measured in each stage, and why; empty for a run of one variant.
    #[serde(default)]
    pub stages: Vec<Stage>,
    /// Acceptances that are new in the candidate: a change they cover is meant.
    #[serde(default)]
    pub accepted: Vec<Accepted>,
    /// The runs that were joined into this one, where several machines measured it; empty when one did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<Shard>,
    /// The machine; of several, the first shard's.
    pub host: Host,
    /// The other machines of the run, such as the servers' host, with their roles; empty if one machine did everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RemoteHost>,
    /// Which cores the server and the driver ran on; of several machines, on the first shard's.
    pub pinning: Pinning,
    /// Every program used, with its version.
    pub tools: Vec<ToolVersion>,
    /// What was measured: the code's revisions.
    pub variants: Vec<VariantRevision>,
    /// The packages that were resolved for each side's interpreted programs, where the sides differ in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Dependency>,
    /// Every series, in the order of the plan.
    pub series: Vec<Series>,
}

/// A run that was joined with others into one: the facts that may differ between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Id of the run as it was measured.
    #[serde(deserialize_with = "names::run")]
    pub run: String,
    /// Whether it ran to its end.
    pub status: RunStatus,
    /// Why it is not complete, in one sentence.
    pub reason: Option<String>,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC.
    pub finished_at: String,
    /// Wall time, ns, by part of the run.
    pub spent: Spent,
    /// The seed of the order of rounds.
    pub seed: u64,
    /// The machine.
    pub host: Host,
    /// Which cores the server and the driver ran on.
    pub pinning: Pinning,
    /// Every program used, with its version.
    pub tools: Vec<ToolVersion>,
    /// Ids of the series measured there, in the order of the run.
    #[serde(deserialize_with = "names::all_series")]
    pub series: Vec<String>,
}

/// A package of which baseline and candidate run different versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dependency {
    /// The package's name.
    pub name: String,
    /// The version the baseline ran; null if it has none.
    pub baseline: Option<String>,
    /// The version the candidate ran; null if it has none.
    pub candidate: Option<String>,
}

impl Run {
    /// The shard that measured a series: its place in `shards`; `None` if one machine measured everything.
    pub fn shard_of(&self, series: &str) -> Option<usize> {
        let measured = |shard: &Shard| shard.series.iter().any(|id| id == series);
        self.shards.iter().position(measured)
    }

    /// The code of a variant; `None` if the run does not have that variant.
    pub fn revision(&self, variant: Variant) -> Option<&VariantRevision> {
        self.variants.iter().find(|revision| revision.variant == variant)
    }

    /// The machine that measured a series.
    pub fn host_of(&self, series: &str) -> &Host {
        let shard = self.shard_of(series).and_then(|place| self.shards.get(place));
        shard.map_or(&self.host, |shard| &shard.host)
    }

    /// The link, by the handshakes of all rounds; `None` if there were no handshakes.
    pub fn link(&self) -> Option<Link> {
        let rounds = self.series.iter().flat_map(|series| &series.rounds);
        let pings: Vec<Ping> = rounds.filter_map(|round| round.ping).collect();
        let mut medians: Vec<u64> = pings.iter().filter_map(|ping| ping.p50_ns).collect();
        medians.sort_unstable();
        Some(Link {
            p50_ns: *medians.get(medians.len().saturating_sub(1) / 2)?,
            max_ns: pings.iter().filter_map(|ping| ping.max_ns).max()?,
            sent: pings.iter().map(|ping| u64::from(ping.sent)).sum(),
            lost: pings.iter().map(|ping| u64::from(ping.lost)).sum(),
        })
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Every planned round was measured.
    Complete,
    /// It was interrupted; everything measured until then is here.
    #[default]
    Incomplete,
    /// At least one series failed; the others are whole.
    Failed,
}

/// Where a run's wall time went, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// Building the servers.
    pub build_ns: u64,
    /// From the first server start to the last report, builds left out.
    pub measure_ns: u64,
    /// Of that, observing how servers warm up, and measuring capacities, before first rounds.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub calibrate_ns: u64,
    /// Drivers running, warm-up included.
    pub load_ns: u64,
    /// Servers from exec to ready.
    pub start_ns: u64,
    /// jq and quantiles.
    pub normalise_ns: u64,
    /// Counting, which is not part of the measuring time.
    #[serde(default)]
    pub count_ns: u64,
    /// Sampling the functions of series, which is not part of it either.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub sample_ns: u64,
}

/// A stage of a run with a baseline: a screen first, then fresh rounds of the suspicious series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// 1: screen, 2: fresh rounds that decide.
    pub number: u32,
    /// Rounds of each variant planned for each of its series.
    pub rounds: u32,
    /// Ids of the series measured in it.
    #[serde(deserialize_with = "names::all_series")]
    pub series: Vec<String>,
    /// Why these and so many, in one sentence.
    pub why: String,
}

/// The code of one variant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VariantRevision {
    /// Which side.
    pub variant: Variant,
    /// The commit, 40 hex digits; null outside a repository.
    #[serde(default, deserialize_with = "names::commit_or_null")]
    pub commit: Option<String>,
    /// Whether tracked files differed from the commit.
    pub modified: Option<bool>,
    /// What the user called it: a revision, a folder, or a prebuilt command.
    #[serde(default)]
    pub name: Option<String>,
    /// When the commit was made, RFC 3339; orders commits in a history.
    #[serde(default)]
    pub committed_at: Option<String>,
}

/// The first twelve digits of a commit, by which it is shown and its files are named.
pub fn short_commit(commit: &str) -> &str {
    commit.char_indices().nth(12).map_or(commit, |(end, _)| &commit[..end])
}

/// One scenario, server and driver.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// `scenario@server@driver`.
    #[serde(deserialize_with = "names::series")]
    pub id: String,
    /// The scenario's name.
    #[serde(deserialize_with = "names::declared")]
    pub scenario: String,
    /// The server's name.
    #[serde(deserialize_with = "names::declared")]
    pub server: String,
    /// The driver's name.
    #[serde(deserialize_with = "names::declared")]
    pub driver: String,
    /// What they spoke: `http`, `h2c`, `grpc`, `https`, `grpcs`, `grpc-web` or `process`.
    #[serde(deserialize_with = "names::declared")]
    pub protocol: String,
    /// What was offered.
    pub load: LoadRecord,
    /// The bounds that its scenario sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// Twelve hex digits over all that defines the question; a changed digest breaks the trend.
    pub digest: String,
    /// The driver's command, with `{…}` where a value changes from round to round.
    pub command: Vec<String>,
    /// Whether its rounds are good.
    pub status: SeriesStatus,
    /// Why it is not, in one sentence.
    pub reason: Option<String>,
    /// The variant that does not declare this series, so that it cannot be compared.
    #[serde(default)]
    pub missing_in: Option<Variant>,
    /// True if baseline and candidate run the same program (equal code and data, started in the same way): they were not
    /// measured against each other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_program: bool,
    /// The digest of the question as the baseline declares it, when that is another one.
    #[serde(default)]
    pub baseline_digest: Option<String>,
    /// CPU time deliberately burnt in each request of the candidate, ns; only a self-test does this.
    #[serde(default)]
    pub injected_burn_ns: Option<u64>,
    /// What was counted, one entry for each variant; empty for a series that is timed.
    #[serde(default)]
    pub counts: Vec<Counts>,
    /// Every round, in the order measured; empty for a series that is counted.
    pub rounds: Vec<Round>,
    /// Where both sides spend CPU time, function by function, sampled in rounds that are not among `rounds`; null where that was
    /// not asked for, or not possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
}

/// The time of functions by sampling. Each list has one value for each round, in ns per request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sampled {
    /// What the time is: `server_cpu`, CPU time; `latency_p50`, time that threads waited in a call by a function of the project's.
    #[serde(default = "Sampled::cpu_time")]
    pub metric: Metric,
    /// All functions together; of waiting, the latency p50 that holds it.
    pub whole: SampledSides,
    /// The functions with a share worth naming on either side.
    pub functions: Vec<SampledFunction>,
    /// Files of folded call stacks, ns per 1,000 requests, relative to the run's folder.
    #[serde(default, deserialize_with = "names::paths")]
    pub stacks: BTreeMap<Variant, String>,
}

/// Values of the sampled rounds of both sides, ns per request; the same number of each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampledSides {
    /// The baseline's.
    pub baseline: Vec<f64>,
    /// The candidate's.
    pub candidate: Vec<f64>,
}

/// The sampled time of one function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampledFunction {
    /// Its name.
    pub function: String,
    /// Where it is in the project's own sources; null for other code. An own function's time has that of all other code that it calls.
    pub source: Option<Source>,
    /// Its time.
    pub time: SampledSides,
}

impl Sampled {
    /// What was sampled where a record does not say it.
    const fn cpu_time() -> Metric {
        Metric::ServerCpu
    }
}

impl Series {
    /// The file of folded call stacks of a side, relative to the run's folder, if that metric was counted or sampled by stack.
    pub fn stacks_of(&self, variant: Variant, metric: Metric) -> Option<&str> {
        let counted = || self.counts_of(variant)?.stacks.get(&metric);
        let sampled = self.sampled.as_ref();
        let sampled = sampled
            .filter(|sampled| sampled.metric == metric || (sampled.metric.is_of_waiting() && metric.is_of_waiting()));
        let sampled = sampled.and_then(|sampled| sampled.stacks.get(&variant));
        sampled.or_else(counted).map(String::as_str)
    }

    /// All files of folded call stacks, relative to the run's folder.
    pub fn stack_files(&self) -> impl Iterator<Item = &String> {
        let counted = self.counts.iter().flat_map(|counts| counts.stacks.values());
        counted.chain(self.sampled.iter().flat_map(|sampled| sampled.stacks.values()))
    }

    /// Whether it is counted; every other one is timed.
    pub const fn is_counted(&self) -> bool {
        self.load.counted.is_some()
    }

    /// The limits that apply to it: on counted metrics if it is counted, else on timed ones.
    pub fn limits_of(&self) -> impl Iterator<Item = &Limit> {
        self.limits
            .iter()
            .filter(|limit| limit.metric.is_counted() == self.is_counted())
    }

    /// The counts of a variant.
    pub fn counts_of(&self, variant: Variant) -> Option<&Counts> {
        self.counts.iter().find(|counts| counts.variant == variant)
    }
}

/// How a series went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SeriesStatus {
    /// Every round is ok.
    Ok,
    /// Some rounds are ok, others failed a check.
    Partial,
    /// No round is ok.
    Failed,
    /// Not every planned round was measured, because the run was interrupted.
    Incomplete,
    /// Not measured: this machine lacks the tools for it.
    #[default]
    Skipped,
}

// The machines of a run, with the cores and programs that were used.

/// The machine a run was made on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// As the kernel names it.
    pub cpu_model: Option<String>,
    /// CPUs this process may use.
    pub cpu_count: u32,
    /// Physical memory.
    pub memory_bytes: Option<u64>,
    /// Operating system and kernel release.
    pub kernel: String,
    /// The hosted runner's image, when there is one.
    pub image: Option<String>,
    /// The loopback interface's maximum transmission unit.
    pub loopback_mtu_bytes: Option<u32>,
    /// Twelve hex digits over the lines above: another fingerprint is another machine.
    pub fingerprint: String,
}

/// Which cores the server and the driver ran on; empty lists mean they shared all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pinning {
    /// The server's cores.
    pub server_cores: Vec<usize>,
    /// The driver's cores.
    pub driver_cores: Vec<usize>,
    /// True if the run did not hold the machine's lock, so that another measurement may have run at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlocked: bool,
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolVersion {
    /// The program.
    pub name: String,
    /// The version that it prints.
    pub version: String,
}

/// Another machine that took part in a run. Neither its name nor its address is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteHost {
    /// What it did.
    pub role: HostRole,
    /// The machine.
    pub host: Host,
    /// By how much its clock was ahead of the driver's machine's, ns; null when it does not tell the time in ns.
    pub clock_offset_ns: Option<i64>,
    /// The offset is known to within this many ns in both directions: half the time that asking took.
    pub clock_uncertainty_ns: Option<u64>,
}

/// What a machine does in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostRole {
    /// The servers run on it.
    Server,
    /// The load generators run on it.
    Driver,
}

// Pings: TCP handshakes that were timed to know the network between the driver's and the server's host.

/// How long TCP handshakes with a server took while no load was sent: one round trip each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// Handshakes tried.
    pub sent: u32,
    /// Those that lost a packet: their times are not in the distribution.
    pub lost: u32,
    /// Smallest; null when all were lost, as are the others.
    pub min_ns: Option<u64>,
    /// The quantiles are by nearest rank.
    pub p50_ns: Option<u64>,
    /// 90 % took no longer.
    pub p90_ns: Option<u64>,
    /// Largest.
    pub max_ns: Option<u64>,
}

/// The network between a run's machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The median of the rounds' medians, ns there and back.
    pub p50_ns: u64,
    /// The longest that was not lost, ns.
    pub max_ns: u64,
    /// Handshakes tried.
    pub sent: u64,
    /// Those that lost a packet.
    pub lost: u64,
}

// The load of a series in the record.

/// The load of a series, after the profile's caps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadRecord {
    /// Connections opened, of stages the most of any; null for process starts and benchmarks.
    pub connections: Option<u32>,
    /// Requests in flight at once on each connection; null for process starts and benchmarks.
    pub streams: Option<u32>,
    /// Requests in a round, when counted.
    pub requests: Option<u64>,
    /// Length of a round, when timed; of each step, where a rate is searched.
    pub duration_ns: Option<u64>,
    /// Process starts in a round.
    pub starts: Option<u32>,
    /// Samples of a benchmark in a round, each the mean time of many iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// Requests of the longest counted server run; null for timed series.
    #[serde(default)]
    pub counted: Option<u64>,
    /// Requests per second offered (open loop); null in a closed loop, where a rate is searched, and for a share of a
    /// capacity that could not be measured.
    pub rate_per_s: Option<u32>,
    /// Warm-up before each round, thrown away.
    pub warmup_ns: Option<u64>,
    /// Requests that each fresh server gets after `warmup_ns` and before the round, until CPU time per request no longer falls:
    /// measured before the first round, and the same on all sides; null where `warmup_ns` is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_requests: Option<u64>,
    /// The time for which a fresh server of each side was observed without a sign that it was warm; null where it was seen to be,
    /// and where that is not looked at. Timed figures of such rounds give no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_unknown_after_ns: Option<u64>,
    /// Length of the later rounds where earlier ones of `duration_ns` had too few good answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengthened_to_ns: Option<u64>,
    /// The share of the capacity that the rate is, in thousandths; null for a rate that was declared as a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_permille: Option<u32>,
    /// Good answers per second that the same connections achieved in a closed loop just before the first round; of several
    /// variants the fewest, so that all are offered the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_per_s: Option<u32>,
    /// Which side held that throughput back; only `server` makes it the server's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bound: Option<Bound>,
    /// Stages of a round, one after the other; empty where the connections do not change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRecord>,
    /// How long a worker waits after each answer before it asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ns: Option<u64>,
    /// The objective of a search for a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
}

/// One stage of a load: the connections go from where they stand to this number in this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageRecord {
    /// Connections at its end.
    pub connections: u32,
    /// How long it takes.
    pub duration_ns: u64,
}

/// What a search looked for: the highest rate whose p99 stays within a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRecord {
    /// The p99 latency that must not be exceeded.
    pub p99_ns: u64,
    /// The lowest rate tried.
    pub from_per_s: u32,
    /// The highest rate tried.
    pub to_per_s: u32,
}

impl LoadRecord {
    /// The load as declared, without measured values: the same on every server and machine.
    pub fn as_declared(&self) -> Self {
        Self {
            rate_per_s: self.rate_per_s.filter(|_| self.rate_permille.is_none()),
            capacity_per_s: None,
            capacity_bound: None,
            warmup_requests: None,
            warmup_unknown_after_ns: None,
            lengthened_to_ns: None,
            ..self.clone()
        }
    }
}

/// Which side of a comparison a round belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// The code compared against.
    Baseline,
    /// The code in question; a run of one revision is a candidate alone.
    #[default]
    Candidate,
    /// A pinned revision measured together with the others, so that trends are ratios to it and a slower machine cancels out.
    Reference,
    /// The baseline's program once more, a native one from another place: the embedded null. Any difference to the baseline is
    /// an error of the measurement.
    Null,
}

impl Variant {
    /// Its name, as the record writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Candidate => "candidate",
            Self::Reference => "reference",
            Self::Null => "null",
        }
    }
}
