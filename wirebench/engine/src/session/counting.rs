//! Counts every counted series of a run and writes the counts into its record.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use indicatif::ProgressBar;

use crate::count::counter::{Counter, Job};
use crate::count::tool::Toolbox;
use crate::git::{self, Listed};
use crate::install;
use crate::measure::tools;
use crate::session::Setup;
use crate::session::recorder::{self, Recorder};
use wirebench_declare::count::Count;
use wirebench_declare::span::nanos;
use wirebench_record::counts::{CountStatus, Counts, Source};
use wirebench_record::metric::Metric;
use wirebench_record::run::{ToolVersion, Variant};

/// Counts, series by series and variant by variant; nothing when no series is counted.
///
/// # Errors
/// When the run's folder cannot be written.
pub(super) fn count(setup: &Setup, recorder: &mut Recorder, rules: &Count) -> anyhow::Result<()> {
    let (places, jobs): (Vec<usize>, Vec<Job>) = jobs(setup).into_iter().unzip();
    if jobs.is_empty() {
        return Ok(());
    }
    let began = Instant::now();
    let counts = if cfg!(target_os = "linux") {
        let toolbox = Toolbox::look(setup.prepared.harness.root);
        for (program, what) in toolbox.missing() {
            log::warn!(
                "not counted: {what}, as {program} is not installed; run: {}",
                install::of(program)
            );
        }
        recorder.run.tools.extend(versions(&toolbox));
        let counter = Counter {
            bench: &setup.prepared.harness,
            toolbox: &toolbox,
            jq: setup.jq,
            folder: &recorder.folder,
            keep_raw: setup.keep_raw,
            spread_at_most: rules.spread_at_most.share(),
            tell: &|line| log::info!("{line}"),
        };
        let unwritable = || recorder::unwritable(&recorder.folder);
        match counted(&counter, &jobs).with_context(unwritable)? {
            Some(counts) => Some(counted_again(&counter, &places, &jobs, counts).with_context(unwritable)?),
            None => None,
        }
    } else {
        log::warn!("not counted: what a request costs; valgrind and strace need Linux");
        let skipped = |job: &Job| {
            let why = "counting needs Linux";
            Counts::without(job.side.revision.variant, CountStatus::Skipped, why.into())
        };
        Some(jobs.iter().map(skipped).collect())
    };
    let mut files_of: BTreeMap<Variant, Option<Listed>> = BTreeMap::new();
    for (place, mut counts) in places.into_iter().zip(counts.unwrap_or_default()) {
        let files = files_of
            .entry(counts.variant)
            .or_insert_with(|| files(setup, counts.variant));
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
    recorder.conclude(true);
    recorder.save()
}

/// The files of a side's repository.
fn files(setup: &Setup, variant: Variant) -> Option<Listed> {
    let side = setup.sides.iter().find(|side| side.revision.variant == variant)?;
    git::files(side.repository.as_deref()?)
}

/// Removes source locations that are no files of the repository, such as generated code.
fn keep_own_sources(counts: &mut Counts, files: Option<&Listed>) {
    let is_own = |source: &Source| files.is_some_and(|files| files.has(Path::new(&source.file)));
    for function in &mut counts.functions {
        function.source = function.source.take().filter(is_own);
    }
}

/// Every variant of every counted series, with the series' place in the plan. A reference only serves ratios of times.
fn jobs<'a>(setup: &Setup<'a>) -> Vec<(usize, Job<'a>)> {
    let mut jobs = Vec::new();
    let counted = setup.series.iter().zip(setup.entries).enumerate();
    for (place, (series, entry)) in counted.filter(|(_, (series, _))| series.load.is_counted()) {
        let variants = entry.variants.iter().filter(|variant| **variant != Variant::Reference);
        for variant in variants {
            let side = setup.sides.iter().find(|side| side.revision.variant == *variant);
            let side = side.expect("a plan names only variants that have a side");
            let broken_driver = setup.prepared.broken_drivers.get(&series.driver.name);
            let broken = broken_driver.or_else(|| side.broken.get(&series.server.name));
            jobs.push((
                place,
                Job {
                    series,
                    side,
                    broken: broken.cloned(),
                },
            ));
        }
    }
    jobs
}

fn counted(counter: &Counter, jobs: &[Job]) -> std::io::Result<Option<Vec<Counts>>> {
    let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(0));
    let series: BTreeSet<&str> = jobs.iter().map(|job| job.series.id.as_str()).collect();
    log::info!(
        "counting {} series in lock step with their drivers ({} measurements)",
        series.len(),
        jobs.len()
    );
    let counts = counter.count(jobs, &|done, all| {
        if let Some(bar) = &bar {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        }
    });
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    counts
}

