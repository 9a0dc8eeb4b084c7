//! Summarises runs: the columns of their month.

use std::collections::{BTreeMap, HashMap};

use wirebench_record::history::{
    DigestFrom, Month, SCHEMA, StoredFailure, StoredHost, StoredMetric, StoredRun, StoredSeries,
};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Round, RoundStatus, Run, Series, SeriesStatus, Variant};
use wirebench_stats::location::locate;
use wirebench_stats::quantile::median;

/// The columns of a month, to which runs are added.
#[derive(Debug)]
pub(super) struct Columns {
    month: Month,
    /// The index of each series in the month, by id.
    indices: HashMap<String, usize>,
}

impl Columns {
    pub(super) fn of(month: &str) -> Self {
        let month = Month {
            schema: SCHEMA.into(),
            month: month.into(),
            runs: Vec::new(),
            series: Vec::new(),
        };
        Self {
            month,
            indices: HashMap::new(),
        }
    }

    /// Adds a run, with the name of its file and the length, if it is in one.
    pub(super) fn add(&mut self, file: &str, bytes: Option<u64>, run: &Run) {
        let here = self.month.runs.len();
        self.month.runs.push(stored_run(file, bytes, run));
        for series in &run.series {
            let next = self.month.series.len();
            let index = *self.indices.entry(series.id.clone()).or_insert(next);
            if index == next {
                self.month.series.push(StoredSeries {
                    id: series.id.clone(),
                    digests: Vec::new(),
                    metrics: Vec::new(),
                    failures: Vec::new(),
                });
            }
            let columns = &mut self.month.series[index];
            if columns.digests.last().is_none_or(|last| last.digest != series.digest) {
                columns.digests.push(DigestFrom {
                    from: here,
                    digest: series.digest.clone(),
                });
            }
            let mut has_value = false;
            for metric in Metric::all() {
                has_value |= add_metric(&mut columns.metrics, metric, here, series);
            }
            if !has_value && series.status != SeriesStatus::Skipped {
                columns.failures.push(StoredFailure {
                    at: here,
                    why: series.reason.clone().unwrap_or_else(|| "no round was good".into()),
                });
            }
        }
    }

    /// The month; every column has a place for each run.
    pub(super) fn finish(mut self) -> Month {
        let count = self.month.runs.len();
        for column in self.month.series.iter_mut().flat_map(|series| &mut series.metrics) {
            column.values.resize(count, f64::NAN);
            for optional in [&mut column.ratios, &mut column.half_permille] {
                if !optional.is_empty() {
                    optional.resize(count, f64::NAN);
                }
            }
        }
        self.month.series.sort_by(|one, other| one.id.cmp(&other.id));
        self.month
    }
}

fn stored_run(file: &str, bytes: Option<u64>, run: &Run) -> StoredRun {
    let candidate = run.revision(Variant::Candidate);
    let reference = run.revision(Variant::Reference);
    StoredRun {
        file: file.to_owned(),
        bytes,
        id: run.id.clone(),
        commit: candidate.and_then(|one| one.commit.clone()).unwrap_or_default(),
        committed_at: candidate.and_then(|one| one.committed_at.clone()),
        started_at: run.started_at.clone(),
        host: run.host.fingerprint.clone(),
        cpu_model: run.host.cpu_model.clone(),
        elsewhere: other_hosts(run),
        reference: reference.and_then(|one| one.commit.clone().or_else(|| one.name.clone())),
        accepted: run.accepted.clone(),
    }
}

/// The machines of a run other than its first.
fn other_hosts(run: &Run) -> Vec<StoredHost> {
    let shards = run.shards.iter();
    let others = shards.filter(|shard| shard.host.fingerprint != run.host.fingerprint);
    let stored = others.map(|shard| StoredHost {
        host: shard.host.fingerprint.clone(),
        series: shard.series.clone(),
    });
    stored.collect()
}

