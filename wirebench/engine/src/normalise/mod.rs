//! Turns raw driver output into a round of the record: runs the driver's jq filter and applies every check.

mod check;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) use check::whole;
use serde::Deserialize;

use crate::measure::drive::Measured;
use crate::measure::slot::files;
use wirebench_declare::args::{Value, Values, expand};
use wirebench_declare::driver::Driver;
use wirebench_declare::plan::{PlannedSeries, Slot};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::Operation;
use wirebench_record::check::FailedCheck;
use wirebench_record::run::{Bound, Latency, Round, RoundStatus};
use wirebench_stats::quantile::nearest_rank;

/// The program that runs the drivers' filters.
#[derive(Debug, Clone)]
pub struct Jq {
    /// The jq executable.
    pub program: PathBuf,
}

/// A failed round: it has no values, only the reason.
pub fn failed_round(slot: Slot, reason: String) -> Round {
    Round {
        reason: Some(reason),
        ..Round::unmeasured(slot.variant, slot.round, slot.position, slot.stage)
    }
}

/// Reads a slot's raw output and makes its round; a round that fails a check is kept, marked invalid with the reason.
pub fn round(jq: &Jq, series: &PlannedSeries, slot: Slot, measured: &Measured, folder: &Path) -> Round {
    match read(jq, series.driver, &folder.join(files::STDOUT), &folder.join(files::RAW)) {
        Ok(shape) => checked(series, slot, measured, shape),
        Err(error) => failed_round(slot, error),
    }
}

/// Makes a round from the output of a load and what was measured during it. A round that fails a check is invalid, with the
/// reason.
pub fn checked(series: &PlannedSeries, slot: Slot, measured: &Measured, shape: Shape) -> Round {
    let (good, errors) = good_and_bad(shape.answers, shape.errors, &good_status(series));
    let mut round = Round {
        variant: slot.variant,
        round: slot.round,
        position: slot.position,
        stage: slot.stage,
        status: RoundStatus::Ok,
        elapsed_ns: shape.elapsed_ns.filter(|ns| *ns > 0),
        ok_count: Some(good.len() as u64),
        failed_count: Some(errors.values().sum()),
        dropped_count: shape.dropped,
        cut_off_count: shape.cut_off,
        errors,
        latency_ns: summary(good),
        ..measured.round.clone()
    };
    let busy = round.server_busy_permille.zip(round.driver_busy_permille);
    round.bound = busy.map(limited_by);
    round.in_flight_permille = check::in_flight_permille(&series.load, series.mode, &round);
    let spoken = shape.protocol.as_deref();
    let mut failed = check::failed(&series.load, series.mode, series.protocol, spoken, &round);
    let found = measured.wrong_afterwards.clone();
    failed.extend(found.map(|found| FailedCheck::WrongAfterwards { found }));
    round.refuse(failed);
    round
}

/// The status, as text, of a good response of this series.
pub fn good_status(series: &PlannedSeries) -> String {
    if let Some(good) = &series.mode.good {
        return good.clone();
    }
    match (series.protocol, series.operation) {
        (Protocol::Process, _) => "0".into(),
        // Load generators for gRPC-web are HTTP clients: they report the HTTP status.
        (Protocol::GrpcWeb, Operation::Grpc(_)) => "200".into(),
        (_, Operation::Http(http)) => http.status.to_string(),
        (_, Operation::Grpc(_)) => "OK".into(),
        (_, Operation::Bench(_)) => "0".into(),
    }
}

/// The latencies of good responses, which have the status `good`, ns, and the number of every other outcome by its kind.
pub fn good_and_bad(
    mut answers: BTreeMap<String, Vec<u64>>,
    mut errors: BTreeMap<String, u64>,
    good: &str,
) -> (Vec<u64>, BTreeMap<String, u64>) {
    let latencies = answers.remove(good).unwrap_or_default();
    for (status, refused) in answers.into_iter().filter(|(_, list)| !list.is_empty()) {
        *errors.entry(format!("status {status}")).or_default() += refused.len() as u64;
    }
    errors.retain(|_, count| *count > 0);
    (latencies, errors)
}

