//! Hand-made and random records, judged and rendered: every number, sentence and verdict of a row must agree.

mod agreement;
mod second_stage;
mod verdicts;

use std::time::Duration;

use proptest::prelude::{Just, Strategy, TestCaseError, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

use wirebench_declare::plan::warm_up::LONGEST;
use wirebench_declare::span::nanos;
use wirebench_github::admit::{ComparedCommits, checked};
use wirebench_judge::compare::{self, Rules};
use wirebench_judge::summary::comparison::{Findings, RowStatus, contradiction};
use wirebench_present::report::comparison::rows::effect;
use wirebench_present::report::comparison::{headline, markdown, reasons, terminal};
use wirebench_present::report::escape::prose;
use wirebench_present::report::format::{plain, size};
use wirebench_record::comparison::{ComparedMetric, Comparison, Verdict};
use wirebench_record::counts::Counts;
use wirebench_record::metric::{Better, Metric};
use wirebench_record::reason::{MetricReason, NoSecondStage, Note, SeriesReason};
use wirebench_record::run::{Bound, CpuTime, LoadRecord, Round, RoundStatus, Run, RunStatus, Series, Variant};
use wirebench_testing::figure;
use wirebench_testing::simulated;

/// A run without rounds, and its one series.
fn empty() -> (Run, Series) {
    let mut run = simulated::empty_run(1);
    let series = run.series.remove(0);
    (run, series)
}

fn judged(run: &Run) -> Comparison {
    compare::paired(run, &Rules::default()).unwrap()
}

fn needs_second_stage(run: &Run) -> bool {
    second_stage(run, 3600).is_some()
}

/// A second stage: the places of its series in the run, the number of its rounds, and why.
#[derive(Debug, PartialEq)]
struct SecondStage {
    series: Vec<usize>,
    rounds: u32,
    why: String,
}

/// The second stage of a run in which a pair takes one second and the given number of seconds is left.
fn second_stage(run: &Run, left: u64) -> Option<SecondStage> {
    let rules = Rules::default();
    let mut run = run.clone();
    for (place, series) in run.series.iter_mut().enumerate() {
        series.id = place.to_string();
    }
    let second = Duration::from_secs(1);
    let pairs = vec![second; run.series.len()];
    let stage = compare::next_stage(&run, &rules, second * u32::try_from(left).unwrap(), &pairs).stage?;
    Some(SecondStage {
        series: stage.series.iter().map(|id| id.parse().unwrap()).collect(),
        rounds: stage.rounds,
        why: stage.why,
    })
}

/// One round: the logarithms by which CPU, elapsed time, p50 and p99 exceed 10 µs, 1 s, 1 ms and 5 ms.
type Bad = [f64; 4];

fn round(variant: Variant, number: u32, stage: u32, bad: Bad, bound: Option<Bound>) -> Round {
    Round {
        bound,
        ..simulated::round(variant, number, stage, 20_000, bad)
    }
}

/// A run of one timed series: `first` pairs in stage 1 and `second` in stage 2; `of` gives the values of a pair by its
/// number.
fn timed(first: u32, second: u32, of: impl Fn(u32) -> (Bad, Bad), bound: [Option<Bound>; 2]) -> Run {
    let (mut run, mut series) = empty();
    for number in 0..first + second {
        let stage = if number < first { 1 } else { 2 };
        let (base, head) = of(number);
        series
            .rounds
            .push(round(Variant::Baseline, number, stage, base, bound[0]));
        series
            .rounds
            .push(round(Variant::Candidate, number, stage, head, bound[1]));
    }
    run.rounds_planned = first;
    run.series.push(series);
    run
}

/// A little noise that differs from round to round.
fn noise(number: u32) -> f64 {
    f64::from(number * 7 % 11) * 0.001
}

/// Equal CPU; all other metrics slower by this logarithm.
fn waits(by: f64) -> impl Fn(u32) -> (Bad, Bad) {
    move |number| {
        let (one, other) = (noise(number), noise(number + 3));
        ([one; 4], [other, other + by, other + by, other + by])
    }
}

fn metric(comparison: &Comparison, metric: Metric) -> &ComparedMetric {
    let mut all = comparison.series.iter().flat_map(|series| &series.metrics);
    all.find(|one| one.metric == metric).unwrap()
}

fn counts(variant: Variant, figures: &[(Metric, Option<f64>, f64)], calls: &[(&str, f64)]) -> Counts {
    let figures = figures
        .iter()
        .map(|(metric, value, spread)| figure(*metric, *value, *spread));
    Counts {
        syscalls: (calls.iter())
            .map(|(name, calls)| ((*name).to_owned(), *calls))
            .collect(),
        ..wirebench_testing::counts(variant, figures.collect())
    }
}

fn counted(base: Counts, head: Counts) -> Series {
    Series {
        id: "count-ask@simulated@hey".into(),
        scenario: "count-ask".into(),
        load: LoadRecord {
            counted: Some(600),
            ..LoadRecord::default()
        },
        counts: vec![base, head],
        ..empty().1
    }
}
