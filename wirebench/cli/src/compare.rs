//! `wirebench compare`: judges a stored run again, or shows two stored runs next to each other.

use std::path::{Path, PathBuf};

use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};
use crate::{comparisons, judging, reports, runs};
use wirebench_engine::git;
use wirebench_history::newest_run;
use wirebench_judge::compare::{self, Rules};
use wirebench_record::run::Run;

/// Judges a stored run again, or shows two stored runs next to each other.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench compare                                    the newest run, with today's margins
  wirebench compare results/20261121T091544Z-00002a
  wirebench compare results/<before> results/<after>   two runs: shown, not judged
  wirebench compare --history ../data v1.0 v1.1        the newest stored runs of two releases

To judge two revisions, measure both in one run: wirebench run --baseline REV --candidate REV.")]
pub(crate) struct Args {
    /// One run that has a baseline, or two runs, the baseline first: folders, run.json files, or with --history revisions;
    /// without any, the newest run under results/.
    #[arg(num_args = 0..=2)]
    runs: Vec<String>,
    /// A history (see `wirebench history`) in which revisions are looked up.
    #[arg(long, value_name = "DIR")]
    history: Option<PathBuf>,
    /// Writes the comparison to this file too. The comparison of a single run is otherwise written next to its run.json.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Prints the comparison as one line of JSON instead of a table.
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let (rules, root) = match root.project() {
        Ok(project) => (project.config, project.root),
        Err(error) if args.runs.is_empty() || !error.is::<UsageError>() => return Err(error),
        // Judging needs only records. Outside a project the default margins apply.
        Err(_) => (Rules::default(), std::env::current_dir()?),
    };
    let comparison = match &args.runs[..] {
        [base, head] => {
            let (base, head) = (find(&root, args, base)?, find(&root, args, head)?);
            compare::across(&base, &head, &rules).map_err(anyhow::Error::msg)?
        }
        given => {
            let folder = runs::folder_of(&root, given.first().map(Path::new))?;
            let run = runs::read(&folder.join("run.json"))?;
            let comparison = judging::judge(&run, &rules, &folder)?;
            log::info!("comparison  {}", folder.join(comparisons::FILE).display());
            comparison
        }
    };
    if let Some(file) = &args.out {
        comparisons::write(&comparison, file)?;
        log::info!("comparison  {}", file.display());
    }
    if args.json {
        println!("{}", serde_json::to_string(&comparison)?);
    } else {
        reports::print_comparison(&comparison);
    }
    Ok(Outcome::Done)
}

/// A run named by its folder, its run.json, or its revision in the history.
fn find(root: &Path, args: &Args, name: &str) -> anyhow::Result<Run> {
    let path = Path::new(name);
    if path.exists() {
        return runs::read_at(root, Some(path));
    }
    let Some(history) = &args.history else {
        let message = format!("{name}: no such run; a revision needs --history DIR, the folder that runs are kept in");
        return Err(UsageError(message).into());
    };
    let commit = git::resolve(root, name).unwrap_or_else(|_| name.to_owned());
    let newest = newest_run(history, &commit)?;
    let missing = || UsageError(format!("{name} ({commit}): no run of it under {}", history.display()));
    runs::read(&newest.ok_or_else(missing)?)
}