/// Quantiles of the latencies, ns; `None` if there are no latencies.
pub fn summary(mut latencies: Vec<u64>) -> Option<Latency> {
    latencies.sort_unstable();
    let (min, max) = (*latencies.first()?, *latencies.last()?);
    let sum: u128 = latencies.iter().map(|ns| u128::from(*ns)).sum();
    let count = latencies.len() as u128;
    let mean = u64::try_from((sum + count / 2) / count).unwrap_or(max);
    let rank = |permille| nearest_rank(&latencies, permille);
    Some(Latency {
        min,
        mean,
        p50: rank(500),
        p90: rank(900),
        p95: rank(950),
        p99: rank(990),
        p999: rank(999),
        max,
    })
}

fn limited_by((server_permille, driver_permille): (u32, u32)) -> Bound {
    if driver_permille >= Bound::CLIENT_FROM_PERMILLE {
        Bound::Client
    } else if server_permille > Bound::SERVER_ABOVE_PERMILLE {
        Bound::Server
    } else {
        Bound::Neither
    }
}

/// What `normalise.jq` writes: see docs/FORMAT.md.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Wall time of the load.
    pub elapsed_ns: Option<u64>,
    /// The latency, ns, of every request with a response, by status.
    pub answers: BTreeMap<String, Vec<u64>>,
    /// The same for a driver that keeps no list: pairs of a latency, ns, and the number of responses that took it, by
    /// status.
    #[serde(default)]
    pub histogram: BTreeMap<String, Vec<(u64, u64)>>,
    /// Requests without a response, by reason.
    pub errors: BTreeMap<String, u64>,
    /// Requests that the driver should have started and did not (open loop), if it reports them.
    #[serde(default)]
    pub dropped: Option<u64>,
    /// Requests that the driver cut off itself when its time was over, when it reports them.
    #[serde(default)]
    pub cut_off: Option<u64>,
    /// The protocol that the driver reports, if it does: `http`, `h2c`, `grpc`.
    #[serde(default)]
    pub protocol: Option<String>,
}

/// The most responses of a histogram: ten times as many as a round may have.
const MAX_RESPONSES: u64 = 10_000_000;

impl Shape {
    /// Expands the histograms: adds each latency to the list as often as it was counted.
    ///
    /// # Errors
    /// When a status has both a list and a histogram, or the counts exceed [`MAX_RESPONSES`].
    fn expand_histograms(mut self) -> Result<Self, String> {
        for (status, pairs) in std::mem::take(&mut self.histogram) {
            let checked_sum =
                |sum: u64, (_, count): &(u64, u64)| sum.checked_add(*count).filter(|sum| *sum <= MAX_RESPONSES);
            if pairs.iter().try_fold(0, checked_sum).is_none() {
                return Err(format!("histogram {status} counts more than {MAX_RESPONSES} answers"));
            }
            let spread = pairs
                .iter()
                .flat_map(|(ns, count)| (0..*count).map(move |_| *ns))
                .collect();
            if self.answers.insert(status.clone(), spread).is_some() {
                return Err(format!("status {status} has both answers and a histogram"));
            }
        }
        Ok(self)
    }
}

