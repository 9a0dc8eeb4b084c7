//! Summaries of the months without run files.

use std::collections::BTreeMap;

use wirebench_record::history::{DigestFrom, Month, SCHEMA, StoredFailure, StoredMetric, StoredRun, StoredSeries};
use wirebench_record::metric::{Better, Metric};

use super::chance::{Chance, six_digits};
use super::counted;
use super::events::{failure, left_out, level, outlier};
use super::levels::Kind;
use super::pushes::{Push, Pushes};
use super::series::{self, Made};

/// Half of the 95 % interval of a normal distribution, in standard deviations.
const HALF_INTERVAL: f64 = 1.96;

/// Every month before this one, in order.
pub(super) fn before(newest: &str, pushes: &Pushes) -> Vec<Month> {
    let mut by_month: BTreeMap<String, Vec<&Push>> = BTreeMap::new();
    for push in &pushes.0 {
        let month = push.started_at.strftime("%Y-%m").to_string();
        by_month.entry(month).or_default().push(push);
    }
    by_month.remove(newest);
    // In the order of the file names, as `history index` writes them.
    for runs in by_month.values_mut() {
        runs.sort_by_key(|push| file(push));
    }
    let series: Vec<(Made, Vec<Values>)> = (series::all().into_iter())
        .map(|made| {
            let values = values(&made, pushes);
            (made, values)
        })
        .collect();
    let month = |(month, runs): (String, Vec<&Push>)| Month {
        schema: SCHEMA.into(),
        month,
        series: (series.iter())
            .filter_map(|(made, values)| stored(made, values, &runs))
            .collect(),
        runs: runs.iter().map(|push| run(push)).collect(),
    };
    by_month.into_iter().map(month).collect()
}

fn file(push: &Push) -> String {
    format!("{}-{}.json", &push.commit[..12], push.run_id())
}

fn run(push: &Push) -> StoredRun {
    let host = push.host();
    StoredRun {
        bytes: None,
        file: file(push),
        id: push.run_id(),
        commit: push.commit.clone(),
        committed_at: Some(push.committed_at.to_string()),
        started_at: push.started_at.to_string(),
        host: host.fingerprint,
        cpu_model: host.cpu_model,
        elsewhere: Vec::new(),
        reference: Some(super::pushes::commit(push.reference())),
        accepted: push.accepted(),
    }
}

/// The values of a metric at every push.
struct Values {
    metric: Metric,
    at: Vec<Value>,
}

#[derive(Clone, Copy)]
struct Value {
    value: f64,
    ratio: f64,
    half_permille: f64,
}

fn values(made: &Made, pushes: &Pushes) -> Vec<Values> {
    let id = made.id();
    let metrics = made.metrics().into_iter();
    metrics
        .map(|(metric, base)| {
            let mut chance = Chance::of(&format!("{id} {}", metric.name()));
            let noise = made.noise(metric);
            let value = |push: &Push| {
                let level = |place| level(&id, metric, place);
                // Half of the noise affects candidate and reference alike.
                let (own, shared, width) = (chance.factor(noise), chance.factor(0.5 * noise), chance.share());
                let slow = slowness(made, metric, push);
                let outlier = match metric {
                    Metric::PeakRss => 1.0,
                    _ if metric.better() == Better::Higher => 1.0 / outlier(&id, push.place),
                    _ => outlier(&id, push.place),
                };
                Value {
                    value: match made.kind {
                        Kind::Counted(_) => counted::value(&id, metric, base, push.place),
                        _ => six_digits(base * level(push.place) * slow * own * shared * outlier),
                    },
                    ratio: six_digits(level(push.place) / level(push.reference()) * own * outlier),
                    half_permille: (1000.0 * HALF_INTERVAL * noise * (0.75 + 0.5 * width)).round(),
                }
            };
            let at = pushes.0.iter().map(value).collect();
            Values { metric, at }
        })
        .collect()
}

/// The effect of the machine's speed on that day on a metric, as a factor.
pub(super) fn slowness(made: &Made, metric: Metric, push: &Push) -> f64 {
    match (&made.kind, metric) {
        (Kind::Counted(_), _) | (_, Metric::PeakRss) => 1.0,
        (Kind::Starts(_), _) => push.machine,
        (_, Metric::Throughput) => 1.0 / (push.machine * push.day),
        _ => push.machine * push.day,
    }
}

/// A series in the runs of a month; `None` if no run has it.
fn stored(made: &Made, values: &[Values], runs: &[&Push]) -> Option<StoredSeries> {
    let id = made.id();
    let planned = |push: &Push| (made.from..=made.to).contains(&push.place) && !left_out(&id, push.place);
    let measured = |push: &Push| planned(push) && failure(&id, push.place).is_none();
    if !runs.iter().any(|push| planned(push)) {
        return None;
    }
    let mut digests: Vec<DigestFrom> = Vec::new();
    let mut failures = Vec::new();
    for (at, push) in runs.iter().enumerate().filter(|(_, push)| planned(push)) {
        let digest = made.digest(push.place);
        if digests.last().is_none_or(|last| last.digest != digest) {
            digests.push(DigestFrom { from: at, digest });
        }
        failures.extend(failure(&id, push.place).map(|why| StoredFailure { at, why: why.into() }));
    }
    let column = |values: &Values, part: fn(&Value) -> f64| -> Vec<f64> {
        let value = |push: &&Push| {
            if measured(push) {
                part(&values.at[push.place])
            } else {
                f64::NAN
            }
        };
        runs.iter().map(value).collect()
    };
    let metrics = values.iter().map(|values| StoredMetric {
        metric: values.metric,
        values: column(values, |one| one.value),
        ratios: match made.kind {
            Kind::Load(_) => column(values, |one| one.ratio),
            Kind::Starts(_) | Kind::Counted(_) => Vec::new(),
        },
        half_permille: match made.kind {
            Kind::Load(_) | Kind::Starts(_) => column(values, |one| one.half_permille),
            Kind::Counted(_) => Vec::new(),
        },
    });
    Some(StoredSeries {
        id: id.clone(),
        digests,
        metrics: metrics.collect(),
        failures,
    })
}