/// Adds a run's value, ratio and uncertainty to the columns of a metric. Returns false if the run has no value of the metric.
fn add_metric(metrics: &mut Vec<StoredMetric>, metric: Metric, here: usize, series: &Series) -> bool {
    let Some((figure, half)) = value(series, metric) else {
        return false;
    };
    let index = metrics.iter().position(|one| one.metric == metric).unwrap_or_else(|| {
        metrics.push(StoredMetric {
            metric,
            values: Vec::new(),
            ratios: Vec::new(),
            half_permille: Vec::new(),
        });
        metrics.len() - 1
    });
    let column = &mut metrics[index];
    let logs = if metric.is_counted() {
        counted_ratio(series, metric, figure).into_iter().collect()
    } else {
        log_ratios(series, metric)
    };
    let put = |column: &mut Vec<f64>, value: f64| {
        column.resize(here, f64::NAN);
        column.push(to_seven_digits(value));
    };
    put(&mut column.values, figure);
    if let Some(log) = median(&logs) {
        put(&mut column.ratios, log.exp());
    }
    let half = if logs.is_empty() || metric.is_counted() {
        half
    } else {
        half_interval(&logs)
    };
    if let Some(half) = half {
        put(&mut column.half_permille, (1e4 * half).round() / 10.0);
    }
    true
}

/// Half of the 95 % interval of the location of logarithms; `None` for fewer than six.
fn half_interval(logs: &[f64]) -> Option<f64> {
    let location = locate(logs)?;
    Some((location.high? - location.low?) / 2.0)
}

/// The value of a round of a variant; `None` if the round is not ok, dropped, or of another variant.
fn value_of_round(round: &Round, variant: Variant, metric: Metric) -> Option<f64> {
    let usable = round.variant == variant && round.status == RoundStatus::Ok && round.dropped.is_none();
    usable.then(|| metric.comparable(round)).flatten()
}

/// The candidate's value: the count, or the median of the rounds.
fn value(series: &Series, metric: Metric) -> Option<(f64, Option<f64>)> {
    if metric.is_counted() {
        let (figure, spread) = series.counts_of(Variant::Candidate)?.value(metric)?;
        let half = (figure > 0.0).then_some(spread / figure);
        return Some((figure, half));
    }
    let values: Vec<f64> = series
        .rounds
        .iter()
        .filter_map(|round| value_of_round(round, Variant::Candidate, metric))
        .collect();
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    Some((median(&values)?, half_interval(&logs)))
}

/// The logarithm of the count over the reference's count in the same run: another processor, or another version of a library,
/// changes both alike.
fn counted_ratio(series: &Series, metric: Metric, value: f64) -> Option<f64> {
    let (reference, _) = series.counts_of(Variant::Reference)?.value(metric)?;
    (value > 0.0 && reference > 0.0).then(|| (value / reference).ln())
}

/// The logarithms of candidate over reference, for each pair of rounds.
fn log_ratios(series: &Series, metric: Metric) -> Vec<f64> {
    let by_pair = |variant| -> BTreeMap<(u32, u32), f64> {
        let rounds = series.rounds.iter();
        let values = rounds.map(|round| ((round.stage, round.round), value_of_round(round, variant, metric)));
        values.filter_map(|(pair, value)| Some((pair, value?))).collect()
    };
    let reference = by_pair(Variant::Reference);
    by_pair(Variant::Candidate)
        .iter()
        .filter_map(|(pair, candidate)| Some((candidate / reference.get(pair)?).ln()))
        .collect()
}

