//! A side opened: its files checked out, its declarations read, its servers built.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::git;
use crate::measure::build::{Workshop, active_toolchain};
use crate::measure::dependencies;
use crate::measure::interrupt::Interrupt;
use crate::measure::same_program::{Compared, Files};
use crate::measure::side::Side;
use crate::session::{Asked, What};
use wirebench_declare::Project;
use wirebench_declare::accepted;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::read::DeclareError;
use wirebench_record::accepted::Accepted;
use wirebench_record::run::{Dependency, Variant};

/// A side whose declarations were read.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) side: Side,
    /// The side's own declarations, if they are not the project's.
    pub(super) declares: Option<Project>,
    workshop: Workshop,
}

impl Opened {
    /// Checks out the side's files if needed, and reads its declarations.
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
            log::warn!("{}: declares no servers yet", opened.side);
        }
        Ok(opened)
    }

    /// Reads the declarations in the side's own folder. If its servers cannot be read the side is broken; if other
    /// declarations cannot be read, only its own load is unknown.
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
            Err(error) => log::warn!("{}: what it asks is unknown: {error}", self.side),
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

/// Builds every side, until the user asks to stop. The project's own folder comes first: a revision of the same commit
/// then reuses its programs.
pub(super) fn build(opened: &mut [Opened], series: &[PlannedSeries], interrupt: &Interrupt) {
    let several = opened.len() > 1;
    let mut order: Vec<&mut Opened> = opened.iter_mut().collect();
    order.sort_by_key(|one| one.workshop.reuse);
    for one in order {
        if interrupt.asked() {
            break;
        }
        if several {
            log::info!("building {}", one.side);
        }
        one.build(series);
    }
}

/// The sides to measure, with the baseline's second copy where sides are compared.
pub(super) fn sides(opened: &[Opened], compares: bool) -> Vec<Side> {
    let mut sides: Vec<Side> = opened.iter().map(|one| one.side.clone()).collect();
    if let Some([base, _]) = both(opened).filter(|_| compares) {
        let mut null = base.clone();
        null.revision.variant = Variant::Null;
        sides.push(null);
    }
    sides
}

/// Baseline and candidate, where both are measured.
fn both(opened: &[Opened]) -> Option<[&Side; 2]> {
    let side = |variant| {
        let mut sides = opened.iter().map(|one| &one.side);
        sides.find(|side| side.revision.variant == variant)
    };
    Some([side(Variant::Baseline)?, side(Variant::Candidate)?])
}

/// The servers that are the same program on both sides, once built; empty without a baseline.
pub(super) fn same_programs(opened: &[Opened]) -> BTreeSet<String> {
    let Some(sides) = both(opened) else {
        return BTreeSet::new();
    };
    let files = sides.map(|side| {
        let root = side.repository.clone().unwrap_or_else(|| side.folder.clone());
        Files {
            names: git::files(&root),
            root,
        }
    });
    let compared = Compared::new(sides, [&files[0], &files[1]]);
    let servers = sides[1].servers.keys();
    servers.filter(|server| compared.is_same(server)).cloned().collect()
}

/// The packages of which the two sides run different versions; empty without a baseline.
pub(super) fn different_dependencies(opened: &[Opened]) -> Vec<Dependency> {
    let Some([base, head]) = both(opened).map(|sides| sides.map(dependencies::of)) else {
        return Vec::new();
    };
    let mut found: BTreeMap<String, Dependency> = BTreeMap::new();
    let of = |found: &mut BTreeMap<String, Dependency>, name: &str, set: &dyn Fn(&mut Dependency)| {
        set(found.entry(name.to_owned()).or_insert_with(|| Dependency {
            name: name.to_owned(),
            baseline: None,
            candidate: None,
        }));
    };
    for (name, version) in base.difference(&head) {
        of(&mut found, name, &|one| one.baseline = Some(version.clone()));
    }
    for (name, version) in head.difference(&base) {
        of(&mut found, name, &|one| one.candidate = Some(version.clone()));
    }
    found.into_values().collect()
}

/// The entries of the candidate's accepted.toml that the baseline's does not have: they come with the change that they
/// accept. Empty without a baseline.
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

/// Twelve hex digits that identify a folder's path: each side needs a Cargo target folder of its own, even if Cargo is
/// configured to share one.
fn key_of(folder: &Path) -> String {
    let digest = <sha2::Sha256 as sha2::Digest>::digest(folder.to_string_lossy().as_bytes());
    let digits: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("folder-{digits}")
}
