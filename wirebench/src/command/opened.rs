//! A side opened: its files checked out, its declarations read, its servers built.

use std::path::Path;

use crate::command::git;
use crate::command::sides::{Asked, What};
use crate::declare::Project;
use crate::declare::accepted;
use crate::declare::read::DeclareError;
use crate::measure::build::{Workshop, active_toolchain};
use crate::measure::interrupt::Interrupt;
use crate::measure::side::Side;
use crate::plan::PlannedSeries;
use crate::record::accepted::Accepted;
use crate::record::run::Variant;

/// A side whose declarations were read.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) side: Side,
    /// What it declares by itself, when that is not the project's.
    pub(super) declares: Option<Project>,
    workshop: Workshop,
}

impl Opened {
    /// Checks the side's files out where needed, and reads what it declares.
    ///
    /// # Errors
    /// When git cannot check a revision out.
    fn new(asked: &Asked, project: &Project, toolchain: Option<&str>) -> anyhow::Result<Self> {
        let root = &project.root;
        let own = |below: &str| git::own(root, below);
        let mut workshop = Workshop {
            folder: root.clone(),
            toolchain: toolchain.map(str::to_owned),
            ..Workshop::default()
        };
        let mut revision = git::state(root);
        match &asked.what {
            What::Project => {
                if let Some(commit) = revision.commit.as_ref().filter(|_| git::is_clean(root)) {
                    workshop.kept = Some(workshop.kept_below(&own("programs")?, commit));
                }
            }
            What::Folder(folder) => {
                workshop.folder.clone_from(folder);
                workshop.target = Some(own("target")?.join(key_of(folder)));
                revision = git::state(folder);
            }
            What::Revision(commit) => {
                workshop.folder = git::checkout(root, commit)?;
                workshop.target = Some(own("target")?.join(&commit[..12]));
                workshop.kept = Some(workshop.kept_below(&own("programs")?, commit));
                workshop.reuse = true;
                revision.commit = Some(commit.clone());
                revision.modified = Some(false);
                revision.committed_at = git::committed_at(root, commit);
            }
            What::Commands(_) => {
                revision.commit = None;
                revision.modified = None;
                revision.committed_at = None;
            }
        }
        revision.variant = asked.variant;
        revision.name = (!asked.words.is_empty()).then(|| asked.words.join(", "));
        let folder = workshop.folder.clone();
        let repository = git::top(&folder);
        let mut opened = Self {
            side: Side::new(revision, folder.clone(), &project.servers),
            declares: None,
            workshop,
        };
        opened.side.repository = repository;
        match &asked.what {
            What::Project => {}
            What::Commands(commands) => opened.side.programs.clone_from(commands),
            What::Folder(_) | What::Revision(_) if !folder.join("wirebench.toml").is_file() => {
                opened.side.servers.clear();
            }
            What::Folder(_) | What::Revision(_) => opened.read(),
        }
        if opened.side.servers.is_empty() {
            eprintln!("{}: declares no servers yet", opened.side);
        }
        Ok(opened)
    }

    /// Reads the declarations in the side's own folder. Without its servers the side is broken; without the rest, only
    /// what it would have asked is unknown.
    fn read(&mut self) {
        match Project::servers_in(&self.side.folder) {
            Ok(servers) => {
                let named = servers.into_iter().map(|server| (server.name.clone(), server));
                self.side.servers = named.collect();
            }
            Err(error) => {
                let broken = self.side.servers.keys().map(|name| (name.clone(), error.to_string()));
                self.side.broken = broken.collect();
                return;
            }
        }
        match Project::read(&self.side.folder) {
            Ok(project) => self.declares = Some(project),
            Err(error) => eprintln!("{}: what it asks is unknown: {error}", self.side),
        }
    }

    /// Builds the servers that the series need.
    fn build(&mut self, series: &[PlannedSeries]) {
        let needed: Vec<&str> = series
            .iter()
            .filter(|one| self.side.declares(one))
            .map(|one| one.server.name.as_str())
            .collect();
        self.side.build(needed.into_iter(), &self.workshop);
    }
}

/// Opens every side. Two or more are built with one toolchain, the one active in the project's folder, where rustup
/// chooses it.
///
/// # Errors
/// When git cannot check a revision out.
pub(super) fn open(asked: &[Asked], project: &Project) -> anyhow::Result<Vec<Opened>> {
    let toolchain = if asked.len() > 1 {
        active_toolchain(&project.root)
    } else {
        None
    };
    asked
        .iter()
        .map(|one| Opened::new(one, project, toolchain.as_deref()))
        .collect()
}

/// Builds every side, until the user asks to stop.
pub(super) fn build(opened: &mut [Opened], series: &[PlannedSeries], interrupt: &Interrupt) {
    let several = opened.len() > 1;
    for one in opened {
        if interrupt.asked() {
            break;
        }
        if several {
            eprintln!("building {}", one.side);
        }
        one.build(series);
    }
}

/// What the candidate's accepted.toml says and the baseline's does not yet: it comes with the change that it accepts.
/// Nothing without a baseline.
///
/// # Errors
/// When one of the files is wrong.
pub(super) fn newly_accepted(opened: &[Opened]) -> Result<Vec<Accepted>, DeclareError> {
    let entries = |variant| {
        let side = opened
            .iter()
            .map(|one| &one.side)
            .find(|side| side.revision.variant == variant);
        side.map(|side| accepted::read(&side.folder)).transpose()
    };
    let Some(known) = entries(Variant::Baseline)? else {
        return Ok(Vec::new());
    };
    let mut new = entries(Variant::Candidate)?.unwrap_or_default();
    new.retain(|entry| !known.contains(entry));
    Ok(new)
}

/// Twelve hex digits for a folder's path: its target folder must be no other side's, whatever Cargo is configured to share.
fn key_of(folder: &Path) -> String {
    let digest = <sha2::Sha256 as sha2::Digest>::digest(folder.to_string_lossy().as_bytes());
    let digits: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("folder-{digits}")
}
