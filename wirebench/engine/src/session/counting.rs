//! Counts every counted series of a run and writes the counts into its record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;

use crate::count::counter::{Counter, Job};
use crate::count::figures;
use crate::count::tool::Toolbox;
use crate::git;
use crate::install;
use crate::measure::tools;
use crate::session::prepare::tool_version;
use crate::session::recorder::{self, Recorder};
use crate::session::{Setup, progress};
use wirebench_declare::count::Count;
use wirebench_declare::span::nanos;
use wirebench_record::counts::{CountStatus, Counts, Figure, Source};
use wirebench_record::metric::Metric;
use wirebench_record::run::Variant;

/// Counts, series by series and variant by variant; nothing when no series is counted.
///
/// # Errors
/// When the run's folder cannot be written.
pub(super) fn count(setup: &Setup, recorder: &mut Recorder, rules: &Count) -> anyhow::Result<()> {
    let (places, jobs): (Vec<usize>, Vec<Job>) = jobs(setup, &recorder.variants).into_iter().unzip();
    if jobs.is_empty() {
        return Ok(());
    }
    let began = Instant::now();
    let toolbox = Toolbox::look(setup.prepared.harness.root);
    for (program, what) in toolbox.missing() {
        log::warn!(
            "not counted: {what}, as {program} is not installed; run: {}",
            install::of(program)
        );
    }
    for (name, path) in &toolbox.installed {
        let version = tools::plain_version(path);
        let version = tool_version(name, version.as_deref().unwrap_or("unknown"));
        recorder.run.tools.push(version);
    }
    let counter = Counter {
        bench: &setup.prepared.harness,
        toolbox: &toolbox,
        jq: setup.jq,
        folder: &recorder.folder,
        keep_raw: setup.keep_raw,
        spread_at_most: rules.spread_at_most.share(),
    };
    let unwritable = || recorder::unwritable(&recorder.folder);
    let counts = match counted(&counter, &jobs).with_context(unwritable)? {
        Some(counts) => counted_again(&counter, &places, &jobs, counts).with_context(unwritable)?,
        None => Vec::new(),
    };
    let mut files_of: BTreeMap<Variant, Option<BTreeSet<PathBuf>>> = BTreeMap::new();
    for (place, mut counts) in places.into_iter().zip(counts) {
        let repository = || setup.side(counts.variant).repository.as_deref();
        let files = || repository().and_then(|top| git::files(top, |_| false));
        let files = files_of.entry(counts.variant).or_insert_with(files);
        keep_own_sources(&mut counts, files.as_ref());
        if let (Some(reason), true) = (&counts.reason, counts.status == CountStatus::Failed) {
            log::error!(
                "failed: {}: {}: {reason}",
                setup.series[place].id,
                counts.variant.name()
            );
        }
        recorder.run.series[place].counts.push(counts);
    }
    recorder.run.spent.count_ns = nanos(began.elapsed());
    recorder.conclude(true)
}

/// Removes source locations that are no files of the repository, such as generated code.
fn keep_own_sources(counts: &mut Counts, files: Option<&BTreeSet<PathBuf>>) {
    let is_own = |source: &Source| files.is_some_and(|files| files.contains(Path::new(&source.file)));
    for function in &mut counts.functions {
        function.source = function.source.take().filter(is_own);
    }
}

/// Every variant of every counted series, with the series' place in the plan. A reference only serves ratios of times.
fn jobs<'a>(setup: &Setup<'a>, variants: &[Vec<Variant>]) -> Vec<(usize, Job<'a>)> {
    let mut jobs = Vec::new();
    let counted = setup.series.iter().zip(variants).enumerate();
    for (place, (series, variants)) in counted.filter(|(_, (series, _))| series.load.is_counted()) {
        for variant in variants.iter().filter(|variant| **variant != Variant::Reference) {
            let side = setup.side(*variant);
            let broken = setup.prepared.broken(series, side).cloned();
            jobs.push((place, Job { series, side, broken }));
        }
    }
    jobs
}

