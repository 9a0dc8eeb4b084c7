//! `wirebench run`: builds, measures, judges and reports.

mod args;
mod cluster;
mod cluster_args;
mod measure;

use wirebench_declare::Project;
use wirebench_engine::session::{Purpose, Recorded};
use wirebench_record::comparison::Comparison;

pub(crate) use self::args::Args;
pub(crate) use self::measure::measure;
use crate::folders::Root;
use crate::outcome::Outcome;
use crate::{judging, reports};

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    run(&root.project()?, args)
}

/// Measures, judges, writes all files into the run's folder, and prints the results.
///
/// # Errors
/// When nothing can be measured, or the folder cannot be written.
pub(crate) fn run(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    let (Recorded { run, folder }, comparison) = measure_and_judge(project, args)?;
    if args.json {
        println!("{}", serde_json::to_string(&run)?);
        if let Some(comparison) = comparison {
            println!("{}", serde_json::to_string(&comparison)?);
        }
    } else {
        reports::print(&run, &folder);
        if let Some(comparison) = comparison {
            reports::print_comparison_of_run(&comparison, &folder);
        }
    }
    Ok(Outcome::of_run(&run))
}

/// Measures, judges where there is a baseline, and writes record, comparison and reports into the run's folder.
///
/// # Errors
/// When nothing can be measured, or the folder cannot be written.
pub(crate) fn measure_and_judge(project: &Project, args: &Args) -> anyhow::Result<(Recorded, Option<Comparison>)> {
    let recorded = if args.cluster.cluster {
        cluster::measure_on_cluster(project, args)?
    } else {
        measure(project, args, Purpose::Measure)?
    };
    let comparison = judging::judge_and_report(project, &recorded.run, &recorded.folder)?;
    Ok((recorded, comparison))
}
