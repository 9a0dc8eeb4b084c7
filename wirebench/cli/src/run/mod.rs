//! `wirebench run`: builds, measures, judges and reports.

mod args;
mod cluster;
mod measure;

use wirebench_declare::Project;
use wirebench_engine::session::{Purpose, Recorded};
use wirebench_judge::limits;
use wirebench_judge::summary::comparison::Findings;
use wirebench_record::comparison::{Comparison, Verdict};

pub(crate) use self::args::Args;
pub(crate) use self::measure::measure;
use crate::folders::Root;
use crate::outcome::{Outcome, describe_error};
use crate::{judging, reports};

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let ended = root.project().and_then(|project| run(&project, args));
    match ended {
        // A commit whose declarations cannot be read, or that cannot be measured, tells nothing about the change.
        Err(error) if args.bisect => {
            log::error!("error: {}", describe_error(&error));
            Ok(Outcome::CannotTell)
        }
        ended => ended,
    }
}

/// Measures, judges, writes all files into the run's folder, and prints the results.
///
/// # Errors
/// When nothing can be measured, or the folder cannot be written.
pub(crate) fn run(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    let (Recorded { run, folder }, comparison) = measure_and_judge(project, args)?;
    if args.json {
        println!("{}", serde_json::to_string(&run)?);
        if let Some(comparison) = &comparison {
            println!("{}", serde_json::to_string(comparison)?);
        }
    } else {
        reports::print(&run, &folder);
        if let Some(comparison) = &comparison {
            reports::print_comparison_of_run(comparison, &folder);
        }
    }
    Ok(if args.bisect {
        comparison.as_ref().map_or(Outcome::CannotTell, bisect_outcome)
    } else {
        Outcome::of_run(&run)
    })
}

/// Whether the candidate is worse than the baseline, for `git bisect run`.
fn bisect_outcome(comparison: &Comparison) -> Outcome {
    match comparison.verdict {
        _ if limits::broken(&comparison.limits) > 0 => Outcome::Regressed,
        Verdict::Regressed => Outcome::Regressed,
        Verdict::Improved | Verdict::Unchanged => Outcome::Done,
        // Nothing is measured where the commit changed no program, so nothing is judged.
        Verdict::NotJudged if Findings::all_the_same_program(comparison) => Outcome::Done,
        Verdict::Inconclusive | Verdict::Invalid | Verdict::NotJudged => Outcome::CannotTell,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_testing::golden;

    #[test]
    fn git_bisect_skips_what_has_no_verdict() {
        let outcome = |name| bisect_outcome(&golden(name));
        assert_eq!(outcome("regressed"), Outcome::Regressed);
        assert_eq!(outcome("counted-regressed"), Outcome::Regressed);
        assert_eq!(outcome("unchanged"), Outcome::Done);
        assert_eq!(outcome("inconclusive"), Outcome::CannotTell);
        assert_eq!(outcome("invalid"), Outcome::CannotTell);
        let mut same = golden("unchanged");
        same.verdict = Verdict::NotJudged;
        assert_eq!(bisect_outcome(&same), Outcome::CannotTell);
        for series in &mut same.series {
            series.same_program = true;
        }
        assert_eq!(bisect_outcome(&same), Outcome::Done);
    }
}
