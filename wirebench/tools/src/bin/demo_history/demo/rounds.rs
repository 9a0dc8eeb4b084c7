//! Rounds of a timed series.

use std::collections::BTreeMap;

use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, CpuTime, Latency, Round, RoundStatus, SearchStep, Variant};

use super::chance::Chance;
use super::events::level;
use super::levels::{Kind, Load};
use super::mishaps::noise_factor;
use super::months::slowness;
use super::pushes::Push;
use super::series::{CAPACITY, Made, OBJECTIVE_NS};

/// The noise of a single round as a multiple of that of the median over all rounds.
const ROUND_NOISE: f64 = 1.3;

/// The place of a round in its run.
pub(super) struct Slot {
    pub(super) variant: Variant,
    /// The push whose code it measures.
    pub(super) code: usize,
    pub(super) number: u32,
    pub(super) position: usize,
    pub(super) stage: u32,
}

/// What the rounds of a pair have in common.
pub(super) struct Pair<'a> {
    pub(super) made: &'a Made,
    pub(super) push: &'a Push,
    /// The effect of the moment on times, as a factor.
    pub(super) moment: f64,
}

impl Pair<'_> {
    /// Makes up a round.
    pub(super) fn round(&self, slot: &Slot, chance: &mut Chance) -> Round {
        let mut of = |metric: Metric, base: f64| {
            let noise = self.made.noise(metric) * ROUND_NOISE * noise_factor(self.push.place);
            let slow = slowness(self.made, metric, self.push);
            let moment = match metric {
                Metric::PeakRss => 1.0,
                Metric::Throughput => 1.0 / self.moment,
                _ => self.moment,
            };
            base * level(&self.made.id(), metric, slot.code) * slow * moment * chance.factor(noise)
        };
        let round = match &self.made.kind {
            Kind::Load(load) => {
                let [throughput, p50, p99, cpu, rss, driver] = [
                    of(Metric::Throughput, load.throughput),
                    of(Metric::LatencyP50, load.p50_ns),
                    of(Metric::LatencyP99, load.p99_ns),
                    of(Metric::ServerCpu, 1.0),
                    of(Metric::PeakRss, load.rss_bytes),
                    of(Metric::DriverCpu, 1.0),
                ];
                let values = Values {
                    throughput,
                    p50,
                    p99,
                    server: load.server_ns.map(|ns| ns * cpu),
                    driver: load.driver_ns.map(|ns| ns * driver),
                    rss,
                };
                self.loaded(load, &values, chance)
            }
            Kind::Starts(p50) => starts(of(Metric::LatencyP50, *p50), chance),
            Kind::Counted(_) => Round::unmeasured(slot.variant, slot.number, slot.position, slot.stage),
        };
        Round {
            variant: slot.variant,
            round: slot.number,
            position: slot.position,
            stage: slot.stage,
            ..round
        }
    }

    fn loaded(&self, load: &Load, values: &Values, chance: &mut Chance) -> Round {
        let planned = self.made.load(self.push.place);
        let ok = planned.requests.unwrap_or_else(|| whole(values.throughput));
        let answers = real(ok);
        let elapsed = answers / values.throughput * 1e9;
        let workers = f64::from(load.connections * load.streams);
        let in_flight = load.in_flight * (1.0 + 0.003 * chance.normal());
        let p99 = values.p99.max(1.3 * values.p50);
        let between = |share: f64| whole(values.p50 + (p99 - values.p50) * share);
        let p999 = p99 * (1.5 + 0.4 * chance.share());
        let busy = |ns: [f64; 2]| (ns[0] + ns[1]) * values.throughput / 1e9 * 1000.0;
        let (server_busy, driver_busy) = (busy(values.server), busy(values.driver));
        let bound = match (driver_busy, server_busy) {
            (driver, _) if driver >= 850.0 => Bound::Client,
            (_, server) if server > 900.0 => Bound::Server,
            _ => Bound::Neither,
        };
        let time = |ns: [f64; 2]| CpuTime {
            user: whole(ns[0] * answers),
            system: whole(ns[1] * answers),
        };
        Round {
            status: RoundStatus::Ok,
            elapsed_ns: Some(whole(elapsed)),
            ok_count: Some(ok),
            failed_count: Some(0),
            errors: BTreeMap::new(),
            latency_ns: Some(Latency {
                min: whole(values.p50 * (0.05 + 0.1 * chance.share())),
                mean: whole(workers / values.throughput * in_flight * 1e9),
                p50: whole(values.p50),
                p90: between(0.42),
                p95: between(0.63),
                p99: whole(p99),
                p999: whole(p999),
                max: whole(p999 * (1.3 + 0.7 * chance.share())),
            }),
            in_flight_permille: Some(permille(in_flight * 1000.0)),
            server_cpu_ns: Some(time(values.server)),
            driver_cpu_ns: Some(time(values.driver)),
            server_busy_permille: Some(permille(server_busy.min(998.0))),
            driver_busy_permille: Some(permille(driver_busy.min(997.0))),
            bound: Some(bound),
            server_peak_rss_bytes: Some(whole(values.rss / 4096.0) * 4096),
            connections_seen: Some(load.connections),
            host_steal_ns: Some(u64::from(chance.below(4)) * 1_000_000),
            payload_bytes: Some(if self.made.server == "http" { 70 } else { 25 }),
            server_ready_ns: Some(whole(3.2e6 * chance.factor(0.2))),
            search: if self.made.scenario == CAPACITY {
                search(values, chance)
            } else {
                Vec::new()
            },
            ..unmeasured()
        }
    }
}

