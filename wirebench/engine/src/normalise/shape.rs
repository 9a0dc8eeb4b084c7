//! The common shape of every driver's output, and the call of jq that produces it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::normalise::Jq;
use wirebench_declare::args::{Value, Values, expand};
use wirebench_declare::driver::Driver;

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
