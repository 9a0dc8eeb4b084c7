//! `wirebench gate`: the exit code drawn from a comparison.

use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::ArgValueCandidates;

use crate::{Outcome, completions, folder, report, stored};
use wirebench_judge::summary::comparison::{Standing, contradiction};
use wirebench_present::report::comparison::terminal;
use wirebench_record::comparison::{Comparison, Verdict};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench gate                                  the newest run that has a comparison
  wirebench gate results/20261121T091544Z-00002a
  wirebench gate comparison.json --fail-on regressed,inconclusive
Exit codes: 3 regressed, or another verdict that --fail-on names; 4 not judged (no gating metric is on both sides), unless
--fail-on leaves it out; 1 invalid, two runs beside each other, or not readable; 0 anything else.")]
pub(super) struct Args {
    /// A comparison.json or the folder it lies in; without it, the newest run under results/ that has one.
    #[arg(add = ArgValueCandidates::new(completions::runs))]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A gating metric got worse by more than its margin.
    Regressed,
    /// A relevant worsening can be neither shown nor excluded.
    Inconclusive,
    /// A gating metric cannot be judged.
    Invalid,
    /// No gating metric is on both sides: a renamed server, or everything skipped.
    NotJudged,
}

impl FailOn {
    const fn verdict(self) -> Verdict {
        match self {
            Self::Regressed => Verdict::Regressed,
            Self::Inconclusive => Verdict::Inconclusive,
            Self::Invalid => Verdict::Invalid,
            Self::NotJudged => Verdict::NotJudged,
        }
    }
}

pub(super) fn execute(root: Option<PathBuf>, args: &Args) -> anyhow::Result<Outcome> {
    let file = match &args.comparison {
        Some(path) => stored::file_at(path)?,
        None => report::newest_comparison(&folder(root)?)?,
    };
    let comparison = stored::read(&file)?;
    if let Some(which) = contradiction(&comparison) {
        anyhow::bail!("{}: contradicts itself: {which}; {}", file.display(), stored::MAKE);
    }
    let fail_on: Vec<Verdict> = args.fail_on.iter().map(|one| one.verdict()).collect();
    if args.json {
        println!("{}", serde_json::to_string(&comparison)?);
        return Ok(outcome(&comparison, &fail_on));
    }
    println!("{}", terminal::one_line(&comparison));
    let mut offending = vec![Standing::Regressed, Standing::Invalid];
    offending.extend(fail_on.iter().copied().map(Standing::from));
    print!(
        "{}",
        terminal::offenders(&comparison, &offending, report::terminal_width())
    );
    log::info!("\ncomparison  {}", file.display());
    Ok(outcome(&comparison, &fail_on))
}

/// Maps a comparison to an exit code: 3 for regressed or a verdict in --fail-on, 4 for not judged, 1 for invalid.
fn outcome(comparison: &Comparison, fail_on: &[Verdict]) -> Outcome {
    match comparison.verdict {
        _ if !comparison.paired => Outcome::Failed,
        Verdict::Regressed => Outcome::Regressed,
        Verdict::NotJudged if fail_on.contains(&Verdict::NotJudged) => Outcome::NotJudged,
        verdict if fail_on.contains(&verdict) => Outcome::Regressed,
        Verdict::Invalid => Outcome::Failed,
        Verdict::Inconclusive | Verdict::Improved | Verdict::Unchanged | Verdict::NotJudged => Outcome::Done,
    }
}