/// A series is counted again if the baseline's copy differs from the baseline by more than this share of the
/// instructions. On a busy machine threads are scheduled in another order, and a server that batches its work then
/// executes other instructions.
const NULL_DIFFERS: f64 = 0.005;
/// A series is counted again if its repetitions differ by more than this share of the instructions: a fifth of the
/// default margin. A figure that varies so much that it is refused is not counted again: the program itself varies.
const REPETITIONS_DIFFER: f64 = 0.002;

/// Counts every series anew whose instructions were not steady; the second result is recorded, with its call stacks. If
/// the second try is interrupted or has no instructions, the first result stays.
fn counted_again(
    counter: &Counter,
    places: &[usize],
    jobs: &[Job],
    mut counts: Vec<Counts>,
) -> std::io::Result<Vec<Counts>> {
    for place in places.iter().copied().collect::<BTreeSet<_>>() {
        let of_place: Vec<usize> = (0..places.len()).filter(|i| places[*i] == place).collect();
        let Some(why) = unsteady(of_place.iter().map(|i| &counts[*i])) else {
            continue;
        };
        let mine: Vec<Job> = of_place.iter().map(|i| jobs[*i].clone()).collect();
        log::info!("{}: {why}; it is counted again", mine[0].series.id);
        let Some(again) = counted(counter, &mine)? else { break };
        if again.iter().all(|counts| counts.value(Metric::Instructions).is_some()) {
            for (i, second) in of_place.into_iter().zip(again) {
                counts[i] = second;
            }
        }
    }
    Ok(counts)
}

/// Why the instructions of a series are counted again; `None` if they are steady.
fn unsteady<'a>(all: impl IntoIterator<Item = &'a Counts> + Clone) -> Option<String> {
    if let Some(share) = null_share(all.clone()).filter(|share| *share > NULL_DIFFERS) {
        return Some(format!("the same code twice differed by {:.1} %", share * 100.0));
    }
    let values = all.into_iter().filter_map(|counts| counts.value(Metric::Instructions));
    let shares = values
        .filter(|(value, _)| *value > 0.0)
        .map(|(value, spread)| spread / value);
    let worst = shares.fold(0.0, f64::max);
    (worst > REPETITIONS_DIFFER).then(|| format!("repetitions differed by {:.1} %", worst * 100.0))
}

/// By how much the instructions of the baseline's copy differ from the baseline's at the first start layout, as a share of them.
fn null_share<'a>(all: impl IntoIterator<Item = &'a Counts>) -> Option<f64> {
    let (mut base, mut null) = (None, None);
    for counts in all {
        let figure = counts.at_first_layout(Metric::Instructions);
        match counts.variant {
            Variant::Baseline => base = figure,
            Variant::Null => null = figure,
            _ => {}
        }
    }
    let base = base.filter(|base| *base > 0.0)?;
    Some((null? / base - 1.0).abs())
}

fn versions(toolbox: &Toolbox) -> Vec<ToolVersion> {
    let version = |(name, path): &(&str, std::path::PathBuf)| ToolVersion {
        name: (*name).to_owned(),
        version: tools::plain_version(path).unwrap_or_else(|| "unknown".into()),
    };
    toolbox.installed().iter().map(version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::counts::{Figure, FunctionCost};

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
        assert_eq!(unsteady(&steady), None);
        let moved = [base.clone(), with(Variant::Null, Some(988.0), &[])];
        assert_eq!(unsteady(&moved).unwrap(), "the same code twice differed by 1.2 %");
        let mut restless = steady;
        restless[0].figures[0].spread = Some(20.4);
        assert_eq!(unsteady(&restless).unwrap(), "repetitions differed by 2.0 %");
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
            source: Some(Source {
                file: file.into(),
                line: 3,
            }),
        };
        let made = "target/release/build/x/out/weather.rs";
        let files = Listed {
            tracked: ["src/price.rs".into()].into(),
            new: BTreeSet::new(),
        };
        let kept = |files: Option<&Listed>| -> Vec<bool> {
            let mut counts = Counts::without(Variant::Candidate, CountStatus::Ok, String::new());
            counts.functions = ["src/price.rs", made].map(function).into();
            keep_own_sources(&mut counts, files);
            counts.functions.iter().map(|one| one.source.is_some()).collect()
        };
        assert_eq!(kept(Some(&files)), [true, false]);
        assert_eq!(kept(None), [false, false]);
    }
}