fn counted(counter: &Counter, jobs: &[Job]) -> std::io::Result<Option<Vec<Counts>>> {
    let bar = progress::bar();
    let series: BTreeSet<&str> = jobs.iter().map(|job| job.series.id.as_str()).collect();
    log::info!(
        "counting {} series in lock step with their drivers ({})",
        series.len(),
        progress::number(jobs.len(), "measurement")
    );
    let counts = counter.count(jobs, &|run| {
        let job = &jobs[run.job];
        let place = format!("{} · {}", job.side.revision.variant.name(), job.series.id);
        bar.set_length(run.all as u64);
        bar.set_position(run.done as u64);
        bar.set_message(format!("counting · {place}"));
        if bar.is_hidden() && run.is_last_of_job {
            log::info!("counted · {place} · server run {} of {}", run.done, run.all);
        }
    });
    bar.finish_and_clear();
    counts
}

/// A series is counted again if the baseline's copy differs from the baseline by more than this share of the
/// instructions. On a busy machine threads are scheduled in another order, and a server that batches its work then
/// executes other instructions.
const NULL_DIFFERS: f64 = 0.005;
/// A series is counted again if its repetitions differ by more than this share of the instructions: a fifth of the
/// default margin.
const REPETITIONS_DIFFER: f64 = 0.002;

/// Counts every series anew whose counts were not steady, and keeps the counts that agree better, with their call stacks. If
/// the second try is interrupted, the first result stays.
fn counted_again(
    counter: &Counter,
    places: &[usize],
    jobs: &[Job],
    mut counts: Vec<Counts>,
) -> std::io::Result<Vec<Counts>> {
    for place in places.iter().copied().collect::<BTreeSet<_>>() {
        let of_place: Vec<usize> = (0..places.len()).filter(|i| places[*i] == place).collect();
        let first: Vec<Counts> = of_place.iter().map(|i| counts[*i].clone()).collect();
        let is_busy = counter.busy(jobs).is_some();
        let Some(why) = unsteady(&first, is_busy) else {
            continue;
        };
        let mine: Vec<Job> = of_place.iter().map(|i| jobs[*i].clone()).collect();
        log::info!("{}: {why}; it is counted again", mine[0].series.id);
        let Some(again) = counted(counter, &mine)? else { break };
        if is_better(&again, &first) {
            for (i, second) in of_place.into_iter().zip(again) {
                counts[i] = second;
            }
        }
    }
    Ok(counts)
}

/// Why a series is counted again; `None` if its counts are steady. Figures that every variant refuses vary with the program
/// itself, unless the machine is busy.
fn unsteady(all: &[Counts], is_busy: bool) -> Option<String> {
    if let Some(share) = null_share(all).filter(|share| *share > NULL_DIFFERS) {
        return Some(format!("the same code twice differed by {:.1} %", share * 100.0));
    }
    let worst = disagreement(all);
    if worst > REPETITIONS_DIFFER {
        return Some(format!("repetitions differed by {:.1} %", worst * 100.0));
    }
    let measured = || all.iter().filter(|counts| counts.variant != Variant::Null);
    let is_suspect = |metric: &Metric| {
        let refused = measured()
            .filter(|counts| counts.figure(*metric).is_some_and(is_refused))
            .count();
        refused > 0 && (is_busy || refused < measured().count())
    };
    let suspect = Metric::COUNTED.into_iter().find(is_suspect)?;
    Some(format!("repetitions differed in {}", suspect.label()))
}

/// Whether a figure was refused because server runs did not agree.
fn is_refused(figure: &Figure) -> bool {
    figure.refused.is_some() && !figure.points.is_empty()
}

/// The largest share by which repetitions of the instructions differ, of figures that are not refused.
fn disagreement(all: &[Counts]) -> f64 {
    let figures = all.iter().filter_map(|counts| counts.figure(Metric::Instructions));
    let given = figures.filter(|figure| figure.refused.is_none());
    given.filter_map(figures::disagreement).fold(0.0, f64::max)
}

