//! Selects the scenarios, servers and drivers that match the command line or the profile's lists and take part in the
//! profile. A name in full is always selected. Pure.

use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};

use crate::Project;
use crate::driver::Driver;
use crate::profiles::Profiles;
use crate::project::Profile;
use crate::read::DeclareError;
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

/// A glob of the flag `--KIND`.
pub(super) fn glob(kind: &str, pattern: &str) -> Result<GlobMatcher, DeclareError> {
    let glob =
        Glob::new(pattern).map_err(|source| DeclareError(format!("--{kind} {pattern}: not a glob: {source}")))?;
    Ok(glob.compile_matcher())
}

/// Whether a pattern may choose nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmatched {
    /// It may: an older revision may lack what is chosen.
    Allowed,
    /// It is an error.
    Refused,
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
    /// Chooses by what the command line names, or else the profile.
    ///
    /// # Errors
    /// When a pattern is not a glob; if refused, also when it matches nothing, or only declarations that take no part in the profile.
    pub(super) fn new(
        project: &'a Project,
        profile: &Profile,
        selection: &Selection,
        unmatched: Unmatched,
    ) -> Result<Self, DeclareError> {
        let choose = |kind, named: &[String], by_profile: &[String], declared: Vec<(&'a str, &Profiles)>| {
            let patterns = if named.is_empty() { by_profile } else { named };
            names(kind, patterns, &profile.name, &declared, unmatched)
        };
        let scenarios = (project.scenarios.iter())
            .map(|one| (&*one.name, &one.profiles))
            .collect();
        let servers = (project.servers.iter())
            .map(|one| (&*one.name, &one.profiles))
            .collect();
        let drivers = (project.drivers.iter())
            .map(|one| (&*one.name, &one.profiles))
            .collect();
        Ok(Self {
            scenarios: choose("scenario", &selection.scenarios, &profile.scenarios, scenarios)?,
            servers: choose("server", &selection.servers, &profile.servers, servers)?,
            drivers: choose("driver", &selection.drivers, &profile.drivers, drivers)?,
            names_drivers: !(selection.drivers.is_empty() && profile.drivers.is_empty()),
        })
    }

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

/// The names of one kind that patterns choose; without patterns, every one that takes part in the profile.
fn names<'a>(
    kind: &str,
    patterns: &[String],
    profile: &str,
    declared: &[(&'a str, &Profiles)],
    unmatched: Unmatched,
) -> Result<BTreeSet<&'a str>, DeclareError> {
    if patterns.is_empty() {
        let part = declared.iter().filter(|(_, profiles)| profiles.have(profile));
        return Ok(part.map(|(name, _)| *name).collect());
    }
    let mut names = BTreeSet::new();
    for pattern in patterns {
        let glob = glob(kind, pattern)?;
        let matched: Vec<_> = declared.iter().filter(|(name, _)| glob.is_match(name)).collect();
        let is_taken = |(name, profiles): &&&(&str, &Profiles)| name == pattern || profiles.have(profile);
        let mut taken = matched.iter().filter(is_taken).map(|(name, _)| *name).peekable();
        if taken.peek().is_none() && unmatched == Unmatched::Refused {
            let message = if matched.is_empty() {
                let known: Vec<&str> = declared.iter().map(|(name, _)| *name).collect();
                format!("matches no {kind}; there are {}", known.join(", "))
            } else {
                let elsewhere = |(name, profiles): &&(&str, &Profiles)| {
                    format!("{name} ({})", profiles.named().unwrap_or_default().join(", "))
                };
                let found = matched.iter().map(elsewhere).collect::<Vec<_>>().join(", ");
                format!(
                    "matches no {kind} of profile {profile}; name one in full to bring it in, or give --profile: {found}"
                )
            };
            return Err(DeclareError(format!("--{kind} {pattern}: {message}")));
        }
        names.extend(taken);
    }
    Ok(names)
}
