//! Tests of joining load pods' outputs: the result equals that of one list of all latencies.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use wirebench_declare::Project;
use wirebench_declare::plan::{self, Selection};

use super::*;

fn shape(good: &[u64], bad: usize, refused: u64, elapsed_ns: u64) -> Shape {
    Shape {
        elapsed_ns: Some(elapsed_ns),
        answers: BTreeMap::from([("200".to_owned(), good.to_vec()), ("500".to_owned(), vec![1; bad])]),
        histogram: BTreeMap::new(),
        errors: BTreeMap::from([("timeout".to_owned(), refused)]),
        dropped: None,
        cut_off: Some(2),
        protocol: None,
    }
}

/// One series of this repository over HTTP.
fn with_series<T>(then: impl FnOnce(&PlannedSeries) -> T) -> T {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let project = Project::read(&root).unwrap();
    let chosen = Selection {
        scenarios: vec!["weather-fixed-duration".into()],
        servers: vec!["http".into()],
        drivers: vec!["hey".into()],
        series: Vec::new(),
    };
    let series = plan::series(&project, &project.config.profiles["quick"], &chosen).unwrap();
    then(&series[0])
}

const CLOCK: Clock = Clock {
    offset_ns: -5,
    uncertainty_ns: 7,
};

fn joined(series: &PlannedSeries, shapes: Vec<Shape>, apart: u64) -> Gathered {
    let outputs = shapes.into_iter().enumerate();
    let outputs = outputs.map(|(after, shape)| (shape, CLOCK, after as u64 * apart));
    combined(series, outputs.collect())
}

#[test]
fn totals_are_the_sums_of_the_pods_and_quantiles_those_of_all_latencies() {
    with_series(|series| {
        let pods = prop::collection::vec(
            (prop::collection::vec(1u64..1_000_000, 1..200), 0usize..5, 0u64..5),
            1..6,
        );
        let mut runner = proptest::test_runner::TestRunner::default();
        runner
            .run(&pods, |pods| {
                let shapes = pods
                    .iter()
                    .map(|(good, bad, refused)| shape(good, *bad, *refused, 1_000_000))
                    .collect();
                let found = joined(series, shapes, 0);
                let mut all: Vec<u64> = pods.iter().flat_map(|(good, ..)| good.clone()).collect();
                all.sort_unstable();
                let good = &found.whole.answers["200"];
                prop_assert_eq!(
                    normalise::summary(good.clone()).unwrap().p99,
                    wirebench_stats::quantile::nearest_rank(&all, 990)
                );
                prop_assert_eq!(good.len(), all.len());
                prop_assert_eq!(found.pods.iter().map(|pod| pod.ok_count).sum::<u64>(), all.len() as u64);
                let failed: u64 = found.whole.errors.values().sum();
                prop_assert_eq!(found.pods.iter().map(|pod| pod.failed_count).sum::<u64>(), failed);
                prop_assert_eq!(found.whole.cut_off, Some(2 * pods.len() as u64));
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn pods_that_did_not_load_together_are_a_fault() {
    with_series(|series| {
        let shapes = || vec![shape(&[5], 0, 0, 1_000_000_000), shape(&[6], 0, 0, 900_000_000)];
        let combined = joined(series, shapes(), 99_000_000);
        assert_eq!(combined.fault, None);
        assert_eq!(combined.whole.elapsed_ns, Some(1_000_000_000));
        assert_eq!(combined.pods[1].clock_offset_ns, -5);
        let apart = joined(series, shapes(), 101_000_000);
        assert_eq!(
            apart.fault.as_deref(),
            Some("load pods began 101 ms apart in a load of 1000 ms")
        );
    });
}

#[test]
fn each_protocol_of_the_pods_is_named_once() {
    with_series(|series| {
        let of = |protocol: &str| Shape {
            protocol: Some(protocol.to_owned()),
            ..shape(&[5], 0, 0, 1)
        };
        for protocols in [["http", "http", "h2c"], ["http", "h2c", "http"]] {
            let found = joined(series, protocols.map(of).to_vec(), 0);
            assert_eq!(found.whole.protocol.as_deref(), Some("h2c and http"));
        }
    });
}
