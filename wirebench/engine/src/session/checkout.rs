//! A side whose files are checked out and whose declarations are read: builds its servers, and compares it with the other side.
//!
//! The variants that are measured of each series, and the series that only one side has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::git;
use crate::measure::build::{self, Builder, active_toolchain};
use crate::measure::interrupt::Interrupt;
use crate::measure::same_files::{Files, is_derived};
use crate::measure::same_program::{Compared, dependencies_of};
use crate::measure::side::Side;
use crate::session::recorder::unmeasured;
use crate::session::run::{CodeSource, SideRequest};
use wirebench_declare::plan::{PlannedSeries, Selection, Unmatched};
use wirebench_declare::project::Profile;
use wirebench_declare::read::DeclareError;
use wirebench_declare::{Project, accepted};
use wirebench_record::accepted::Accepted;
use wirebench_record::run::{Dependency, Series, Variant, VariantRevision};

/// A side whose declarations were read.
#[derive(Debug)]
pub(super) struct CheckedOutSide {
    pub(super) side: Side,
    /// The side's own declarations, if they are not the project's.
    pub(super) declares: Option<Project>,
    /// It has no `wirebench.toml`: it is from before the project used wirebench, and its servers are those of the project.
    is_undeclared: bool,
    builder: Builder,
}

impl CheckedOutSide {
    /// Checks out the side's files if needed, and reads its declarations.
    ///
    /// # Errors
    /// When git cannot check a revision out.
    fn new(
        request: &SideRequest,
        project: &Project,
        toolchain: Option<&str>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let root = &project.root;
        let work_path = |below: &str| git::work_path(root, below);
        let mut builder = Builder {
            folder: root.clone(),
            toolchain: toolchain.map(str::to_owned),
            interrupt: interrupt.clone(),
            ..Builder::default()
        };
        let mut revision = match &request.source {
            CodeSource::Project => {
                let state = git::state(root);
                if let Some(commit) = state.commit.as_ref().filter(|_| git::is_clean(root)) {
                    builder.cache = Some(builder.cache_below(&work_path("programs")?, commit));
                }
                state
            }
            CodeSource::Folder(folder) => {
                builder.folder.clone_from(folder);
                builder.target = Some(Builder::target_below(&work_path("target")?, folder));
                git::state(folder)
            }
            CodeSource::Revision(commit) => {
                builder.folder = git::checkout(root, commit)?;
                // One for all revisions: other people's crates are built once.
                let trees = builder.folder.parent().unwrap_or(&builder.folder);
                builder.target = Some(Builder::target_below(&work_path("target")?, trees));
                builder.cache = Some(builder.cache_below(&work_path("programs")?, commit));
                builder.reuse = true;
                builder.project = Some(root.clone());
                VariantRevision {
                    commit: Some(commit.clone()),
                    modified: Some(false),
                    committed_at: git::committed_at(root, commit),
                    ..VariantRevision::default()
                }
            }
            CodeSource::Commands(_) => VariantRevision::default(),
        };
        revision.variant = request.variant;
        revision.name = (!request.words.is_empty()).then(|| request.words.join(", "));
        let folder = builder.folder.clone();
        let mut checked_out = Self {
            side: Side::new(revision, folder.clone(), &project.servers),
            declares: None,
            is_undeclared: false,
            builder,
        };
        checked_out.side.repository = git::top(&folder);
        match &request.source {
            CodeSource::Project => {}
            CodeSource::Commands(commands) => checked_out.side.programs.clone_from(commands),
            CodeSource::Folder(_) | CodeSource::Revision(_) => {
                // A commit from before a project moved below another one declares everything above.
                let declared = [folder.join(project.within()), folder.clone()];
                match declared.iter().find(|folder| folder.join("wirebench.toml").is_file()) {
                    Some(declared) => checked_out.read(declared),
                    None => {
                        checked_out.is_undeclared = true;
                        log::info!(
                            "{}: has no wirebench.toml yet; its servers are built and started as this project declares them",
                            checked_out.side
                        );
                    }
                }
            }
        }
        if checked_out.side.servers.is_empty() {
            log::warn!("{}: declares no servers yet", checked_out.side);
        }
        Ok(checked_out)
    }

