//! Declarations: the TOML files that say what is asked, who answers and who asks, found by folder.

pub mod accepted;
pub mod args;
pub mod compare;
pub mod count;
pub mod driver;
pub mod percent;
pub mod project;
pub mod protocol;
pub mod read;
pub mod scenario;
pub mod server;
pub mod span;

use std::fs;
use std::path::{Path, PathBuf};

use driver::Driver;
use project::Config;
use read::DeclareError;
use scenario::Scenario;
use server::Server;

/// Everything a project declares.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder that holds `wirebench.toml`.
    pub root: PathBuf,
    /// `wirebench.toml`.
    pub config: Config,
    /// Scenarios by name, in order.
    pub scenarios: Vec<Scenario>,
    /// Servers by name, in order.
    pub servers: Vec<Server>,
    /// Drivers by name, in order.
    pub drivers: Vec<Driver>,
}

impl Project {
    /// Reads the project whose `wirebench.toml` lies in `root`.
    ///
    /// # Errors
    /// At the first declaration that cannot be read or is wrong.
    pub fn read(root: &Path) -> Result<Self, DeclareError> {
        let config = Config::read(&root.join("wirebench.toml"))?;
        let mut scenarios = named("scenario", below(&root.join("scenarios"))?.into_iter(), Scenario::read)?;
        let servers = Self::servers_in(root)?;
        scenarios.extend(config.count.scenarios(&servers));
        let drivers = named("driver", inside(&root.join("drivers"), "driver.toml")?, Driver::read)?;
        Ok(Self {
            root: root.to_path_buf(),
            config,
            scenarios,
            servers,
            drivers,
        })
    }

    /// Reads only the servers of the project in `root`.
    ///
    /// # Errors
    /// At the first one that cannot be read or is wrong.
    pub fn servers_in(root: &Path) -> Result<Vec<Server>, DeclareError> {
        named("server", inside(&root.join("servers"), "server.toml")?, Server::read)
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, DeclareError> {
    let unreadable = |source| DeclareError::Unreadable {
        file: folder.to_path_buf(),
        source,
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    Ok(paths)
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

/// The files called `file` one folder below `folder`.
fn inside(folder: &Path, file: &str) -> Result<impl Iterator<Item = PathBuf>, DeclareError> {
    Ok(entries(folder)?
        .into_iter()
        .map(move |path| path.join(file))
        .filter(|path| path.is_file()))
}

/// Reads each file; a file is named by its stem, or by its folder when every file is called alike.
fn named<T>(
    kind: &'static str,
    files: impl Iterator<Item = PathBuf>,
    read: impl Fn(&Path, String) -> Result<T, DeclareError>,
) -> Result<Vec<T>, DeclareError> {
    let mut seen: Vec<(String, PathBuf)> = Vec::new();
    let mut out = Vec::new();
    for file in files {
        let named_by = if kind == "scenario" {
            file.file_stem()
        } else {
            file.parent().and_then(Path::file_name)
        };
        let name = named_by.unwrap_or_default().to_string_lossy().into_owned();
        if name.is_empty()
            || !name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        {
            let message = format!("the name \"{name}\" may hold lower-case letters, digits and hyphens only");
            return Err(DeclareError::Invalid {
                file,
                key: String::new(),
                message,
            });
        }
        if let Some((_, first)) = seen.iter().find(|(known, _)| *known == name) {
            return Err(DeclareError::Twice {
                kind,
                name,
                first: first.clone(),
                second: file,
            });
        }
        out.push(read(&file, name.clone())?);
        seen.push((name, file));
    }
    Ok(out)
}