/// The rates that a search tries: the nearer to the capacity, the higher the p99 latency.
fn search(values: &Values, chance: &mut Chance) -> Vec<SearchStep> {
    let step = |share: f64| {
        let offered = values.throughput * share;
        let p99 = whole(0.12 * values.p99 / (1.02 - share.min(1.0)) * chance.factor(0.04));
        let achieved = offered.min(values.throughput * 0.985);
        let passed = p99 <= OBJECTIVE_NS && achieved > 0.97 * offered;
        SearchStep {
            rate_per_s: rate(offered),
            achieved_per_s: Some(rate(achieved)),
            p99_ns: Some(p99),
            passed,
            why: (!passed).then(|| "p99 above the objective, or too few good answers".into()),
        }
    };
    [0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.97, 1.05].map(step).into()
}

fn rate(value: f64) -> u32 {
    u32::try_from(whole(value)).unwrap_or(u32::MAX)
}

/// The made-up values of a round of load.
struct Values {
    throughput: f64,
    p50: f64,
    p99: f64,
    server: [f64; 2],
    driver: [f64; 2],
    rss: f64,
}

fn starts(p50: f64, chance: &mut Chance) -> Round {
    let slowest = p50 * (1.08 + 0.3 * chance.share());
    Round {
        status: RoundStatus::Ok,
        ok_count: Some(10),
        failed_count: Some(0),
        latency_ns: Some(Latency {
            min: whole(p50 * 0.93),
            mean: whole(p50 * 1.01),
            p50: whole(p50),
            p90: whole(p50 * 1.05),
            p95: whole(slowest),
            p99: whole(slowest),
            p999: whole(slowest),
            max: whole(slowest),
        }),
        driver_cpu_ns: Some(CpuTime {
            user: 25_000_000,
            system: 31_000_000,
        }),
        host_steal_ns: Some(0),
        server_ready_ns: Some(whole(p50 * 0.8)),
        ..unmeasured()
    }
}

const fn unmeasured() -> Round {
    Round::unmeasured(Variant::Candidate, 0, 0, 1)
}

/// Rounds a value that is never negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "far from the limits"
)]
fn whole(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

fn permille(value: f64) -> u32 {
    u32::try_from(whole(value)).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
const fn real(count: u64) -> f64 {
    count as f64
}