/// Converts one driver run's output to the common shape.
///
/// # Errors
/// When jq cannot be started, the filter refuses the output, or writes another shape.
pub fn read(jq: &Jq, driver: &Driver, stdout: &Path, raw: &Path) -> Result<Shape, String> {
    let name = &driver.name;
    let mut values = Values::from([("stdout", Value::One(stdout.to_string_lossy().into_owned()))]);
    if raw.exists() {
        values.insert("raw", Value::One(raw.to_string_lossy().into_owned()));
    }
    let args = expand(&driver.normalise, &values)
        .map_err(|error| format!("drivers/{name}/driver.toml: normalise.args: {error}"))?;
    let output = wirebench_spawn::command(&jq.program)
        .args(["--compact-output", "-L"])
        .arg(&driver.library)
        .arg("--from-file")
        .arg(driver.folder.join("normalise.jq"))
        .args(args)
        .output()
        .map_err(|error| format!("{}: cannot be started: {error}; reinstall jq", jq.program.display()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
        return Err(format!("drivers/{name}/normalise.jq: {message}"));
    }
    let wrong_shape = |what: String| {
        format!(
            "drivers/{name}/normalise.jq wrote something else than the common shape: {what}; docs/FORMAT.md describes it"
        )
    };
    let shape: Shape = serde_json::from_slice(&output.stdout).map_err(|error| wrong_shape(error.to_string()))?;
    shape.expand_histograms().map_err(wrong_shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_summary_is_ordered(latencies in prop::collection::vec(0u64..10_000_000_000, 1..500)) {
            let l = summary(latencies).unwrap();
            let row = [l.min, l.p50, l.p90, l.p95, l.p99, l.p999, l.max];
            prop_assert!(row.is_sorted());
            prop_assert!(l.min <= l.mean && l.mean <= l.max);
        }

        #[test]
        fn nothing_is_lost_when_answers_are_sorted_out(
            ok in prop::collection::vec(any::<u64>(), 0..50), bad in 0usize..50, refused in 0u64..50
        ) {
            let answers = BTreeMap::from([("200".to_owned(), ok.clone()), ("500".to_owned(), vec![1; bad])]);
            let (good, errors) = good_and_bad(answers, BTreeMap::from([("refused".to_owned(), refused)]), "200");
            prop_assert_eq!(good, ok);
            prop_assert_eq!(errors.values().sum::<u64>(), bad as u64 + refused);
            prop_assert!(errors.values().all(|count| *count > 0));
        }
    }

    #[test]
    fn no_latencies_have_no_summary() {
        assert_eq!(summary(Vec::new()), None);
    }

    #[test]
    fn the_side_that_is_busy_bounds_the_throughput() {
        assert_eq!(limited_by((950, 400)), Bound::Server);
        assert_eq!(limited_by((950, 850)), Bound::Client);
        assert_eq!(limited_by((400, 400)), Bound::Neither);
    }
}

#[cfg(test)]
mod shape_tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(json: &str) -> Result<Shape, String> {
        serde_json::from_str::<Shape>(json)
            .map_err(|error| error.to_string())?
            .expand_histograms()
    }

    proptest! {
        #[test]
        fn a_histogram_is_the_list_it_was_counted_from(mut latencies in prop::collection::vec(0u64..40, 1..200)) {
            let mut counted = BTreeMap::new();
            for ns in &latencies {
                *counted.entry(*ns).or_insert(0u64) += 1;
            }
            let pairs: Vec<(u64, u64)> = counted.into_iter().collect();
            let json = serde_json::json!({"elapsed_ns": 1, "answers": {}, "histogram": {"200": pairs}, "errors": {}});
            latencies.sort_unstable();
            let spread = shape(&json.to_string()).unwrap();
            prop_assert_eq!(&spread.answers["200"], &latencies);
            prop_assert!(spread.histogram.is_empty());
        }
    }

    #[test]
    fn counts_beyond_belief_and_a_status_said_twice_are_refused() {
        let json = |answers: &str, count: u64| {
            format!(r#"{{"elapsed_ns":1,"answers":{answers},"histogram":{{"200":[[5,1],[7,{count}]]}},"errors":{{}}}}"#)
        };
        assert!(shape(&json("{}", 2)).is_ok());
        assert!(shape(&json("{}", u64::MAX)).unwrap_err().contains("counts more than"));
        assert!(shape(&json(r#"{"200":[1]}"#, 2)).unwrap_err().contains("both"));
    }
}
