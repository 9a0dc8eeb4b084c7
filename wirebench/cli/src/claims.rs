//! `wirebench claims`: compares a run with the comparisons that others published.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};
use crate::runs;
use wirebench_declare::Project;
use wirebench_declare::prices::Prices;
use wirebench_present::claims::document::{self, LinkedRun};

/// Compares a run with published comparisons, claim by claim.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench claims                                     the newest run, printed
  wirebench claims results/20260101T000000Z-abcdef --out COMPARISONS.md
  wirebench claims results/claims/A results/claims/B   several runs, one for each comparison
  wirebench claims --cost prices.toml                  monthly estimates with your own prices")]
pub(crate) struct Args {
    /// Folders of runs or their run.json, such as one for each comparison; without them, the newest run under results/. Each
    /// comparison is judged by the newest of them that measured it.
    run: Vec<PathBuf>,
    /// The Markdown file to write; without it, the text is printed.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Prices for published monthly estimates (examples/cost/prices.toml is one).
    #[arg(long, value_name = "FILE")]
    cost: Option<PathBuf>,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    if project.claims.is_empty() {
        let message = "the project has no claims/*.toml; lab/docs/ADDING.md says how one is written";
        return Err(UsageError(message.into()).into());
    }
    let prices = args.cost.as_deref().map(Prices::read).transpose()?;
    let linked = linked(project, args)?;
    let text = document::render(&project.claims, &linked, prices.as_ref());
    let Some(out) = &args.out else {
        print!("{text}");
        return Ok(Outcome::Done);
    };
    fs::write(out, text).with_context(|| format!("{}: cannot be written", out.display()))?;
    log::info!("claims   {}", out.display());
    Ok(Outcome::Done)
}

/// The runs that were named, with the way to each from the document.
fn linked(project: &Project, args: &Args) -> anyhow::Result<Vec<LinkedRun>> {
    let named = |run: Option<&Path>| {
        let folder = runs::folder_of(&project.root, run)?;
        let link = match (&args.out, run) {
            (Some(out), _) => relative(out, &folder.join("run.json")),
            (None, Some(_)) if args.run.len() > 1 => folder.join("run.json").display().to_string(),
            (None, _) => "run.json".into(),
        };
        Ok(LinkedRun {
            run: runs::read_at(&project.root, run)?,
            link,
        })
    };
    if args.run.is_empty() {
        return Ok(vec![named(None)?]);
    }
    args.run.iter().map(|run| named(Some(run))).collect()
}

/// The relative path from a document to a file, for a link; the file's own path if they have no folder in common.
fn relative(document: &Path, file: &Path) -> String {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let (document, file) = (whole(document), whole(file));
    let folder = document.parent().unwrap_or(Path::new("/"));
    let common = folder.ancestors().find(|above| file.starts_with(above));
    let Some(common) = common else {
        return file.display().to_string();
    };
    let up = folder.strip_prefix(common).map_or(0, |rest| rest.components().count());
    let down = file.strip_prefix(common).unwrap_or(&file);
    let path: PathBuf = std::iter::repeat_n(Path::new(".."), up).chain([down]).collect();
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_from_the_document_to_the_record() {
        let way = |document: &str, file: &str| relative(Path::new(document), Path::new(file));
        assert_eq!(way("/p/docs/C.md", "/p/results/x/run.json"), "../results/x/run.json");
        assert_eq!(way("/p/C.md", "/p/run.json"), "run.json");
    }
}
