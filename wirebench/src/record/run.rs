//! The record of one run, `wirebench.run/v1`: what was asked, on what machine, and every round of it.
//!
//! The unit is in every name; times are integer nanoseconds, sizes integer bytes; null means not measured, never 0.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::accepted::Accepted;
use crate::record::counts::Counts;
pub use crate::record::load::{LoadRecord, SearchRecord, SearchStep, StageRecord};
use crate::record::shards::Shard;

/// The schema's name, the value of [`Run::schema`].
pub const SCHEMA: &str = "wirebench.run/v1";

/// One measurement on one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Always `wirebench.run/v1`.
    pub schema: String,
    /// Unique name: UTC start time and six hex digits.
    pub id: String,
    /// What started it: `local`, or the name of the event in a workflow.
    pub trigger: String,
    /// The profile that was run.
    pub profile: String,
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
    /// Which cores the server and the driver ran on; of several machines, on the first shard's.
    pub pinning: Pinning,
    /// Every program used, with its version.
    pub tools: Vec<ToolVersion>,
    /// What was measured: the code's revisions.
    pub variants: Vec<VariantRevision>,
    /// Every series, in the order of the plan.
    pub series: Vec<Series>,
}

impl Run {
    /// The shard that measured a series: its place in `shards`; none where one machine measured everything.
    #[must_use]
    pub fn shard_of(&self, series: &str) -> Option<usize> {
        let measured = |shard: &Shard| shard.series.iter().any(|id| id == series);
        self.shards.iter().position(measured)
    }

    /// The machine that measured a series.
    #[must_use]
    pub fn host_of(&self, series: &str) -> &Host {
        let shard = self.shard_of(series).and_then(|place| self.shards.get(place));
        shard.map_or(&self.host, |shard| &shard.host)
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Every planned round was measured.
    Complete,
    /// It was interrupted; what was measured until then is here.
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
    /// Drivers running, warm-up included.
    pub load_ns: u64,
    /// Servers from exec to ready.
    pub start_ns: u64,
    /// jq and quantiles.
    pub normalise_ns: u64,
    /// Counting, outside of what is measured in time.
    #[serde(default)]
    pub count_ns: u64,
}

/// The machine a run was made on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pinning {
    /// The server's cores.
    pub server_cores: Vec<usize>,
    /// The driver's cores.
    pub driver_cores: Vec<usize>,
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolVersion {
    /// The program.
    pub name: String,
    /// Its version, as it says itself.
    pub version: String,
}

/// Which side of a comparison a round belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// The code compared against.
    Baseline,
    /// The code in question; a run of one revision is a candidate alone.
    Candidate,
    /// A pinned revision measured beside the others, so that trends are ratios to it and a slower machine cancels out.
    Reference,
}

impl Variant {
    /// Its name, as the record writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Candidate => "candidate",
            Self::Reference => "reference",
        }
    }
}

/// A stage of a run with a baseline: a screen first, then fresh rounds of what looked suspicious.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// 1: screen, 2: fresh rounds that decide.
    pub number: u32,
    /// Rounds of each variant planned for each of its series.
    pub rounds: u32,
    /// Ids of the series measured in it.
    pub series: Vec<String>,
    /// Why these and so many, in one sentence.
    pub why: String,
}

/// The code of one variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantRevision {
    /// Which side.
    pub variant: Variant,
    /// The commit, 40 hex digits; null outside a repository.
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
#[must_use]
pub fn short_commit(commit: &str) -> &str {
    commit.char_indices().nth(12).map_or(commit, |(end, _)| &commit[..end])
}

/// One scenario, server and driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// `scenario@server@driver`.
    pub id: String,
    /// The scenario's name.
    pub scenario: String,
    /// The server's name.
    pub server: String,
    /// The driver's name.
    pub driver: String,
    /// What they spoke: `http`, `h2c`, `grpc`, `https`, `grpcs`, `grpc-web` or `process`.
    pub protocol: String,
    /// What was offered.
    pub load: LoadRecord,
    /// Twelve hex digits over all that defines the question; a changed digest breaks the trend.
    pub digest: String,
    /// The driver's command, with `{…}` where a value changes from round to round.
    pub command: Vec<String>,
    /// Whether its rounds are good.
    pub status: SeriesStatus,
    /// Why it is not, in one sentence.
    pub reason: Option<String>,
    /// The variant that does not declare this series: nothing is there to compare.
    #[serde(default)]
    pub missing_in: Option<Variant>,
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
}

impl Series {
    /// Whether it is counted; every other one is timed.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        self.load.counted.is_some()
    }

    /// What was counted of a variant.
    #[must_use]
    pub fn counts_of(&self, variant: Variant) -> Option<&Counts> {
        self.counts.iter().find(|counts| counts.variant == variant)
    }
}

/// How a series went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    Skipped,
}

/// How a round went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoundStatus {
    /// Measured, and every check passed.
    Ok,
    /// Measured, but a check says that the numbers cannot be trusted.
    Invalid,
    /// Not measured: the server or the driver failed.
    Failed,
}

/// Which side held the throughput back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// The driver used at least 85 % of its cores: its throughput is the client's ceiling.
    Client,
    /// The server used more than 90 % of its cores and the driver did not: a capacity figure.
    Server,
    /// Neither was busy: the throughput is what the connections could carry.
    Neither,
}

