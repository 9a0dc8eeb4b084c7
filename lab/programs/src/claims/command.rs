//! `lab claims`: compares runs with the comparisons that others published.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use wirebench_declare::read::{Place, toml_file};
use wirebench_record::run::Run;

use super::document::{self, LinkedRun};
use super::judged::complete;
use super::page;
use super::prices::Prices;
use super::publication::PublicComparison;

/// Compares runs with published comparisons, claim by claim.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lab claims --series A                                          the series that comparison A needs, one a line
  lab claims lab/results/comparisons/[A-E]* --out lab/docs/COMPARISONS.md
  lab claims lab/results/comparisons/[A-E]* --page comparisons.html
  lab claims lab/results/comparisons/A --cost lab/prices.toml")]
pub struct Args {
    /// Folders of runs or their run.json. Each comparison is judged by the newest of them that measured it; pairs of series that
    /// it lacks are taken from another.
    run: Vec<PathBuf>,
    /// The Markdown file to write, with a folder `comparisons` beside it for the details; without it, all text is printed.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Writes the page for `wirebench site build --page`, and no text.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    page: Option<PathBuf>,
    /// Prices for published monthly estimates.
    #[arg(long, value_name = "FILE")]
    cost: Option<PathBuf>,
    /// Only prints the series that this comparison needs; its letter or its name, or `all`.
    #[arg(long, value_name = "LETTER", conflicts_with_all = ["run", "out", "page", "cost"])]
    series: Option<String>,
}

/// Writes the document or the page, or prints the series of a comparison.
///
/// # Errors
/// When a file cannot be read or written.
pub fn execute(root: &Path, args: &Args) -> anyhow::Result<()> {
    let comparisons = read(root)?;
    if let Some(word) = &args.series {
        return print_series(&comparisons, word);
    }
    if args.run.is_empty() {
        bail!("name the folders of runs, such as lab/results/comparisons/A");
    }
    let mut linked: Vec<LinkedRun> = args
        .run
        .iter()
        .map(|run| linked(run, args.out.as_deref()))
        .collect::<anyhow::Result<_>>()?;
    for comparison in &comparisons {
        complete(
            comparison,
            &mut linked.iter_mut().map(|one| &mut one.run).collect::<Vec<_>>(),
        );
    }
    if let Some(file) = &args.page {
        let runs: Vec<&Run> = linked.iter().map(|linked| &linked.run).collect();
        return write(file, &page::render(&comparisons, &runs)?);
    }
    let prices = args.cost.as_deref().map(Prices::read).transpose()?;
    let written = document::render(&comparisons, &linked, prices.as_ref());
    let Some(out) = &args.out else {
        print!("{}", written.text);
        for (name, text) in written.details.iter().filter(|(name, _)| name.ends_with(".md")) {
            print!("\n<!-- {name} -->\n{text}");
        }
        return Ok(());
    };
    let folder = out.with_file_name("comparisons");
    fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    for (name, text) in &written.details {
        write(&folder.join(name), text)?;
    }
    write(out, &written.text)
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(file, text).with_context(|| format!("{}: cannot be written", file.display()))
}

fn print_series(comparisons: &[PublicComparison], word: &str) -> anyhow::Result<()> {
    let mut chosen = comparisons
        .iter()
        .filter(|one| word == "all" || one.is_called(word))
        .peekable();
    let known = || {
        comparisons
            .iter()
            .map(|one| format!("{} ({})", one.letter, one.name))
            .collect::<Vec<_>>()
    };
    ensure!(
        chosen.peek().is_some(),
        "--series {word}: no such comparison; there are {}",
        known().join(", ")
    );
    for id in chosen.flat_map(PublicComparison::series) {
        println!("{id}");
    }
    Ok(())
}

/// Every comparison of `claims/`, in the order of their names.
///
/// # Errors
/// When a file cannot be read or is wrong.
pub fn read(root: &Path) -> anyhow::Result<Vec<PublicComparison>> {
    let folder = root.join("claims");
    let entries = fs::read_dir(&folder).with_context(|| format!("{}: cannot be read", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let one = |file: &PathBuf| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let table: PublicComparison = toml_file(file)?;
        Ok(table.check(&Place::file(file), name)?)
    };
    files.iter().map(one).collect()
}

/// A run, with the way to it from the document.
fn linked(run: &Path, document: Option<&Path>) -> anyhow::Result<LinkedRun> {
    let file = if run.is_dir() {
        run.join("run.json")
    } else {
        run.to_path_buf()
    };
    let text = fs::read(&file).with_context(|| format!("{}: cannot be read", file.display()))?;
    Ok(LinkedRun {
        run: serde_json::from_slice(&text).with_context(|| format!("{}: is no record of a run", file.display()))?,
        link: document.map_or_else(|| file.display().to_string(), |document| relative(document, &file)),
    })
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
