//! `wirebench gate`: the exit code drawn from a comparison.

use std::path::PathBuf;

use clap_complete::ArgValueCandidates;

use crate::flags::FailOn;
use crate::folders::Root;
use crate::outcome::Outcome;
use crate::{candidates, comparisons, reports, runs};
use wirebench_judge::limits as judge;
use wirebench_judge::summary::comparison::{RowStatus, contradiction};
use wirebench_present::report::comparison::terminal;
use wirebench_present::report::format::plain;
use wirebench_present::report::limits;
use wirebench_record::comparison::{Comparison, Verdict};

/// Exits with 3 if a comparison regressed, and prints which metrics did.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench gate                                  the newest run that has a comparison
  wirebench gate results/20261121T091544Z-00002a
  wirebench gate comparison.json --fail-on regressed,inconclusive

A run without a baseline is judged by the limits of its scenarios, if they set any.
Exit codes: 3 regressed, a broken limit, or another verdict that --fail-on names; 4 not judged (no gating metric is on both \
sides, or a series with a limit has no good round), unless --fail-on leaves it out; 1 invalid, a comparison of two runs, or not readable; 0 otherwise.")]
pub(crate) struct Args {
    /// A comparison.json or the folder it lies in; without it, the newest run under results/ that has one.
    #[arg(add = ArgValueCandidates::new(candidates::runs))]
    comparison: Option<PathBuf>,
    /// Overall verdicts that fail: with exit code 3, not-judged with 4; regressed always does.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "regressed,not-judged",
        value_name = "VERDICTS"
    )]
    fail_on: Vec<FailOn>,
    /// Prints the comparison as one line of JSON instead of text; the exit code is the same.
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let (comparison, run) = match &args.comparison {
        Some(path) => (
            comparisons::file_at(path).map_err(Into::into),
            runs::folder_of(path, Some(path)),
        ),
        None => {
            let root = root.folder()?;
            (runs::newest_comparison(&root), runs::folder_of(&root, None))
        }
    };
    let file = match comparison {
        Ok(file) => file,
        Err(missing) => return limits_alone(run, missing, args),
    };
    let comparison = comparisons::read(&file)?;
    if let Some(which) = contradiction(&comparison) {
        let name = file.display();
        anyhow::bail!("{name}: contradicts itself: {which}; {}", comparisons::MAKE_ONE);
    }
    let fail_on: Vec<Verdict> = args.fail_on.iter().map(|one| one.verdict()).collect();
    if args.json {
        println!("{}", serde_json::to_string(&comparison)?);
        return Ok(outcome(&comparison, &fail_on));
    }
    println!("{}", terminal::one_line(&comparison));
    let mut offending = vec![RowStatus::Regressed, RowStatus::Invalid];
    offending.extend(fail_on.iter().copied().map(RowStatus::from));
    let offenders = terminal::offenders(&comparison, &offending, reports::terminal_width());
    print!("{offenders}{}", limits::terminal(&comparison.limits));
    log::info!("\ncomparison  {}", file.display());
    Ok(outcome(&comparison, &fail_on))
}

/// The gate of a run in a folder that compares nothing: its limits. A limit on a series without a good round is not judged.
///
/// # Errors
/// That the comparison is missing, if there is no run either, or it has no limits.
fn limits_alone(folder: anyhow::Result<PathBuf>, missing: anyhow::Error, args: &Args) -> anyhow::Result<Outcome> {
    let file = folder.map(|folder| folder.join("run.json")).unwrap_or_default();
    if !file.is_file() {
        return Err(missing);
    }
    let run = runs::read(&file)?;
    if run.series.iter().all(|series| series.limits.is_empty()) {
        return Err(missing);
    }
    let judged = judge::judge(&run);
    let unmeasured = judge::unmeasured(&judged);
    if args.json {
        println!("{}", serde_json::to_string(&judged)?);
    } else {
        print!("{}", limits::terminal(&judged).trim_start());
        let series = run.series.iter();
        for one in series.filter(|one| unmeasured.contains(one.id.as_str())) {
            let usual = "no value of a limit's metric was measured";
            let reason = one.reason.as_deref().unwrap_or(usual);
            println!("Not judged: {}: {}", plain(&one.id), plain(reason));
        }
        log::info!("\nrecord   {}", file.display());
    }
    let fails_if_not_judged = args.fail_on.contains(&FailOn::NotJudged);
    Ok(match judge::broken(&judged) {
        0 if unmeasured.is_empty() || !fails_if_not_judged => Outcome::Done,
        0 => Outcome::NotJudged,
        _ => Outcome::Regressed,
    })
}

/// Maps a comparison to an exit code: 3 for a broken limit, regressed or a verdict in --fail-on, 4 for not judged, 1 for invalid.
fn outcome(comparison: &Comparison, fail_on: &[Verdict]) -> Outcome {
    match comparison.verdict {
        _ if !comparison.paired => Outcome::Failed,
        _ if judge::broken(&comparison.limits) > 0 => Outcome::Regressed,
        Verdict::Regressed => Outcome::Regressed,
        Verdict::NotJudged if fail_on.contains(&Verdict::NotJudged) => Outcome::NotJudged,
        verdict if fail_on.contains(&verdict) => Outcome::Regressed,
        Verdict::Invalid => Outcome::Failed,
        Verdict::Inconclusive | Verdict::Improved | Verdict::Unchanged | Verdict::NotJudged => Outcome::Done,
    }
}
