//! Finds declarations: in the project's folders, and as tables of `wirebench.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::iter::repeat_with;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::read::{DeclareError, Place, toml_file};
pub use wirebench_record::names::is_declarable as is_name;

/// A kind of declaration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    name: &'static str,
    /// The folder, and the table of `wirebench.toml`.
    room: &'static str,
    /// The file's name, one folder below; `None` for every TOML file at any depth.
    file: Option<&'static str>,
}

impl Kind {
    const fn new(name: &'static str, room: &'static str, file: Option<&'static str>) -> Self {
        Self { name, room, file }
    }

    /// `scenarios/**/NAME.toml`, `[scenarios.NAME]`.
    pub(super) const SCENARIO: Self = Self::new("scenario", "scenarios", None);
    /// `servers/NAME/server.toml`, `[servers.NAME]`.
    pub(super) const SERVER: Self = Self::new("server", "servers", Some("server.toml"));
    /// `drivers/NAME/driver.toml`.
    pub(super) const DRIVER: Self = Self::new("driver", "drivers", Some("driver.toml"));
    /// `counters/NAME/counter.toml`.
    pub(super) const COUNTER: Self = Self::new("counter", "counters", Some("counter.toml"));

    /// Every file of this kind in a project, in order.
    fn files(self, root: &Path) -> Result<Vec<PathBuf>, DeclareError> {
        let folder = root.join(self.room);
        let Some(file) = self.file else { return below(&folder) };
        let files = entries(&folder)?.into_iter().map(|path| path.join(file));
        Ok(files.filter(|path| path.is_file()).collect())
    }

    /// Scenarios are named by their file, all others by their folder.
    fn name_of(self, file: &Path) -> String {
        let folder = file.parent().and_then(Path::file_name);
        let named_by = self.file.map_or_else(|| file.file_stem(), |_| folder);
        named_by.unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Reads everything of one kind, a folder after the other: first the tables of its `wirebench.toml`, of which `tables` has those of
/// each folder or is empty, then its files. Each is handed to `check` with its place and name, and may be expanded to several things, each with its own name.
///
/// # Errors
/// At the first declaration that cannot be read, is wrong, or has an invalid or duplicate name.
pub(super) fn all<Table: DeserializeOwned, T>(
    kind: Kind,
    folders: &[&Path],
    tables: Vec<BTreeMap<String, Table>>,
    check: impl Fn(Table, &Place, &str) -> Result<Vec<(String, T)>, DeclareError>,
) -> Result<Vec<T>, DeclareError> {
    let mut taken: BTreeMap<String, Place> = BTreeMap::new();
    let mut out = Vec::new();
    let mut take = |table, place: Place, name: &str| {
        if !is_name(name) {
            return Err(DeclareError(format!(
                "{place}: the name \"{name}\" may hold lower-case letters, digits and hyphens only, no hyphen first, 100 at most"
            )));
        }
        for (name, one) in check(table, &place, name)? {
            if let Some(first) = taken.get(&name) {
                let kind = kind.name;
                let message = format!("{kind} \"{name}\" is declared twice: {first} and {place}; rename one");
                return Err(DeclareError(message));
            }
            taken.insert(name, place.clone());
            out.push(one);
        }
        Ok(())
    };
    let tables = tables.into_iter().chain(repeat_with(BTreeMap::new));
    for (folder, tables) in folders.iter().zip(tables) {
        let config = folder.join("wirebench.toml");
        for (name, table) in tables {
            take(table, Place::table(&config, format!("{}.{name}", kind.room)), &name)?;
        }
        for file in kind.files(folder)? {
            take(toml_file(&file)?, Place::file(&file), &kind.name_of(&file))?;
        }
    }
    Ok(out)
}

/// The entries of a folder, sorted; empty if there is no such folder.
fn entries(folder: &Path) -> Result<BTreeSet<PathBuf>, DeclareError> {
    let unreadable = DeclareError::unreadable(folder);
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        listed => listed.map_err(&unreadable)?,
    };
    let paths: Result<BTreeSet<PathBuf>, _> = listed.map(|entry| Ok(entry?.path())).collect();
    paths.map_err(&unreadable)
}

/// Every TOML file below `folder`, at any depth.
fn below(folder: &Path) -> Result<Vec<PathBuf>, DeclareError> {
    let mut files = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            files.extend(below(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path);
        }
    }
    Ok(files)
}
