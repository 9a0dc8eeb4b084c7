//! Recorded runs and comparisons, made-up figures, and waiting, for tests of several rooms.

pub mod simulated;

use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use wirebench_record::comparison::Comparison;
use wirebench_record::counts::{CountStatus, Counts, Figure};
use wirebench_record::metric::Metric;
use wirebench_record::run::{CpuTime, ProcessUsage, Run, Variant};

/// The comparison `wirebench/cli/tests/golden/comparison/NAME.json`.
///
/// # Panics
/// When there is no such file, or it is not a comparison.
pub fn golden(name: &str) -> Comparison {
    read(&format!("wirebench/cli/tests/golden/comparison/{name}.json"))
}

/// The run `results/reference/run.json`.
///
/// # Panics
/// When it is not a run.
pub fn reference() -> Run {
    read("results/reference/run.json")
}

/// Whether a condition holds within this time; it is asked again every 5 ms.
pub fn holds_within(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !holds() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Counts of these figures alone.
pub fn counts(variant: Variant, figures: Vec<Figure>) -> Counts {
    Counts {
        figures,
        reason: None,
        ..Counts::without(variant, CountStatus::Ok, String::new())
    }
}

/// A figure; refused without a value.
pub fn figure(metric: Metric, value: Option<f64>, spread: f64) -> Figure {
    Figure {
        metric,
        value,
        spread: Some(spread),
        refused: value.is_none().then(|| "repetitions differ".to_owned()),
        by_layout: Vec::new(),
        points: Vec::new(),
    }
}

/// What a process used: `cpu` ns in user mode and as much in the system, and the same memory at the end as at its peak.
pub fn process(name: &str, cpu: u64, rss_bytes: Option<u64>) -> ProcessUsage {
    ProcessUsage {
        name: name.into(),
        cpu_ns: Some(CpuTime { user: cpu, system: cpu }),
        peak_rss_bytes: rss_bytes,
        rss_bytes,
        connections_seen: Some(7),
        ..ProcessUsage::default()
    }
}

/// Reads a JSON file of this repository.
fn read<T: DeserializeOwned>(path: &str) -> T {
    let file = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}
