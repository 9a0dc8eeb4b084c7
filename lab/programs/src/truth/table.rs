//! The table of a `lab truth` on disk: begun, continued, written after each comparison.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use jiff::Timestamp;

use crate::truth::record::{SCHEMA, Session, TruthTable};
use crate::truth::{Case, Row};
use wirebench_engine::git;
use wirebench_engine::measure::host;

/// The table's name in its folder.
pub(super) const FILE: &str = "truth.json";

/// The session: this program, this machine, now.
///
/// # Errors
/// When HEAD is no commit.
pub(super) fn session(root: &Path) -> anyhow::Result<Session> {
    let commit = git::resolve(root, "HEAD").map_err(|why| anyhow!("the truth table needs a commit: {why}"))?;
    Ok(Session {
        commit,
        wirebench: env!("CARGO_PKG_VERSION").into(),
        started_at: Timestamp::now().to_string(),
        host: host::describe(std::thread::available_parallelism().map_or(1, usize::from)),
    })
}

/// The table for the outcomes, and its folder: a new one, or the one to continue.
///
/// # Errors
/// When the table to continue cannot be read, or the folder cannot be written.
pub(super) fn open_table(
    root: &Path,
    resume: Option<&Path>,
    out: Option<&Path>,
    session: Session,
) -> anyhow::Result<(TruthTable, PathBuf)> {
    let table = match resume {
        Some(from) => {
            let mut table = read(from)?;
            if !table.later.last().is_some_and(|last| last.is_like(&session)) {
                table.later.push(session);
            }
            if from.is_dir() {
                if out.is_some() {
                    bail!("--out: a table that goes on in its own folder has one already");
                }
                return Ok((table, std::path::absolute(from)?));
            }
            table
        }
        None => TruthTable {
            schema: SCHEMA.into(),
            commit: session.commit,
            wirebench: session.wirebench,
            started_at: session.started_at,
            host: session.host,
            later: Vec::new(),
            outcomes: Vec::new(),
        },
    };
    let base = out.map_or_else(|| root.join("results/truth"), Path::to_path_buf);
    let folder = std::path::absolute(base)?.join(Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string());
    fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    save(&table, &folder)?;
    Ok((table, folder))
}

/// The comparisons that a table does not have yet.
pub(super) fn missing_comparisons(rows: &[Row], table: &TruthTable) -> Vec<String> {
    let made = |case: &Case| {
        let mut all = table.outcomes.iter();
        all.any(|one| one.row == case.row.name && one.number == case.number)
    };
    let cases = rows.iter().flat_map(Row::cases);
    cases.filter(|case| !made(case)).map(|case| case.name()).collect()
}

/// Writes the table atomically.
///
/// # Errors
/// When the folder cannot be written.
pub(super) fn save(table: &TruthTable, out: &Path) -> anyhow::Result<()> {
    let file = out.join(FILE);
    let mut part = tempfile::Builder::new().prefix(".truth").tempfile_in(out)?;
    serde_json::to_writer_pretty(&mut part, table)?;
    part.write_all(b"\n")?;
    part.persist(&file)
        .with_context(|| format!("{}: cannot be written", file.display()))?;
    Ok(())
}

/// Reads a table, given its folder or its file.
///
/// # Errors
/// When it cannot be read, or is of another schema.
pub(super) fn read(path: &Path) -> anyhow::Result<TruthTable> {
    let file = if path.is_dir() {
        path.join(FILE)
    } else {
        path.to_path_buf()
    };
    let name = file.display();
    let text = fs::read(&file).with_context(|| format!("{name}: cannot be read"))?;
    let value: serde_json::Value = serde_json::from_slice(&text).with_context(|| format!("{name}: is not JSON"))?;
    match value.get("schema").and_then(serde_json::Value::as_str) {
        Some(SCHEMA) => {}
        found => bail!("{name}: has schema {found:?}, expected {SCHEMA}"),
    }
    serde_path_to_error::deserialize(value).map_err(|error| anyhow!("{name}: {}: {}", error.path(), error.inner()))
}
