//! A side: the code of one variant, built, and how its servers are started. The questions they are asked are not its own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::declare::args::Arg;
use crate::declare::protocol::Protocol;
use crate::declare::server::{Program, Server};
use crate::measure::build::{self, Workshop};
use crate::plan::PlannedSeries;
use crate::record::run::VariantRevision;

/// One variant's servers.
#[derive(Debug, Clone)]
pub struct Side {
    /// Which variant, of what code.
    pub revision: VariantRevision,
    /// The folder that its servers are started in.
    pub folder: PathBuf,
    /// The root of the repository that the folder is in; none outside of one.
    pub repository: Option<PathBuf>,
    /// How its servers are started, by name.
    pub servers: BTreeMap<String, Server>,
    /// Each server's command, program first, by server name.
    pub programs: BTreeMap<String, Vec<String>>,
    /// Why a server cannot be started, by server name.
    pub broken: BTreeMap<String, String>,
    /// Arguments that a server gets after its own, by series id; a self-test slows a side down with them.
    pub extra_args: BTreeMap<String, Vec<String>>,
}

impl Side {
    /// A side of which nothing is built yet.
    #[must_use]
    pub fn new(revision: VariantRevision, folder: PathBuf, servers: &[Server]) -> Self {
        Self {
            revision,
            folder,
            repository: None,
            servers: servers
                .iter()
                .map(|server| (server.name.clone(), server.clone()))
                .collect(),
            programs: BTreeMap::new(),
            broken: BTreeMap::new(),
            extra_args: BTreeMap::new(),
        }
    }

    /// Whether it declares what a series needs: the server, its protocol and its operation.
    #[must_use]
    pub fn declares(&self, series: &PlannedSeries) -> bool {
        self.servers.get(&series.server.name).is_some_and(|server| {
            let speaks = series.protocol == Protocol::Process || server.protocols.contains(&series.protocol);
            speaks && server.operations.contains_key(&series.scenario.operation)
        })
    }

    /// How the server of a series is started here.
    ///
    /// # Panics
    /// When the side does not declare it.
    #[must_use]
    pub fn server_of(&self, series: &PlannedSeries) -> Server {
        let mut server = self.servers[&series.server.name].clone();
        let extra = self.extra_args.get(&series.id).into_iter().flatten();
        server.args.extend(extra.cloned().map(Arg::One));
        server
    }

    /// Finds the programs of the servers named, building those that are packages or have a build command of their own;
    /// what fails is noted in `broken`. Programs known already stay, and equal commands run once.
    pub fn build<'a>(&mut self, names: impl Iterator<Item = &'a str>, workshop: &Workshop) {
        let mut built = BTreeMap::new();
        let mut commands = BTreeMap::new();
        for name in names {
            let Some(server) = self.servers.get(name) else { continue };
            if self.programs.contains_key(name) || self.broken.contains_key(name) {
                continue;
            }
            let program = match &server.program {
                Program::Package(package) => built
                    .entry(package.clone())
                    .or_insert_with(|| workshop.package(package))
                    .clone()
                    .map(|path| vec![path.to_string_lossy().into_owned()]),
                Program::Command(command) => match &server.build {
                    None => Ok(()),
                    Some(words) => commands
                        .entry(words.clone())
                        .or_insert_with(|| build::command(words, &self.folder))
                        .clone(),
                }
                .map(|()| self.in_folder(command)),
            };
            match program {
                Ok(program) => {
                    self.programs.insert(name.to_owned(), program);
                }
                Err(reason) => {
                    self.broken.insert(name.to_owned(), reason);
                }
            }
        }
    }

    /// A command whose program is a relative path starts from the side's folder; a bare name is looked up on PATH.
    fn in_folder(&self, command: &[String]) -> Vec<String> {
        let mut command = command.to_vec();
        if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
            *program = self.folder.join(&*program).to_string_lossy().into_owned();
        }
        command
    }
}

impl std::fmt::Display for Side {
    /// For people: `baseline main (1a2b3c4d5e6f)`.
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
