//! A run in medians, small enough to be loaded beside another: `data/runs/<id>.summary.json`.

use crate::report::values::figure;
use crate::site::run_page::environment;
use crate::site::shown::{instant, name, sentence};
use wirebench_judge::summary::{counted, sections};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, RunStatus, Series, Variant, VariantRevision, short_commit};
use wirebench_record::site::{Fact, RUN_SUMMARY, RunSummary, SeriesSummary, ValueSummary};

/// The candidate's values and what they were measured with.
pub(super) fn summary(run: &Run) -> RunSummary {
    let candidate = run.revision(Variant::Candidate);
    let rows = sections(run).into_iter().flat_map(|section| section.rows);
    let timed = rows.map(|row| {
        let values = Metric::OF_SERVER.into_iter().filter_map(|metric| {
            let spread = row.spread(metric)?;
            let write = |number| figure(metric, number);
            let range = format!("{} to {}", write(spread.low), write(spread.high));
            Some(of(metric, spread.median, write(spread.median), range))
        });
        series(row.series, row.note(), values.collect())
    });
    RunSummary {
        schema: RUN_SUMMARY.into(),
        id: name(&run.id),
        started: instant(&run.started_at),
        commit: candidate
            .and_then(|revision| revision.commit.as_deref())
            .map(|commit| name(short_commit(commit))),
        remarks: remarks(run, candidate),
        environment: facts(run),
        series: timed.chain(counted(run).filter_map(counts)).collect(),
    }
}

/// A counted series; none when nothing of its candidate was counted.
fn counts(one: &Series) -> Option<SeriesSummary> {
    let counts = one.counts_of(Variant::Candidate)?;
    let values = Metric::COUNTED.into_iter().filter_map(|metric| {
        let (found, spread) = counts.value(metric)?;
        let range = if spread > 0.0 {
            format!("± {}", figure(metric, spread))
        } else {
            String::new()
        };
        Some(of(metric, found, figure(metric, found), range))
    });
    Some(series(one, String::new(), values.collect()))
}

fn of(metric: Metric, found: f64, text: String, range: String) -> ValueSummary {
    ValueSummary {
        label: metric.label().into(),
        value: found,
        text,
        range,
        better: metric.better(),
    }
}

fn series(series: &Series, note: String, values: Vec<ValueSummary>) -> SeriesSummary {
    SeriesSummary {
        id: name(&series.id),
        digest: name(&series.digest),
        note,
        values,
    }
}

fn remarks(run: &Run, candidate: Option<&VariantRevision>) -> Vec<String> {
    let mut remarks = Vec::new();
    if run.status != RunStatus::Complete {
        remarks.push(match run.reason.as_deref() {
            Some(reason) => format!("not complete: {}", sentence(reason)),
            None => "not complete".into(),
        });
    }
    if candidate.is_some_and(|revision| revision.modified == Some(true)) {
        remarks.push("measured with local changes".into());
    }
    remarks
}

/// What makes two runs comparable, or not.
fn facts(run: &Run) -> Vec<Fact> {
    let fact = |(name, value): (&str, String)| Fact {
        name: name.into(),
        value,
    };
    environment(run).into_iter().map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;

    #[test]
    fn a_summary_holds_what_the_run_page_says_and_is_small() {
        let mut run = samples::reference();
        samples::with_counts(&mut run);
        let found = summary(&run);
        assert_eq!(found.series.len(), 27);
        let fixed = found
            .series
            .iter()
            .find(|series| series.id == "weather-fixed-count@http@hey")
            .unwrap();
        let row = sections(&run).into_iter().flat_map(|section| section.rows);
        let row = row.into_iter().find(|row| row.series.id == fixed.id).unwrap();
        let throughput = fixed.values.iter().find(|value| value.label == "throughput").unwrap();
        assert_eq!(
            throughput.value.to_bits(),
            row.spread(Metric::Throughput).unwrap().median.to_bits()
        );
        assert_eq!(
            (&*fixed.note, throughput.better),
            ("client-bound", wirebench_record::metric::Better::Higher)
        );
        let counted = found.series.last().unwrap();
        assert_eq!(
            (&*counted.values[0].text, &*counted.values[0].range),
            ("16,148", "± 12.1")
        );
        assert!(serde_json::to_string(&found).unwrap().len() < 25_000);
        assert!(
            found
                .environment
                .iter()
                .any(|fact| fact.name == "programs" && fact.value.contains("hey v0.1.5"))
        );
    }
}
