//! Selects the scenarios, servers and drivers that match the command line or the profile's lists and take part in the
//! profile. A name in full is always selected. Pure.

use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};

use crate::Project;
use crate::driver::Driver;
use crate::profiles::Profiles;
use crate::project::Profile;
use crate::scenario::Scenario;
use crate::server::Server;

/// Which series are selected: globs by scenario, server and driver; empty means all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Globs over scenario names.
    pub scenarios: Vec<String>,
    /// Globs over server names.
    pub servers: Vec<String>,
    /// Globs over driver names.
    pub drivers: Vec<String>,
    /// Globs over `scenario@server@driver`.
    pub series: Vec<String>,
}

impl Selection {
    /// True if nothing is named, so that the profile alone selects.
    pub const fn is_everything(&self) -> bool {
        self.scenarios.is_empty() && self.servers.is_empty() && self.drivers.is_empty() && self.series.is_empty()
    }
}

/// Why no plan can be made, as a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub(super) String);

/// A glob of the flag `--KIND`.
pub(super) fn glob(kind: &str, pattern: &str) -> Result<GlobMatcher, PlanError> {
    let glob = Glob::new(pattern).map_err(|source| PlanError(format!("--{kind} {pattern}: not a glob: {source}")))?;
    Ok(glob.compile_matcher())
}

/// The selection of one kind of declaration.
#[derive(Debug)]
struct Wanted<'a, 'p> {
    /// `scenario`, `server` or `driver`.
    kind: &'static str,
    /// The globs; empty means everything that takes part.
    patterns: &'p [String],
    /// The profile's name.
    profile: &'p str,
    /// Every name there is, and the profiles that it takes part in.
    declared: Vec<(&'a str, &'a Profiles)>,
}

/// The names wanted of each kind.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    scenarios: BTreeSet<&'a str>,
    servers: BTreeSet<&'a str>,
    drivers: BTreeSet<&'a str>,
    /// Whether the command line or the profile names drivers.
    names_drivers: bool,
}

impl<'a> Chosen<'a> {
    /// Whether a scenario is chosen.
    pub(super) fn has(&self, scenario: &Scenario) -> bool {
        self.scenarios.contains(&*scenario.name)
    }

    /// The servers chosen, in the project's order.
    pub(super) fn servers(&self, project: &'a Project) -> impl Iterator<Item = &'a Server> {
        project.servers.iter().filter(|one| self.servers.contains(&*one.name))
    }

    /// The drivers chosen for a scenario, in the project's order. A scenario that names its drivers brings them in, unless the
    /// command line or the profile names others.
    pub(super) fn drivers(&self, project: &'a Project, scenario: &'a Scenario) -> impl Iterator<Item = &'a Driver> {
        project.drivers.iter().filter(move |one| match &scenario.drivers {
            None => self.drivers.contains(&*one.name),
            Some(own) => own.contains(&one.name) && (!self.names_drivers || self.drivers.contains(&*one.name)),
        })
    }
}

/// Chooses by what the command line names, or else the profile.
///
/// # Errors
/// When a pattern is no glob.
pub(super) fn chosen<'a>(
    project: &'a Project,
    profile: &Profile,
    selection: &Selection,
) -> Result<Chosen<'a>, PlanError> {
    let [scenarios, servers, drivers] = wanted(project, profile, selection);
    Ok(Chosen {
        scenarios: scenarios.names()?,
        servers: servers.names()?,
        names_drivers: !drivers.patterns.is_empty(),
        drivers: drivers.names()?,
    })
}

/// Checks that each pattern selects something.
///
/// # Errors
/// When a pattern is not a glob, matches nothing, or matches only declarations that take no part in the profile.
pub(super) fn check(project: &Project, profile: &Profile, selection: &Selection) -> Result<(), PlanError> {
    wanted(project, profile, selection).iter().try_for_each(Wanted::check)
}

fn wanted<'a, 'p>(project: &'a Project, profile: &'p Profile, selection: &'p Selection) -> [Wanted<'a, 'p>; 3] {
    let pick = |kind, named: &'p [String], by_profile: &'p [String], declared| Wanted {
        kind,
        patterns: if named.is_empty() { by_profile } else { named },
        profile: &profile.name,
        declared,
    };
    let scenarios = project.scenarios.iter().map(|one| (&*one.name, &one.profiles));
    let servers = project.servers.iter().map(|one| (&*one.name, &one.profiles));
    let drivers = project.drivers.iter().map(|one| (&*one.name, &one.profiles));
    let (by_scenario, by_server, by_driver) = (&profile.scenarios, &profile.servers, &profile.drivers);
    [
        pick("scenario", &selection.scenarios, by_scenario, scenarios.collect()),
        pick("server", &selection.servers, by_server, servers.collect()),
        pick("driver", &selection.drivers, by_driver, drivers.collect()),
    ]
}

impl<'a> Wanted<'a, '_> {
    /// All names that a pattern matches, also those that do not take part in the profile.
    fn matched(&self, pattern: &str) -> Result<Vec<&(&'a str, &'a Profiles)>, PlanError> {
        let glob = glob(self.kind, pattern)?;
        Ok(self.declared.iter().filter(|(name, _)| glob.is_match(name)).collect())
    }

    /// True if a name that a pattern matches is selected by it.
    fn takes(&self, (name, profiles): &(&str, &Profiles), pattern: &str) -> bool {
        *name == pattern || profiles.have(self.profile)
    }

    fn names(&self) -> Result<BTreeSet<&'a str>, PlanError> {
        if self.patterns.is_empty() {
            let part = self.declared.iter().filter(|(_, profiles)| profiles.have(self.profile));
            return Ok(part.map(|(name, _)| *name).collect());
        }
        let mut names = BTreeSet::new();
        for pattern in self.patterns {
            let matched = self.matched(pattern)?.into_iter();
            names.extend(matched.filter(|one| self.takes(one, pattern)).map(|(name, _)| *name));
        }
        Ok(names)
    }

    fn check(&self) -> Result<(), PlanError> {
        let (kind, profile) = (self.kind, self.profile);
        for pattern in self.patterns {
            let matched = self.matched(pattern)?;
            if matched.is_empty() {
                let known: Vec<&str> = self.declared.iter().map(|(name, _)| *name).collect();
                let known = known.join(", ");
                return Err(PlanError(format!(
                    "--{kind} {pattern}: matches no {kind}; there are {known}"
                )));
            }
            if !matched.iter().any(|one| self.takes(one, pattern)) {
                let elsewhere = |(name, profiles): &&(&str, &Profiles)| {
                    let named = profiles.named().unwrap_or_default().join(", ");
                    format!("{name} ({named})")
                };
                let found = matched.iter().map(elsewhere).collect::<Vec<_>>().join(", ");
                return Err(PlanError(format!(
                    "--{kind} {pattern}: matches no {kind} of profile {profile}; name one in full to bring it in, or give --profile: {found}"
                )));
            }
        }
        Ok(())
    }
}
