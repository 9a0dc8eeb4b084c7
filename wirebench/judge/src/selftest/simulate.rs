//! The model of a noisy machine with which the published error rates are computed.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::selftest::Source;
use wirebench_record::run::{
    CpuTime, Host, Latency, LoadRecord, Round, RoundStatus, Run, RunStatus, SCHEMA, Series, SeriesStatus, Variant,
    VariantRevision,
};

/// Good responses in a simulated round: enough for a 99th percentile.
const RESPONSES: u64 = 100_000;
/// Share of the machine's state that stays from one round to the next.
const STAYS: f64 = 0.7;
/// Share of the spread that both rounds of a pair have in common.
const SHARED: f64 = 0.2;
/// Probability of an outlier round, and the range of the share by which its performance falls.
const OUTLIER: (f64, f64, f64) = (0.05, 0.20, 0.40);
/// The machine gets slower by this many c in 100 rounds.
const DRIFT: f64 = 1.0;
/// The time of a pair: 0.8 s a slot.
const PAIR: Duration = Duration::from_millis(1600);

/// The logarithm of badness of each metric is the sum of a state that both rounds of a pair share (first-order
/// autoregressive), a slow drift, the noise of each round, and sometimes an outlier. The spread of a round is `c`.
#[derive(Debug, Clone)]
pub struct Model {
    scenarios: usize,
    /// Run-to-run coefficient of variation, as a share.
    c: f64,
    /// How much worse the candidate is in the first scenario, as a share.
    worse: f64,
    random: ChaCha8Rng,
    states: Vec<[f64; METRICS]>,
    rounds_done: f64,
}

const METRICS: usize = 4;

impl Model {
    /// `scenarios` scenarios of four metrics at spread `c`; the candidate is worse by `worse` in all metrics of the first one.
    pub fn new(scenarios: usize, c: f64, worse: f64, seed: u64) -> Self {
        Self {
            scenarios,
            c,
            worse,
            random: ChaCha8Rng::seed_from_u64(seed),
            states: vec![[0.0; METRICS]; scenarios],
            rounds_done: 0.0,
        }
    }

    fn normal(&mut self) -> f64 {
        // Open at both ends: a uniform of exactly 0 has no normal quantile.
        Normal::standard().inverse_cdf(self.random.random_range(1e-12..1.0 - 1e-12))
    }

    /// The logarithms of badness of one pair's four metrics: baseline and candidate.
    fn pair(&mut self, scenario: usize) -> [[f64; METRICS]; 2] {
        let own = self.c * (1.0 - SHARED).sqrt();
        let mut both = [[0.0; METRICS]; 2];
        for metric in 0..METRICS {
            let push = self.normal() * self.c * SHARED.sqrt() * (1.0 - STAYS * STAYS).sqrt();
            self.states[scenario][metric] = STAYS * self.states[scenario][metric] + push;
            let common = self.states[scenario][metric] + DRIFT * self.c * self.rounds_done / 100.0;
            for arm in &mut both {
                arm[metric] = common + own * self.normal();
            }
        }
        for arm in &mut both {
            if self.random.random_bool(OUTLIER.0) {
                let fall = self.random.random_range(OUTLIER.1..OUTLIER.2);
                arm.iter_mut().for_each(|value| *value -= (1.0_f64 - fall).ln());
            }
        }
        if scenario == 0 {
            both[1].iter_mut().for_each(|value| *value += self.worse.ln_1p());
        }
        both
    }
}

impl Source for Model {
    fn empty(&self) -> Run {
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
            series: (0..self.scenarios).map(empty_series).collect(),
            ..Run::default()
        }
    }

    fn rounds(&mut self, series: &[usize], stage: u32, first: u32, count: u32) -> Vec<(usize, Vec<Round>)> {
        let mut drawn: Vec<(usize, Vec<Round>)> = series.iter().map(|i| (*i, Vec::new())).collect();
        for number in first..first + count {
            for (scenario, rounds) in &mut drawn {
                let [baseline, candidate] = self.pair(*scenario);
                rounds.push(round(Variant::Baseline, number, stage, RESPONSES, baseline));
                rounds.push(round(Variant::Candidate, number, stage, RESPONSES, candidate));
            }
            self.rounds_done += 1.0;
        }
        drawn
    }

    fn pair_costs(&self) -> Vec<Duration> {
        vec![PAIR; self.scenarios]
    }
}

fn empty_series(place: usize) -> Series {
    let scenario = format!("scenario-{}", place + 1);
    Series {
        id: format!("{scenario}@simulated@simulated"),
        scenario,
        server: "simulated".into(),
        driver: "simulated".into(),
        protocol: "http".into(),
        load: LoadRecord {
            connections: Some(1),
            streams: Some(1),
            requests: Some(RESPONSES),
            ..LoadRecord::default()
        },
        digest: "000000000000".into(),
        status: SeriesStatus::Ok,
        ..Series::default()
    }
}

/// A good round whose CPU time per request, elapsed time, p50 and p99 are `e^bad` times 10 µs, 1 s, 1 ms and 5 ms.
#[expect(clippy::cast_sign_loss, reason = "all of them are positive and far below 2^53")]
pub fn round(variant: Variant, number: u32, stage: u32, ok_count: u64, bad: [f64; METRICS]) -> Round {
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

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::metric::Metric;
    use wirebench_stats::location::standard_deviation;

    #[test]
    fn rounds_spread_as_the_model_says() {
        let mut model = Model::new(1, 0.05, 0.0, 1);
        let drawn = model.rounds(&[0], 1, 0, 400);
        let logs: Vec<f64> = (drawn[0].1.iter())
            .map(|round| Metric::LatencyP50.of(round).unwrap().ln())
            .filter(|log| (log - 1e6_f64.ln()).abs() < 0.19)
            .collect();
        let sd = standard_deviation(&logs).unwrap();
        assert!((0.04..0.09).contains(&sd), "{sd}");
    }

    #[test]
    fn one_seed_gives_one_run() {
        let draw = |seed| Model::new(2, 0.03, 0.05, seed).rounds(&[0, 1], 1, 0, 3);
        assert_eq!(draw(4), draw(4));
        assert_ne!(draw(4), draw(5));
    }
}