    /// Reads the declarations in a folder of the side. If its servers cannot be read the side is broken; if other
    /// declarations cannot be read, only the load that it declares is unknown.
    fn read(&mut self, folder: &Path) {
        match Project::servers_in(folder) {
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
        match Project::read(folder) {
            Ok(project) => self.declares = Some(project),
            Err(error) => log::warn!("{}: what it asks is unknown: {error}", self.side),
        }
    }

    /// Builds the servers that the series need, and says what is built.
    fn build(&mut self, series: &[PlannedSeries]) {
        let declared = series.iter().filter(|one| self.side.declares(one));
        let needed: Vec<&str> = declared.map(|one| one.server.name.as_str()).collect();
        let builds = self.side.builds(needed.iter().copied(), &self.builder);
        if !builds.is_empty() {
            let builds: Vec<String> = builds.into_iter().collect();
            log::info!(
                "building {}: {}{}{}",
                self.side,
                builds.join(", "),
                self.place(),
                self.settings()
            );
        }
        self.side.build(needed.into_iter(), &self.builder);
    }

    /// Whether it is a baseline from before the project used wirebench, in which a server cannot be built as the project
    /// declares it: the server is new, or was built in another way.
    pub(super) fn lacks(&self, server: &str) -> bool {
        let is_baseline = self.side.revision.variant == Variant::Baseline;
        is_baseline && self.is_undeclared && self.side.broken.contains_key(server)
    }

    /// The settings of Cargo's profiles that packages get from this environment, and no other machine gives them.
    fn settings(&self) -> String {
        let set: Vec<String> = build::profile_settings().collect();
        if set.is_empty() || !self.side.declares_packages() {
            return String::new();
        }
        format!("; with {} of this environment", set.join(" "))
    }

    /// Where packages of another folder or revision are built, and why there.
    fn place(&self) -> String {
        let Some(target) = self.builder.target.as_ref().filter(|_| self.side.declares_packages()) else {
            return String::new();
        };
        let first = if target.exists() {
            ""
        } else {
            "; the first build there compiles everything"
        };
        format!(
            " (apart from the project's own programs, in {}{first})",
            target.display()
        )
    }
}

/// Checks out every side. Two or more are built with one toolchain, the one active in the project's folder, where rustup
/// chooses it.
///
/// # Errors
/// When git cannot check a revision out.
pub(super) fn all(
    requests: &[SideRequest],
    project: &Project,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<CheckedOutSide>> {
    let compares = requests.len() > 1;
    let toolchain = compares.then(|| active_toolchain(&project.root)).flatten();
    requests
        .iter()
        .map(|request| CheckedOutSide::new(request, project, toolchain.as_deref(), interrupt))
        .collect()
}

/// Builds every side, until the user requests a stop. The project's own folder comes first: a revision of the same commit
/// then reuses its programs.
pub(super) fn build(sides: &mut [CheckedOutSide], series: &[PlannedSeries], interrupt: &Interrupt) {
    let mut order: Vec<&mut CheckedOutSide> = sides.iter_mut().collect();
    order.sort_by_key(|one| one.builder.reuse);
    for one in order {
        if interrupt.is_requested() {
            break;
        }
        one.build(series);
    }
}

/// The sides to measure, with the null where sides are compared.
pub(super) fn measured_sides(sides: &[CheckedOutSide], compares: bool) -> Vec<Side> {
    let mut measured: Vec<Side> = sides.iter().map(|one| one.side.clone()).collect();
    if let Some([base, _]) = both(sides).filter(|_| compares) {
        let mut null = base.clone();
        null.revision.variant = Variant::Null;
        measured.push(null);
    }
    measured
}

/// Baseline and candidate, where both are measured.
fn both(sides: &[CheckedOutSide]) -> Option<[&Side; 2]> {
    let side = |variant| Some(&of_variant(sides, variant)?.side);
    Some([side(Variant::Baseline)?, side(Variant::Candidate)?])
}
/// The side of a variant.
pub(super) fn of_variant(sides: &[CheckedOutSide], variant: Variant) -> Option<&CheckedOutSide> {
    sides.iter().find(|one| one.side.revision.variant == variant)
}

/// The servers that are the same program on both sides, once built; empty without a baseline.
pub(super) fn same_programs(sides: &[CheckedOutSide]) -> BTreeSet<String> {
    let Some(compared) = both(sides) else {
        return BTreeSet::new();
    };
    let files = compared.map(|side| {
        let root = side.repository.clone().unwrap_or_else(|| side.folder.clone());
        Files {
            names: git::with_submodules(&root, is_derived),
            root,
        }
    });
    let programs = Compared::new(compared, [&files[0], &files[1]]);
    let servers = compared[1].servers.keys();
    servers.filter(|server| programs.is_same(server)).cloned().collect()
}

/// The packages of which the two sides run different versions; empty without a baseline.
pub(super) fn different_dependencies(sides: &[CheckedOutSide]) -> Vec<Dependency> {
    both(sides).map_or_else(Vec::new, |sides| different_versions(sides.map(dependencies_of)))
}

/// Packages that both have, in different versions. A package that one side lacks is of a server that was only built on the other,
/// or comes with the change.
fn different_versions([base, head]: [BTreeSet<(String, String)>; 2]) -> Vec<Dependency> {
    let only_head: BTreeMap<&String, &String> = head.difference(&base).map(|(name, version)| (name, version)).collect();
    let changed = base.difference(&head).filter_map(|(name, version)| {
        Some(Dependency {
            name: name.clone(),
            baseline: Some(version.clone()),
            candidate: Some((*only_head.get(name)?).clone()),
        })
    });
    changed.collect()
}

/// The entries of the candidate's accepted.toml that the baseline's does not have: they come with the change that they
/// accept. Empty without a baseline. `within` is the project's folder in each side's.
///
/// # Errors
/// When one of the files is wrong.
pub(super) fn newly_accepted(sides: &[CheckedOutSide], within: &Path) -> Result<Vec<Accepted>, DeclareError> {
    let entries = |variant| {
        let side = of_variant(sides, variant);
        side.map(|one| accepted::read(&one.side.folder.join(within)))
            .transpose()
    };
    let Some(known) = entries(Variant::Baseline)? else {
        return Ok(Vec::new());
    };
    let mut new = entries(Variant::Candidate)?.unwrap_or_default();
    new.retain(|entry| !known.contains(entry));
    Ok(new)
}

/// The variants to measure.
#[derive(Debug)]
pub(super) struct VariantPlan {
    /// One entry for each series of the plan, in the plan's order.
    pub(super) entries: Vec<SeriesVariants>,
    /// Series that only the baseline declares.
    pub(super) removed: Vec<Series>,
}

/// What is measured of one series.
#[derive(Debug)]
pub(super) struct SeriesVariants {
    /// Variants to measure; empty when the candidate does not have the series.
    pub(super) variants: Vec<Variant>,
    /// Its record before the first round: which side lacks it, the digest of the baseline's own load if it differs, and whether
    /// baseline and candidate run the same program, so that they are not measured against each other.
    pub(super) record: Series,
}

impl VariantPlan {
    /// Measures servers that the baseline lacks, as its build showed, in the candidate alone.
    pub(super) fn without_lacking(&mut self, series: &[PlannedSeries], sides: &[CheckedOutSide]) {
        for (one, entry) in series.iter().zip(&mut self.entries) {
            if sides.iter().any(|side| side.lacks(&one.server.name)) {
                entry.variants.retain(|variant| *variant != Variant::Baseline);
                entry.record.missing_in.get_or_insert(Variant::Baseline);
            }
        }
    }

    /// Prepares the comparison of sides that have been built: unless `measure_identical`, skips series whose server is the same program
    /// on both sides (with a reference, candidate and reference are still measured, for the trend); adds the null wherever a baseline
    /// is measured against a candidate.
    pub(super) fn compare(&mut self, series: &[PlannedSeries], sides: &[CheckedOutSide], measure_identical: bool) {
        let same = if measure_identical {
            BTreeSet::new()
        } else {
            same_programs(sides)
        };
        let both = [Variant::Baseline, Variant::Candidate];
        let compares = |entry: &SeriesVariants| both.iter().all(|variant| entry.variants.contains(variant));
        let entries = series.iter().zip(&mut self.entries);
        for (one, entry) in entries.filter(|(_, entry)| compares(entry)) {
            if !same.contains(&one.server.name) {
                entry.variants.push(Variant::Null);
                continue;
            }
            entry.record.same_program = true;
            entry.variants.retain(|variant| *variant != Variant::Baseline);
            if entry.variants == [Variant::Candidate] {
                entry.variants.clear();
            }
        }
    }

    /// Keeps only the selected series; `keep_removed` selects those that only the baseline declares.
    pub(super) fn narrow(
        &mut self,
        series: &mut Vec<PlannedSeries>,
        keep: impl Fn(&PlannedSeries) -> bool,
        keep_removed: impl Fn(&Series) -> bool,
    ) {
        let mut kept = series.iter().map(&keep).collect::<Vec<bool>>().into_iter();
        self.entries.retain(|_| kept.next().unwrap_or(false));
        series.retain(keep);
        self.removed.retain(keep_removed);
    }
}

/// Plans the variants of every series by what the sides declare.
///
/// # Errors
/// When a pattern is wrong.
pub(super) fn plan_variants(
    sides: &[CheckedOutSide],
    series: &[PlannedSeries],
    profile: &Profile,
    selection: &Selection,
) -> Result<VariantPlan, DeclareError> {
    let baseline = of_variant(sides, Variant::Baseline);
    let declared_by_baseline = match baseline.and_then(|one| one.declares.as_ref()) {
        Some(project) => wirebench_declare::plan::declared(project, profile, selection, Unmatched::Allowed)?,
        None => Vec::new(),
    };
    let digests: BTreeMap<&str, &str> = declared_by_baseline
        .iter()
        .map(|one| (one.id.as_str(), one.digest.as_str()))
        .collect();
    let entry = |one: &PlannedSeries| {
        let lacks = |variant| of_variant(sides, variant).is_some_and(|side| !side.side.declares(one));
        let missing_in = [Variant::Candidate, Variant::Baseline].into_iter().find(|v| lacks(*v));
        let declaring = sides.iter().map(|side| &side.side).filter(|side| side.declares(one));
        let measured = declaring.filter(|_| missing_in != Some(Variant::Candidate));
        let baseline = digests.get(one.id.as_str()).filter(|digest| **digest != one.digest);
        SeriesVariants {
            variants: measured.map(|side| side.revision.variant).collect(),
            record: Series {
                missing_in,
                baseline_digest: baseline.map(|digest| (*digest).to_owned()),
                ..unmeasured(one)
            },
        }
    };
    let removed = declared_by_baseline
        .iter()
        .filter(|declared| series.iter().all(|planned| planned.id != declared.id))
        .map(|declared| Series {
            missing_in: Some(Variant::Candidate),
            ..unmeasured(declared)
        });
    Ok(VariantPlan {
        entries: series.iter().map(entry).collect(),
        removed: removed.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_one_side_lacks_is_no_other_version() {
        let packages = |all: &[(&str, &str)]| -> BTreeSet<_> {
            all.iter()
                .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()))
                .collect()
        };
        let sides = |base, head| [base, head].map(packages);
        let changed = different_versions(sides(
            &[("flask", "3.0"), ("gone", "1")],
            &[("flask", "3.1"), ("new", "2")],
        ));
        assert_eq!(changed.len(), 1, "{changed:?}");
        assert_eq!(
            (&*changed[0].name, changed[0].candidate.as_deref()),
            ("flask", Some("3.1"))
        );
        assert!(different_versions(sides(&[], &[("flask", "3.1")])).is_empty());
    }
}
