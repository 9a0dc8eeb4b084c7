//! `wirebench claims`: compares a run with the comparisons that others published.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::{Outcome, UsageError, report};
use wirebench_declare::Project;
use wirebench_present::claims::document;
use wirebench_record::run::Run;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench claims                                       of the newest run, printed
  wirebench claims results/comparisons --out docs/COMPARISONS.md")]
pub(super) struct Args {
    /// A run's folder or its run.json; without it, the newest run under results/.
    run: Option<PathBuf>,
    /// The Markdown file to write; without it, the text is printed.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn execute(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    if project.claims.is_empty() {
        let message = "the project has no claims/*.toml; docs/EXTENDING.md says how one is written";
        return Err(UsageError(message.into()).into());
    }
    let run = report::read_at(&project.root, args.run.as_deref())?;
    let Some(out) = &args.out else {
        print!("{}", document::render(&project.claims, &run, "run.json"));
        return Ok(Outcome::Done);
    };
    let folder = report::folder_of(&project.root, args.run.as_deref())?;
    let link = relative(out, &folder.join("run.json"));
    fs::write(out, document::render(&project.claims, &run, &link))
        .with_context(|| format!("{}: cannot be written", out.display()))?;
    log::info!("claims   {}", out.display());
    Ok(Outcome::Done)
}

/// Writes claims.md into the folder of a run whose profile is for claims, and prints its path.
pub(super) fn leave(project: &Project, run: &Run, folder: &Path) -> anyhow::Result<()> {
    let made_for = project.config.profiles.get(&run.profile);
    if !made_for.is_some_and(|profile| profile.claims) {
        return Ok(());
    }
    let file = folder.join("claims.md");
    fs::write(&file, document::render(&project.claims, run, "run.json"))
        .with_context(|| format!("{}: cannot be written", file.display()))?;
    log::info!("claims   {}", file.display());
    Ok(())
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