/// One driver run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// Which side of a comparison it belongs to.
    pub variant: Variant,
    /// Round, from 0: the rounds of all variants with one number were measured back to back, as a pair.
    pub round: u32,
    /// Place in the whole run, or in that of its shard, from 0.
    pub position: usize,
    /// The stage it belongs to, from 1.
    #[serde(default = "first_stage")]
    pub stage: u32,
    /// Why its pair is left out of every comparison although it is good: the machine was disturbed. Decided without
    /// looking at which variant it was.
    #[serde(default)]
    pub dropped: Option<String>,
    /// How it went.
    pub status: RoundStatus,
    /// Why it is not ok: every failed check, separated by `; `.
    pub reason: Option<String>,
    /// Wall time of the load, as the driver measured it.
    pub elapsed_ns: Option<u64>,
    /// Good answers.
    pub ok_count: Option<u64>,
    /// Everything else.
    pub failed_count: Option<u64>,
    /// Requests that the driver should have started (open loop) and did not: none was free to send them. Null when it does
    /// not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_count: Option<u64>,
    /// Failures by kind: a status, or an error's text.
    pub errors: BTreeMap<String, u64>,
    /// Latency of good answers.
    pub latency_ns: Option<Latency>,
    /// Requests in flight on average, throughput × mean latency, as a share of the workers in thousandths (Little's law).
    pub in_flight_permille: Option<u32>,
    /// The server's CPU time during the load, all its processes.
    pub server_cpu_ns: Option<CpuTime>,
    /// The driver's CPU time, its own start and report included.
    pub driver_cpu_ns: Option<CpuTime>,
    /// Share of its cores the server used while it was loaded, in thousandths.
    pub server_busy_permille: Option<u32>,
    /// Share of its cores the driver used while it loaded, in thousandths.
    pub driver_busy_permille: Option<u32>,
    /// Which side held the throughput back.
    pub bound: Option<Bound>,
    /// The server's largest resident memory since its start, all its processes.
    pub server_peak_rss_bytes: Option<u64>,
    /// What each process of the server used during the load: the one that the driver asked, then those behind it, the nearest
    /// first; empty where nothing can be watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessUsage>,
    /// Distinct connections the server was seen to hold during the load; null when it was too short to look.
    pub connections_seen: Option<u32>,
    /// CPU time the hypervisor gave to others during the load, all CPUs.
    pub host_steal_ns: Option<u64>,
    /// Body (HTTP) or message (gRPC) of one right answer.
    pub payload_bytes: Option<u64>,
    /// From exec to ready.
    pub server_ready_ns: Option<u64>,
    /// Every rate that a search tried, in order; the other figures are of the highest that passed. Empty without a search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<SearchStep>,
}

impl Round {
    /// A round of which nothing is known yet.
    #[must_use]
    pub const fn unmeasured(variant: Variant, round: u32, position: usize, stage: u32) -> Self {
        Self {
            variant,
            round,
            position,
            stage,
            dropped: None,
            status: RoundStatus::Failed,
            reason: None,
            elapsed_ns: None,
            ok_count: None,
            failed_count: None,
            dropped_count: None,
            errors: BTreeMap::new(),
            latency_ns: None,
            in_flight_permille: None,
            server_cpu_ns: None,
            driver_cpu_ns: None,
            server_busy_permille: None,
            driver_busy_permille: None,
            bound: None,
            server_peak_rss_bytes: None,
            processes: Vec::new(),
            connections_seen: None,
            host_steal_ns: None,
            payload_bytes: None,
            server_ready_ns: None,
            search: Vec::new(),
        }
    }
}

const fn first_stage() -> u32 {
    1
}

/// Quantiles by nearest rank over every good answer of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Smallest.
    pub min: u64,
    /// Arithmetic mean, rounded.
    pub mean: u64,
    /// Half are at most this.
    pub p50: u64,
    /// 90 % are at most this.
    pub p90: u64,
    /// 95 % are at most this.
    pub p95: u64,
    /// 99 % are at most this.
    pub p99: u64,
    /// 99.9 % are at most this.
    pub p999: u64,
    /// Largest.
    pub max: u64,
}

/// What one process of a server, with those it started itself, used during a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessUsage {
    /// The tier's name; of the one that the driver asked, the server's.
    pub name: String,
    /// CPU time during the load.
    pub cpu_ns: Option<CpuTime>,
    /// Largest resident memory since its start.
    pub peak_rss_bytes: Option<u64>,
    /// Resident memory at the end of the load.
    pub rss_bytes: Option<u64>,
    /// Bytes of TCP payload that came in over all its connections, per second, between the first and the last look in which
    /// it held the same ones; null when there were no two such looks.
    pub received_bytes_per_s: Option<u64>,
    /// Bytes of TCP payload that the other ends acknowledged, likewise.
    pub sent_bytes_per_s: Option<u64>,
    /// Distinct connections that it was seen to hold during the load; in a chain only those that it accepted.
    pub connections_seen: Option<u32>,
}

/// CPU time, ns, by mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuTime {
    /// In the program's own code.
    pub user: u64,
    /// In the kernel for it.
    pub system: u64,
}

impl CpuTime {
    /// User and system together, ns.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.user + self.system
    }
}
