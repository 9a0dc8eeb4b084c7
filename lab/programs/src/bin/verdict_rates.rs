//! Prints how often a verdict is wrong on a model of a noisy machine: the simulated figures of docs/VERDICT.md.
//!
//! Usage: `lab/scripts/rates.sh`. Each line is one row: comparisons, how many were flagged, the rate with its exact 95 % interval.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF as _, Normal};
use wirebench_judge::compare::Rules;
use wirebench_judge::selftest::{Replay, Tally, Totals};
use wirebench_record::run::{Round, Run, Variant};
use wirebench_testing::simulated::{empty_run, round};

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
/// The time of a round.
const SLOT: Duration = Duration::from_millis(800);
/// Pairs of each scenario: more than the budget allows a comparison.
const PAIRS: u32 = 400;
const METRICS: usize = 4;

fn main() -> anyhow::Result<()> {
    for c in [1.0, 3.0, 5.0, 8.0] {
        print(&totals(3, c, 0.0, 2000)?)?;
    }
    for slower in [2.0, 3.0, 5.0, 10.0] {
        print(&totals(3, 3.0, slower, 2000)?)?;
    }
    for slower in [0.0, 5.0] {
        print(&totals(12, 3.0, slower, 500)?)?;
    }
    Ok(())
}

fn print(totals: &Totals) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string(totals)?);
    Ok(())
}

/// The rates of this many comparisons; `c` and `slower` are percent.
fn totals(scenarios: usize, c: f64, slower: f64, comparisons: u64) -> anyhow::Result<Totals> {
    let rules = Rules::default();
    let mut tally = Tally::default();
    for number in 0..comparisons {
        let run = Model::new(scenarios, c / 100.0, slower / 100.0, 1 << 32 | number).run();
        let mut replay = Replay::new(&run, rules.compare.rounds, 0.0, number).map_err(anyhow::Error::msg)?;
        tally.add(&mut replay, &rules).map_err(anyhow::Error::msg)?;
    }
    let source = format!("model, c = {c} %, {scenarios} scenarios");
    Ok(tally.totals(&source, (slower > 0.0).then_some(slower)))
}

/// The logarithm of badness of each metric is the sum of a state that both rounds of a pair share (first-order
/// autoregressive), a slow drift, the noise of each round, and sometimes an outlier. The spread of a round is `c`.
struct Model {
    scenarios: usize,
    /// Run-to-run coefficient of variation, as a share.
    c: f64,
    /// How much worse the candidate is in the first scenario, as a share.
    worse: f64,
    random: ChaCha8Rng,
    states: Vec<[f64; METRICS]>,
}

impl Model {
    /// `scenarios` scenarios of four metrics at spread `c`; the candidate is worse by `worse` in all metrics of the first one.
    fn new(scenarios: usize, c: f64, worse: f64, seed: u64) -> Self {
        Self {
            scenarios,
            c,
            worse,
            random: ChaCha8Rng::seed_from_u64(seed),
            states: vec![[0.0; METRICS]; scenarios],
        }
    }

    fn normal(&mut self) -> f64 {
        // Open at both ends: a uniform of exactly 0 has no normal quantile.
        Normal::standard().inverse_cdf(self.random.random_range(1e-12..1.0 - 1e-12))
    }

    /// The logarithms of badness of one pair's four metrics: baseline and candidate.
    fn pair(&mut self, scenario: usize, number: u32) -> [[f64; METRICS]; 2] {
        let own = self.c * (1.0 - SHARED).sqrt();
        let mut both = [[0.0; METRICS]; 2];
        for metric in 0..METRICS {
            let push = self.normal() * self.c * SHARED.sqrt() * (1.0 - STAYS * STAYS).sqrt();
            self.states[scenario][metric] = STAYS * self.states[scenario][metric] + push;
            let common = self.states[scenario][metric] + DRIFT * self.c * f64::from(number) / 100.0;
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

    /// A recorded run of the model.
    fn run(mut self) -> Run {
        let mut run = empty_run(self.scenarios);
        for number in 0..PAIRS {
            for (scenario, series) in run.series.iter_mut().enumerate() {
                let both = self.pair(scenario, number);
                for (variant, bad) in [Variant::Baseline, Variant::Candidate].into_iter().zip(both) {
                    series.rounds.push(Round {
                        took_ns: u64::try_from(SLOT.as_nanos()).ok(),
                        ..round(variant, number, 1, RESPONSES, bad)
                    });
                }
            }
        }
        if self.worse > 0.0 {
            // A run without it is taken for equal code, and lot decides which of its sides is the baseline.
            run.series[0].injected_burn_ns = Some(1);
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::metric::Metric;
    use wirebench_stats::location::standard_deviation;

    #[test]
    fn the_model_flags_equal_code_in_at_most_one_comparison_in_a_hundred() {
        let equal = totals(3, 3.0, 0.0, 2000).unwrap();
        assert_eq!(equal.comparisons, 2000);
        assert!(equal.flagged + equal.improved <= 20, "{equal:?}");
        assert!(equal.rate_high < 0.02, "{equal:?}");
    }

    /// The published power of the rule at c = 3 %: within three points of it.
    fn assert_published(power: &[(f64, f64)]) {
        for (slower, published) in power {
            let found = totals(3, 3.0, *slower, 1000).unwrap();
            assert!((found.rate - published).abs() <= 0.03, "{slower}: {found:?}");
        }
    }

    #[test]
    fn the_model_finds_slower_code_as_often_as_published() {
        assert_published(&[(3.0, 0.54), (5.0, 0.985)]);
    }

    #[test]
    #[ignore = "nightly"]
    fn the_model_finds_slightly_and_much_slower_code_as_often_as_published() {
        assert_published(&[(2.0, 0.14), (10.0, 0.998)]);
    }

    #[test]
    fn one_seed_gives_one_answer() {
        assert_eq!(totals(3, 5.0, 5.0, 50).unwrap(), totals(3, 5.0, 5.0, 50).unwrap());
    }

    #[test]
    fn rounds_spread_as_the_model_says() {
        let run = Model::new(1, 0.05, 0.0, 1).run();
        let logs: Vec<f64> = (run.series[0].rounds.iter())
            .map(|round| Metric::LatencyP50.of(round).unwrap().ln())
            .filter(|log| (log - 1e6_f64.ln()).abs() < 0.19)
            .collect();
        let sd = standard_deviation(&logs).unwrap();
        assert!((0.04..0.09).contains(&sd), "{sd}");
    }

    #[test]
    fn one_seed_gives_one_run() {
        let draw = |seed| Model::new(2, 0.03, 0.05, seed).run().series;
        assert_eq!(draw(4), draw(4));
        assert_ne!(draw(4), draw(5));
    }
}