/// Seven digits are far finer than any noise, and halve the size of the file.
fn to_seven_digits(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::counts::{CountStatus, Counts};

    /// A series of the recorded run with these rounds: variant, round, CPU ns for each of 1,000 answers, dropped.
    fn run(rounds: &[(Variant, u32, u64, bool)]) -> Run {
        let text = include_str!("../../../results/reference/run.json");
        let mut run: Run = serde_json::from_str(text).unwrap();
        run.series
            .retain(|series| series.id == "weather-fixed-count@http@h2load");
        let model = run.series[0].rounds[0].clone();
        let round = |(variant, round, ns, dropped): &(Variant, u32, u64, bool)| {
            let mut made = model.clone();
            (made.variant, made.round, made.ok_count) = (*variant, *round, Some(1_000));
            let cpu = made.server_cpu_ns.as_mut().unwrap();
            (cpu.user, cpu.system) = (ns * 1_000, 0);
            made.dropped = dropped.then(|| "steal".into());
            made
        };
        run.series[0].rounds = rounds.iter().map(round).collect();
        run
    }

    fn cpu(month: &Month) -> &StoredMetric {
        let mut metrics = month.series[0].metrics.iter();
        metrics.find(|one| one.metric == Metric::ServerCpu).unwrap()
    }

    #[test]
    fn values_are_medians_and_ratios_are_of_pairs() {
        use Variant::{Baseline, Candidate, Reference};
        let mut columns = Columns::of("2026-11");
        columns.add("a.json", None, &run(&[(Candidate, 0, 500, false)]));
        let rounds = [
            (Candidate, 0, 110, false),
            (Reference, 0, 100, false),
            (Candidate, 1, 440, false),
            (Reference, 1, 400, false),
            // Dropped, without its pair, of another variant: no pair.
            (Candidate, 2, 900, true),
            (Reference, 2, 100, false),
            (Candidate, 3, 120, false),
            (Baseline, 3, 1, false),
        ];
        columns.add("b.json", None, &run(&rounds));
        let month = columns.finish();
        let found = cpu(&month);
        assert_eq!(found.values, [500.0, 120.0]);
        assert!(found.ratios[0].is_nan());
        assert_eq!(found.ratios[1], 1.1);
        let written = serde_json::to_string(&month).unwrap();
        assert!(written.contains("\"ratios\":[null,1.1]"), "{written}");
        let read: Month = serde_json::from_str(&written).unwrap();
        assert_eq!(cpu(&read).values, found.values);
    }

    #[test]
    fn of_what_is_counted_the_figure_is_kept_and_nothing_of_refused_ones() {
        let mut made = run(&[]);
        let counts = |value: Option<f64>| {
            let figures = serde_json::json!([
                {"metric": "instructions", "value": value, "spread": null, "refused": null, "points": []}
            ]);
            Counts {
                figures: serde_json::from_value(figures).unwrap(),
                ..Counts::without(Variant::Candidate, CountStatus::Ok, String::new())
            }
        };
        let mut columns = Columns::of("2026-11");
        for (file, value) in [("a", Some(16_148.23)), ("b", None), ("c", Some(16_313.0))] {
            made.series[0].counts = vec![counts(value)];
            columns.add(file, None, &made);
        }
        let month = columns.finish();
        let metrics = &month.series[0].metrics;
        assert_eq!(metrics.len(), 1);
        let found = &metrics[0];
        assert_eq!((found.metric, found.ratios.len()), (Metric::Instructions, 0));
        assert_eq!((found.values[0], found.values[2]), (16_148.23, 16_313.0));
        assert!(found.values[1].is_nan());
    }

    #[test]
    fn a_digest_is_written_where_it_changes() {
        let mut columns = Columns::of("2026-11");
        let mut made = run(&[(Variant::Candidate, 0, 500, false)]);
        for (file, digest) in [("a", "1"), ("b", "1"), ("c", "2")] {
            made.series[0].digest = digest.into();
            columns.add(file, None, &made);
        }
        let month = columns.finish();
        let found: Vec<(usize, &str)> = month.series[0]
            .digests
            .iter()
            .map(|one| (one.from, one.digest.as_str()))
            .collect();
        assert_eq!(found, [(0, "1"), (2, "2")]);
    }
}
