//! The load of a series in one sentence.

use crate::report::format::{count, time};
use crate::report::pacing::{pace, stages};
use crate::site::shown::plural;
use wirebench_record::run::LoadRecord;

/// What was offered: `100,000 requests a round, 100 connections × 1 stream.`
#[expect(clippy::cast_precision_loss, reason = "counts and durations stay far below 2^53")]
pub(super) fn offered(load: &LoadRecord) -> String {
    if let Some(starts) = load.starts {
        return format!(
            "From exec to the first good answer; {} a round, every one a new process.",
            plural(starts as usize, "start")
        );
    }
    if let Some(samples) = load.samples {
        let samples = plural(samples as usize, "sample");
        return format!(
            "One iteration inside the program, without a server; {samples} a round, each the mean of many iterations."
        );
    }
    let amount = match (load.requests, load.duration_ns) {
        (Some(requests), _) => format!("{} requests", count(requests as f64)),
        (_, Some(ns)) => time(ns as f64),
        _ => stages(load).unwrap_or_else(|| "No load".into()),
    };
    let connections = plural(load.connections.unwrap_or(1) as usize, "connection");
    let streams = plural(load.streams.unwrap_or(1) as usize, "stream");
    let pace = pace(load).map_or(String::new(), |pace| format!(", {pace}"));
    format!("{amount} a round, {connections} × {streams}{pace}.")
}