/// Whether one try to count a series agrees better with itself than another.
fn is_better(one: &[Counts], other: &[Counts]) -> bool {
    let missing = |all: &[Counts]| {
        let figures = all.iter().flat_map(|counts| &counts.figures);
        figures.filter(|figure| figure.value.is_none()).count()
            + all.iter().filter(|one| one.figures.is_empty()).count()
    };
    let apart = |all: &[Counts]| disagreement(all).max(null_share(all).unwrap_or(0.0));
    missing(one) < missing(other) || (missing(one) == missing(other) && apart(one) < apart(other))
}

/// By how much the instructions of the baseline's copy differ from the baseline's at the first start layout, as a share of them.
fn null_share(all: &[Counts]) -> Option<f64> {
    let figure = |variant| {
        let counts = all.iter().find(|counts| counts.variant == variant)?;
        counts.at_first_layout(Metric::Instructions)
    };
    let base = figure(Variant::Baseline).filter(|base| *base > 0.0)?;
    Some((figure(Variant::Null)? / base - 1.0).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::counts::{FunctionCost, Point};

    #[test]
    fn the_copy_is_held_against_the_first_layout_and_what_is_not_steady_is_counted_again() {
        let with = |variant, value: Option<f64>, by_layout: &[f64]| {
            let mut counts = Counts::without(variant, CountStatus::Ok, String::new());
            counts.figures.push(Figure {
                metric: Metric::Instructions,
                value,
                spread: Some(1.0),
                refused: None,
                by_layout: by_layout.to_vec(),
                points: Vec::new(),
            });
            counts
        };
        let base = with(Variant::Baseline, Some(1020.0), &[1000.0, 1040.0]);
        let share = |all: &[Counts]| null_share(all);
        let steady = [base.clone(), with(Variant::Null, Some(1001.0), &[])];
        assert_eq!(unsteady(&steady, false), None);
        let moved = [base.clone(), with(Variant::Null, Some(988.0), &[])];
        assert_eq!(
            unsteady(&moved, false).unwrap(),
            "the same code twice differed by 1.2 %"
        );
        assert!(is_better(&steady, &moved) && !is_better(&moved, &steady));
        let mut restless = steady.clone();
        let runs = [(0, 0), (100, 100_000), (100, 104_000)];
        restless[0].figures[0].points = runs
            .map(|(requests, total)| Point {
                requests,
                total,
                layout: 0,
            })
            .into();
        assert_eq!(unsteady(&restless, false).unwrap(), "repetitions differed by 2.0 %");
        assert!(is_better(&steady, &restless));
        // A figure that both sides refuse varies with the program, that of one side or of a busy machine may not.
        let mut refused = [restless[0].clone(), with(Variant::Candidate, Some(1020.0), &[])];
        (refused[0].figures[0].value, refused[0].figures[0].refused) = (None, Some("varies".into()));
        assert!(unsteady(&refused, false).is_some() && is_better(&steady, &refused));
        refused[1] = refused[0].clone();
        assert!(unsteady(&refused, false).is_none() && unsteady(&refused, true).is_some());
        let off = share(&[base.clone(), with(Variant::Null, Some(988.0), &[])]).unwrap();
        assert!((off - 0.012).abs() < 1e-9, "{off}");
        assert_eq!(share(&[base.clone(), with(Variant::Null, None, &[])]), None);
        assert_eq!(share(&[base]), None);
    }

    #[test]
    fn only_files_of_the_repository_are_named() {
        let function = |file: &str| FunctionCost {
            function: "f".into(),
            metric: Metric::Instructions,
            cost: 1.0,
            inclusive: None,
            blamed: None,
            calls: None,
            source: Some(Source::at(file, 3)),
        };
        let made = "target/release/build/x/out/weather.rs";
        let files = ["src/price.rs".into()].into();
        let kept = |files: Option<&BTreeSet<PathBuf>>| -> Vec<bool> {
            let mut counts = Counts::without(Variant::Candidate, CountStatus::Ok, String::new());
            counts.functions = ["src/price.rs", made].map(function).into();
            keep_own_sources(&mut counts, files);
            counts.functions.iter().map(|one| one.source.is_some()).collect()
        };
        assert_eq!(kept(Some(&files)), [true, false]);
        assert_eq!(kept(None), [false, false]);
    }
}
