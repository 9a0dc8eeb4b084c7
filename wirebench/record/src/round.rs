//! One round of a series: how it went, and everything that was measured in it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::FailedCheck;
use crate::run::{Ping, Variant};

/// How a round went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoundStatus {
    /// Measured, and every check passed.
    Ok,
    /// Measured, but a check failed, so the numbers cannot be trusted.
    Invalid,
    /// Not measured: the server or the driver failed.
    #[default]
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
    /// Neither was busy: the connections limited the throughput.
    Neither,
}

impl Bound {
    /// The driver limits the throughput if it used at least this share of its cores, ‰.
    pub const CLIENT_FROM_PERMILLE: u32 = 850;
    /// The server limits the throughput if it used more than this share of its cores, ‰, and the driver does not limit it.
    pub const SERVER_ABOVE_PERMILLE: u32 = 900;
}

/// One driver run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Why it is not ok, in words: the failure, or every failed check, separated by `; `.
    pub reason: Option<String>,
    /// The checks that it failed, as facts; empty unless it is invalid, and in records from before there was this field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_checks: Vec<FailedCheck>,
    /// Wall time of the whole round: start of the server, probes, warm-up, load and stop; null in records from before there was
    /// this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ns: Option<u64>,
    /// Wall time of the load, as the driver measured it.
    pub elapsed_ns: Option<u64>,
    /// Good answers.
    pub ok_count: Option<u64>,
    /// Everything else.
    pub failed_count: Option<u64>,
    /// Requests that the driver should have started (open loop) and did not: no connection was free. Null when it does
    /// not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_count: Option<u64>,
    /// Requests under way that the driver itself cut off when its time was over: neither answered nor refused, and no failure
    /// of the server. Null when it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_off_count: Option<u64>,
    /// Failures by kind: a status, or an error's text.
    pub errors: BTreeMap<String, u64>,
    /// Latency of good answers.
    pub latency_ns: Option<Latency>,
    /// Requests in flight on average, throughput × mean latency, as a share of the workers in thousandths (Little's law).
    pub in_flight_permille: Option<u32>,
    /// The server's CPU time during the load, all its processes.
    pub server_cpu_ns: Option<CpuTime>,
    /// How often the server's threads went to sleep during the load (voluntary context switches): the threads that ran from its
    /// beginning to its end. Null where they cannot be read, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_sleeps: Option<u64>,
    /// Share of this machine's CPU time that programs other than server and driver used meanwhile, in thousandths. Null where the
    /// load was of other hosts, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_busy_permille: Option<u32>,
    /// The driver's CPU time, its own start and report included.
    pub driver_cpu_ns: Option<CpuTime>,
    /// Share of its cores the server used while it was loaded, in thousandths.
    pub server_busy_permille: Option<u32>,
    /// Share of its cores the driver used while it loaded, in thousandths.
    pub driver_busy_permille: Option<u32>,
    /// Which side held the throughput back.
    pub bound: Option<Bound>,
    /// The server's largest resident memory since its start without pages of files, all its processes.
    pub server_peak_rss_bytes: Option<u64>,
    /// The CPU time, memory and connections of each process of the server during the load: the front first, then the tiers,
    /// nearest first; empty where processes cannot be watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessUsage>,
    /// Distinct connections the server was seen to hold during the load; null when it was too short to look.
    pub connections_seen: Option<u32>,
    /// CPU time the hypervisor gave to others while the driver ran, all CPUs.
    pub host_steal_ns: Option<u64>,
    /// Wall time between the two readings of which `host_steal_ns` is the difference: it is longer than the load, by the driver's
    /// start. Null in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_steal_over_ns: Option<u64>,
    /// Body (HTTP) or message (gRPC) of one right answer.
    pub payload_bytes: Option<u64>,
    /// From exec to ready.
    pub server_ready_ns: Option<u64>,
    /// How long the way between the driver's and the server's host and back took right before the load; null where both are on one
    /// machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping: Option<Ping>,
    /// Every rate that a search tried, in order; the other figures are of the highest that passed. Empty without a search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<SearchStep>,
    /// What each load pod of a cluster did, in the order of their names: the round's counts are the sums of theirs, and its
    /// quantiles are those of all their latencies together. Empty where one machine loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_pods: Vec<LoadPod>,
}

/// One rate that a search tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchStep {
    /// Requests per second offered.
    pub rate_per_s: u32,
    /// Good answers per second.
    pub achieved_per_s: Option<u32>,
    /// 99 % of good answers took at most this.
    pub p99_ns: Option<u64>,
    /// Whether every check passed and the objective was kept.
    pub passed: bool,
    /// Why it did not pass.
    pub why: Option<String>,
}

/// The part of a round that one load pod measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadPod {
    /// Good answers.
    pub ok_count: u64,
    /// Everything else.
    pub failed_count: u64,
    /// Wall time of its load, as its driver measured it.
    pub elapsed_ns: Option<u64>,
    /// When its load began, after the first pod's, by clocks that were compared; null in older records, when k6-operator started
    /// the driver.
    pub started_after_ns: Option<u64>,
    /// By how much its clock is ahead of this machine's, ns.
    pub clock_offset_ns: i64,
    /// The offset is known to within this many ns in both directions: half the time that asking took.
    pub clock_uncertainty_ns: u64,
}

impl Round {
    /// The wall time in which `host_steal_ns` was counted, ns; in older records the load's, which is shorter.
    pub fn steal_counted_over_ns(&self) -> Option<u64> {
        self.host_steal_over_ns.or(self.elapsed_ns)
    }

    /// A round that is not measured yet.
    pub fn unmeasured(variant: Variant, round: u32, position: usize, stage: u32) -> Self {
        Self {
            variant,
            round,
            position,
            stage,
            ..Self::default()
        }
    }

    /// Makes the round invalid and records why; without failed checks it stays as it is.
    pub fn refuse(&mut self, failed: Vec<FailedCheck>) {
        if failed.is_empty() {
            return;
        }
        self.failed_checks.extend(failed);
        self.status = RoundStatus::Invalid;
        let sentences: Vec<String> = (self.failed_checks.iter())
            .map(|check| check.sentence(&self.errors))
            .collect();
        self.reason = Some(sentences.join("; "));
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

/// The CPU time, memory and connections of one process of a server and its child processes during a load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessUsage {
    /// The tier's name; for the front, the server's.
    pub name: String,
    /// CPU time during the load.
    pub cpu_ns: Option<CpuTime>,
    /// Largest resident memory since its start without pages of files.
    pub peak_rss_bytes: Option<u64>,
    /// Resident memory at the end of the load without pages of files.
    pub rss_bytes: Option<u64>,
    /// Bytes of TCP payload that came in over all its connections, per second; only in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_bytes_per_s: Option<u64>,
    /// Bytes of TCP payload that the other ends acknowledged, per second; only in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    pub const fn total(self) -> u64 {
        self.user + self.system
    }
}
