//! A side: the code of one variant, built, and how its servers are started. The requests come from the project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::measure::build::{self, Builder};
use crate::measure::python;
use wirebench_declare::args::Arg;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{Program, Server};
use wirebench_declare::tier::Part;
use wirebench_record::run::VariantRevision;

/// One variant's servers.
#[derive(Debug, Clone, Default)]
pub struct Side {
    /// Which variant, of what code.
    pub revision: VariantRevision,
    /// The folder in which its servers are started.
    pub folder: PathBuf,
    /// The root of the repository that the folder is in; `None` outside of a repository.
    pub repository: Option<PathBuf>,
    /// The declarations of its servers, by name.
    pub servers: BTreeMap<String, Server>,
    /// Each server's command, program first, by server name; a tier's by `server/tier`.
    pub programs: BTreeMap<String, Vec<String>>,
    /// The keys of `programs` that were built as packages of a Cargo workspace; these programs need no other files.
    pub packages: BTreeSet<String>,
    /// The folder from which its native programs are started (see [`crate::measure::staging`]); `None` before they are staged.
    pub stage: Option<PathBuf>,
    /// Environment variables of this side: the Python environment that its build commands fill.
    pub environment: BTreeMap<String, String>,
    /// Why a server cannot be started, by server name.
    pub broken: BTreeMap<String, String>,
    /// Additional arguments of servers, by series id: a self-test slows a side down with them.
    pub extra_args: BTreeMap<String, Vec<String>>,
}

impl Side {
    /// The folder that a process is started in.
    pub fn folder_of(&self, part: &Part) -> PathBuf {
        let below = part.working_directory.as_ref();
        below.map_or_else(|| self.folder.clone(), |below| self.folder.join(below))
    }

    /// A side whose servers are not built yet.
    pub fn new(revision: VariantRevision, folder: PathBuf, servers: &[Server]) -> Self {
        let named = servers.iter().map(|server| (server.name.clone(), server.clone()));
        Self {
            revision,
            folder,
            servers: named.collect(),
            ..Self::default()
        }
    }

    /// Whether it declares the server of a series, with its protocol and its operation.
    pub fn declares(&self, series: &PlannedSeries) -> bool {
        self.servers.get(&series.server.name).is_some_and(|server| {
            let has_protocol = series.protocol == Protocol::Process || server.protocols.contains(&series.protocol);
            has_protocol && server.operations.contains_key(&series.scenario.operation)
        })
    }

    /// How the server of a series is started here.
    ///
    /// # Panics
    /// When the side does not declare it.
    pub fn server_of(&self, series: &PlannedSeries) -> Server {
        let mut server = self.servers[&series.server.name].clone();
        let extra = self.extra_args.get(&series.id).into_iter().flatten();
        server.front.args.extend(extra.cloned().map(Arg::One));
        server
    }

