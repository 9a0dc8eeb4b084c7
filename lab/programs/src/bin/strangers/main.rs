//! Takes servers that nobody here wrote from nothing to a verdict, one after the other, and writes lab/docs/STRANGERS.md.
//!
//! Usage: `lab/scripts/strangers.sh [--keep] [NAME…]`

mod page;
mod row;
mod take;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;

use row::Row;
use take::Stranger;

#[derive(Debug, Parser)]
struct Arguments {
    /// The program `wirebench`
    #[arg(long, value_name = "FILE")]
    wirebench: PathBuf,
    /// Leave each server's folder, with its runs, below target/strangers
    #[arg(long)]
    keep: bool,
    /// Names of folders of wirebench/cli/tests/fixtures/strangers; without any, all of them
    names: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let sources = root.join("wirebench/cli/tests/fixtures/strangers");
    let (rows_file, work) = (root.join("lab/docs/strangers.tsv"), root.join("target/strangers"));
    fs::create_dir_all(&work)?;
    for name in names(&sources, arguments.names)? {
        let stranger = Stranger::new(&arguments.wirebench, &work, &name);
        let row = stranger.take(&sources.join(&name))?;
        println!("{row}");
        let mut rows = Row::read_all(&rows_file)?;
        rows.retain(|other| other.name != name);
        rows.push(row);
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        fs::write(
            &rows_file,
            rows.iter().map(|row| format!("{row}\n")).collect::<String>(),
        )?;
        let page = root.join("lab/docs/STRANGERS.md");
        let before = fs::read_to_string(&page).unwrap_or_default();
        fs::write(page, page::render(&rows, page::by_hand(&before)))?;
        if !arguments.keep {
            fs::remove_dir_all(&stranger.folder)?;
        }
    }
    Ok(())
}

/// The chosen names, or those of all folders.
fn names(sources: &Path, chosen: Vec<String>) -> anyhow::Result<Vec<String>> {
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(sources)? {
        all.push(entry?.file_name().to_string_lossy().into_owned());
    }
    all.sort();
    Ok(all)
}
