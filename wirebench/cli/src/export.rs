//! `wirebench export`: a stored run in another program's format.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::ValueEnum;

use crate::folders::Root;
use crate::outcome::Outcome;
use crate::{reports, runs};
use wirebench_present::report::github_action_benchmark::suite;
use wirebench_record::metric::Better;

/// Writes a stored run in another program's format.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench export --format github-action-benchmark --out _export
    writes _export/bigger-is-better.json (tool: customBiggerIsBetter)
    and    _export/smaller-is-better.json (tool: customSmallerIsBetter)")]
pub(crate) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    run: Option<PathBuf>,
    /// The format to write.
    #[arg(long, value_enum)]
    format: Format,
    /// The folder that takes the files; made when missing.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// The two suites that the GitHub action github-action-benchmark reads.
    GithubActionBenchmark,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let root = root.folder()?;
    let run = runs::read_at(&root, args.run.as_deref())?;
    let Format::GithubActionBenchmark = args.format;
    fs::create_dir_all(&args.out).with_context(|| format!("{}: cannot be made", args.out.display()))?;
    for (name, better) in [
        ("bigger-is-better", Better::Higher),
        ("smaller-is-better", Better::Lower),
    ] {
        let file = args.out.join(format!("{name}.json"));
        let entries = suite(&run, better);
        reports::write_file(&file, serde_json::to_vec_pretty(&entries)?)?;
        println!("{} {} values", file.display(), entries.len());
    }
    Ok(Outcome::Done)
}