    /// What [`Side::build`] builds for servers by name: packages that are not cached, and build commands.
    pub fn builds<'a>(&self, names: impl Iterator<Item = &'a str>, builder: &Builder) -> BTreeSet<String> {
        let servers = names
            .filter(|name| !self.broken.contains_key(*name))
            .filter_map(|name| self.servers.get(name));
        let parts = servers.flat_map(Server::parts);
        let build = |part: &Part| match (&part.program, &part.build) {
            (Program::Package(package), _) => builder.cached(package).is_none().then(|| format!("package {package}")),
            (Program::Command(_), build) => build.as_ref().map(|words| format!("`{}`", shell_words::join(words))),
        };
        let unknown = parts.filter(|part| !self.programs.contains_key(&part.key()));
        unknown.filter_map(build).collect()
    }

    /// Whether one of its servers or tiers is a package of a Cargo workspace.
    pub fn declares_packages(&self) -> bool {
        let mut parts = self.servers.values().flat_map(Server::parts);
        parts.any(|part| matches!(part.program, Program::Package(_)))
    }

    /// Finds the programs of servers by name, building those that are packages or have a build command of their own;
    /// failures are recorded in `broken`. Programs that are known already stay, and equal commands run once.
    pub fn build<'a>(&mut self, names: impl Iterator<Item = &'a str>, builder: &Builder) {
        let mut cache = BuildCache {
            installing: self.installing_commands(),
            ..BuildCache::default()
        };
        for name in names {
            let is_broken = self.broken.contains_key(name);
            let Some(server) = self.servers.get(name).filter(|_| !is_broken) else {
                continue;
            };
            for part in server.parts() {
                let key = part.key();
                if self.programs.contains_key(&key) {
                    continue;
                }
                match cache.program(part, &self.folder, builder) {
                    Ok(program) => {
                        if matches!(part.program, Program::Package(_)) {
                            self.packages.insert(key.clone());
                        }
                        self.programs.insert(key, program);
                    }
                    Err(reason) => {
                        let tier = part.tier.as_ref();
                        let reason = tier.map_or_else(|| reason.clone(), |tier| format!("tier {tier}: {reason}"));
                        self.broken.insert(name.to_owned(), reason);
                        break;
                    }
                }
            }
        }
        self.environment.extend(cache.environment);
    }

    /// The build commands of all its servers that install Python packages, also of those that are not built now: all of them
    /// fill one environment.
    fn installing_commands(&self) -> BTreeSet<Vec<String>> {
        let parts = self.servers.values().flat_map(Server::parts);
        let builds = parts.filter_map(|part| part.build.as_ref());
        builds.filter(|words| python::installs(words)).cloned().collect()
    }
}

/// What was built so far, so that nothing is built twice.
#[derive(Default)]
struct BuildCache {
    /// The build commands that install Python packages.
    installing: BTreeSet<Vec<String>>,
    packages: BTreeMap<String, Result<PathBuf, String>>,
    commands: BTreeMap<Vec<String>, Result<(), String>>,
    /// What programs need to run in the Python environment that was made; empty without one.
    environment: BTreeMap<String, String>,
}

impl BuildCache {
    /// The command of a process, program first.
    fn program(&mut self, part: &Part, folder: &Path, builder: &Builder) -> Result<Vec<String>, String> {
        match &part.program {
            Program::Package(package) => {
                let build = || builder.package(package);
                let path = self.packages.entry(package.clone()).or_insert_with(build).clone()?;
                Ok(vec![path.to_string_lossy().into_owned()])
            }
            Program::Command(command) => {
                if let Some(words) = &part.build {
                    if python::installs(words) && self.environment.is_empty() {
                        let commands = self.installing.iter().map(Vec::as_slice).collect();
                        self.environment = python::environment(folder, &commands, &builder.interrupt)?;
                    }
                    let build = || build::command(words, folder, &self.environment, builder);
                    self.commands.entry(words.clone()).or_insert_with(build).clone()?;
                }
                Ok(in_folder(command, folder))
            }
        }
    }
}

/// A command whose program is a relative path starts from the side's folder; a bare name is looked up on PATH.
pub fn in_folder(command: &[String], folder: &Path) -> Vec<String> {
    let mut command = command.to_vec();
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        *program = folder.join(&*program).to_string_lossy().into_owned();
    }
    command
}

impl std::fmt::Display for Side {
    /// The side as text: `baseline main (1a2b3c4d5e6f)`.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let VariantRevision {
            variant,
            commit,
            modified,
            name,
            ..
        } = &self.revision;
        write!(to, "{}", variant.name())?;
        if let Some(name) = name {
            write!(to, " {name}")?;
        }
        match commit.as_deref().and_then(|commit| commit.get(..12)) {
            Some(commit) if *modified == Some(true) => write!(to, " ({commit} with local changes)"),
            Some(commit) => write!(to, " ({commit})"),
            None => Ok(()),
        }
    }
}
