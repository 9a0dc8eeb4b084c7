//! The result of a soak: updated after every slice, and printed as text at its end.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::memory::{Drift, FLAT_PERCENT};
use wirebench_declare::span::Span;
use wirebench_present::report::format::{bytes, count, plain};
use wirebench_record::run::{Round, RoundStatus};

/// The result of a soak.
#[derive(Debug, Serialize)]
pub(super) struct SoakResult {
    pub(super) server: String,
    pub(super) operation: String,
    pub(super) driver: String,
    pub(super) protocol: &'static str,
    pub(super) connections: u32,
    /// Capacity: good responses per second in the closed loop before.
    pub(super) capacity_per_s: u32,
    /// The offered rate; null in a closed loop.
    pub(super) rate_per_s: Option<u32>,
    /// Good answers per second over all slices.
    pub(super) achieved_per_s: f64,
    pub(super) slices: u32,
    pub(super) slice_ns: u64,
    /// Good answers and failures.
    pub(super) requests: u64,
    pub(super) failures: u64,
    pub(super) errors: BTreeMap<String, u64>,
    /// Other failed checks of a round, by slice.
    pub(super) remarks: Vec<String>,
    pub(super) memory: Vec<Drift>,
    /// Whether every process grew by no more than 5 %.
    pub(super) flat: bool,
}

impl SoakResult {
    /// Adds a slice.
    pub(super) fn add(&mut self, number: u32, round: &Round) {
        let failed = round.failed_count.unwrap_or(0);
        self.requests += round.ok_count.unwrap_or(0) + failed;
        self.failures += failed;
        for (kind, times) in &round.errors {
            *self.errors.entry(kind.clone()).or_default() += times;
        }
        // A slice whose output cannot be read counts as a failure.
        if round.status == RoundStatus::Failed {
            self.failures += 1;
            self.requests += 1;
        }
        let reason = round.reason.as_ref().filter(|_| failed == 0);
        self.remarks
            .extend(reason.map(|reason| format!("slice {number}: {reason}")));
    }

    /// One line about the slices so far, and the memory read last of each process.
    #[expect(clippy::cast_precision_loss, reason = "counts and sizes stay far below 2^53")]
    pub(super) fn progress_line(&self, number: u32, readings: &[(String, Vec<u64>)]) -> String {
        let sizes = readings.iter().filter_map(|(name, list)| {
            let last = bytes(*list.last()? as f64);
            Some(format!("{} {last}", plain(name)))
        });
        format!(
            "slice {number} of {}: {} requests, {} failed, memory {}",
            self.slices,
            count(self.requests as f64),
            self.failures,
            sizes.collect::<Vec<_>>().join(", ")
        )
    }

    /// Prints it on standard output.
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    pub(super) fn print(&self) {
        let offered = self.rate_per_s.map_or_else(
            || "closed loop".into(),
            |rate| format!("open loop at {} requests/s", count(f64::from(rate))),
        );
        println!(
            "{} · {} by {}: {offered} over {} connections, {} slices of {}; capacity {} requests/s",
            self.server,
            self.operation,
            self.driver,
            self.connections,
            self.slices,
            Span(Duration::from_nanos(self.slice_ns)).as_flag(),
            count(f64::from(self.capacity_per_s))
        );
        println!(
            "{} requests, {} failed, {} good answers/s",
            count(self.requests as f64),
            count(self.failures as f64),
            count(self.achieved_per_s)
        );
        for (kind, times) in &self.errors {
            println!("  {times} × {}", plain(kind));
        }
        for remark in &self.remarks {
            println!("  {}", plain(remark));
        }
        for one in &self.memory {
            println!(
                "{}: {} in the first quarter, {} in the last ({:+.1} %)",
                plain(&one.process),
                bytes(one.first_quarter_bytes),
                bytes(one.last_quarter_bytes),
                one.drift_percent
            );
        }
        let verdict = match (self.flat, self.memory.is_empty()) {
            (true, _) => format!("flat: no process grew by more than {FLAT_PERCENT} %"),
            (false, true) => "memory could not be read often enough to say anything; make --length longer".into(),
            (false, false) => format!("not flat: a process grew by more than {FLAT_PERCENT} %"),
        };
        println!("{verdict}");
    }
}
