//! Joins the outputs of a round's load pods into one: counts are summed, quantiles are those of all latencies together.

use std::collections::BTreeSet;
use std::path::PathBuf;

use wirebench_declare::plan::PlannedSeries;
use wirebench_engine::measure::clock::Clock;
use wirebench_engine::measure::slot::files;
use wirebench_engine::normalise::{self, Jq, Shape};
use wirebench_record::run::LoadPod;

/// The output of one load pod.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// The folder with the driver's output.
    pub(crate) folder: PathBuf,
    pub(crate) clock: Clock,
    /// When its load began, by this machine's clock, ns since 1970.
    pub(crate) began: i64,
}

/// The load of a round: of all pods together, and of each.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) whole: Shape,
    pub(crate) pods: Vec<LoadPod>,
    /// A fault of the pods together, as a part of a sentence.
    pub(crate) fault: Option<String>,
}

/// Load pods that begin further apart than this share of the load's length did not load at the same time.
const APART_PERMILLE: u64 = 100;

/// Reads the outputs of all pods, and joins them.
///
/// # Errors
/// When an output cannot be converted.
pub(crate) fn gather(jq: &Jq, series: &PlannedSeries, outputs: &[Output]) -> Result<Gathered, String> {
    let first = outputs.iter().map(|output| output.began).min().unwrap_or(0);
    let mut pods = Vec::new();
    for Output { folder, clock, began } in outputs {
        let shape = normalise::read(jq, series.driver, &folder.join(files::STDOUT), &folder.join(files::RAW))?;
        pods.push((shape, *clock, u64::try_from(began - first).unwrap_or(0)));
    }
    Ok(combined(series, pods))
}

/// Joins the pods' outputs, each with its clock and how long after the first pod it began.
fn combined(series: &PlannedSeries, outputs: Vec<(Shape, Clock, u64)>) -> Gathered {
    let (mut whole, mut pods) = (Shape::default(), Vec::new());
    let good_status = normalise::good_status(series);
    let (mut latencies, mut protocols) = (Vec::new(), BTreeSet::new());
    let add = |sum: Option<u64>, more: Option<u64>| sum.into_iter().chain(more).reduce(|sum, more| sum + more);
    for (shape, clock, after) in outputs {
        let (good, errors) = normalise::good_and_bad(shape.answers, shape.errors, &good_status);
        pods.push(LoadPod {
            ok_count: good.len() as u64,
            failed_count: errors.values().sum(),
            elapsed_ns: shape.elapsed_ns,
            started_after_ns: Some(after),
            clock_offset_ns: clock.offset_ns,
            clock_uncertainty_ns: clock.uncertainty_ns,
        });
        latencies.extend(good);
        for (kind, count) in errors {
            *whole.errors.entry(kind).or_default() += count;
        }
        whole.dropped = add(whole.dropped, shape.dropped);
        whole.cut_off = add(whole.cut_off, shape.cut_off);
        whole.elapsed_ns = whole.elapsed_ns.max(shape.elapsed_ns);
        protocols.extend(shape.protocol);
    }
    whole.answers.insert(good_status, latencies);
    // Of several protocols the whole list is shown, and fails the check.
    let protocols: Vec<String> = protocols.into_iter().collect();
    whole.protocol = (!protocols.is_empty()).then(|| protocols.join(" and "));
    let apart = pods.iter().filter_map(|pod| pod.started_after_ns).max().unwrap_or(0);
    let elapsed = whole.elapsed_ns.unwrap_or(0);
    let are_apart = apart * 1000 > elapsed * APART_PERMILLE;
    let fault = are_apart.then(|| {
        let (apart, elapsed) = (apart / 1_000_000, elapsed / 1_000_000);
        format!("load pods began {apart} ms apart in a load of {elapsed} ms")
    });
    Gathered { whole, pods, fault }
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
