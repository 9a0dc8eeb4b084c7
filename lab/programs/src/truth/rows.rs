//! Which rows there are.

use std::path::Path;

use anyhow::bail;
use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::truth::Row;
use crate::truth::record::Expect;

/// The rows that the globs match.
pub(super) fn rows(root: &Path, globs: &[String]) -> anyhow::Result<Vec<Row>> {
    let folder = root.join("truth");
    if !folder.is_dir() {
        let message = format!("{}: no such folder; rows are truth/NAME.toml", folder.display());
        bail!(message);
    }
    let mut rows = crate::truth::read(&folder)?;
    if globs.is_empty() {
        return Ok(rows);
    }
    let wanted = glob_set(globs)?;
    rows.retain(|row| wanted.is_match(&row.name));
    if rows.is_empty() {
        let message = format!("--row {}: matches no row; see: lab truth --list", globs.join(" --row "));
        bail!(message);
    }
    Ok(rows)
}

fn glob_set(globs: &[String]) -> anyhow::Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(Glob::new(glob).map_err(|error| anyhow::anyhow!("--row {glob}: not a glob: {error}"))?);
    }
    Ok(set.build()?)
}

/// Prints them.
pub(super) fn list(rows: &[Row]) -> anyhow::Result<()> {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default();
    for row in rows {
        let expect = match row.expect {
            Expect::Same => "same",
            Expect::Regressed => "regressed",
            Expect::Informative => "informative",
            Expect::Improved => "improved",
            Expect::Invalid => "invalid",
        };
        println!("{:width$}  {:>3} × {expect:11}  {}", row.name, row.repeat, row.about);
    }
    let count = |null: bool| {
        let of = rows.iter().filter(|row| (row.expect == Expect::Same) == null);
        of.map(|row| row.repeat).sum::<u32>()
    };
    log::info!("{} comparisons of changes, {} of nulls", count(false), count(true));
    Ok(())
}
