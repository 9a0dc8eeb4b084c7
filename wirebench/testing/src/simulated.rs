//! A run without rounds, and good rounds of chosen values.

use wirebench_record::run::{
    CpuTime, Host, Latency, LoadRecord, Round, RoundStatus, Run, RunStatus, SCHEMA, Series, SeriesStatus, Variant,
    VariantRevision,
};

/// A run of that many scenarios without rounds.
pub fn empty_run(scenarios: usize) -> Run {
    let revision = |variant| VariantRevision {
        variant,
        name: Some("simulated".into()),
        ..VariantRevision::default()
    };
    Run {
        schema: SCHEMA.into(),
        id: "simulated".into(),
        trigger: "selftest".into(),
        profile: "simulated".into(),
        status: RunStatus::Complete,
        host: Host {
            cpu_count: 1,
            kernel: "simulated".into(),
            fingerprint: "000000000000".into(),
            ..Host::default()
        },
        variants: vec![revision(Variant::Baseline), revision(Variant::Candidate)],
        series: (1..=scenarios).map(empty_series).collect(),
        ..Run::default()
    }
}

fn empty_series(number: usize) -> Series {
    let scenario = format!("scenario-{number}");
    Series {
        id: format!("{scenario}@simulated@simulated"),
        scenario,
        server: "simulated".into(),
        driver: "simulated".into(),
        protocol: "http".into(),
        load: LoadRecord {
            connections: Some(1),
            streams: Some(1),
            requests: Some(100_000),
            ..LoadRecord::default()
        },
        digest: "000000000000".into(),
        status: SeriesStatus::Ok,
        ..Series::default()
    }
}

/// A good round whose CPU time per request, elapsed time, p50 and p99 are `e^bad` times 10 µs, 1 s, 1 ms and 5 ms.
#[expect(clippy::cast_sign_loss, reason = "all of them are positive and far below 2^53")]
pub fn round(variant: Variant, number: u32, stage: u32, ok_count: u64, bad: [f64; 4]) -> Round {
    let ns = |base: f64, bad: f64| (base * bad.exp()) as u64;
    let (p50, p99) = (ns(1e6, bad[2]), ns(5e6, bad[3]));
    Round {
        status: RoundStatus::Ok,
        elapsed_ns: Some(ns(1e9, bad[1])),
        ok_count: Some(ok_count),
        failed_count: Some(0),
        latency_ns: Some(Latency {
            min: 1,
            mean: p50,
            p50,
            p90: p99,
            p95: p99,
            p99,
            p999: p99,
            max: p99,
        }),
        server_cpu_ns: Some(CpuTime {
            user: ns(10_000.0 * ok_count as f64, bad[0]),
            system: 0,
        }),
        ..Round::unmeasured(variant, number, number as usize, stage)
    }
}
