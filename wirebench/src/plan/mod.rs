//! The plan: which series are measured, with what load, in which order, and what is measured again. Pure.

pub mod expected;
mod order;
pub mod rerun;
pub mod shards;

use std::collections::BTreeMap;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::declare::Project;
use crate::declare::args::Arg;
use crate::declare::driver::{Driver, Mode};
use crate::declare::project::Profile;
use crate::declare::protocol::Protocol;
use crate::declare::scenario::{Amount, Load, Scenario};
use crate::declare::server::{Operation, Program, Server};

pub use order::{Slot, Stretch, pairs};

/// Which series are wanted: globs by scenario, server and driver; none given means all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Globs over scenario names.
    pub scenarios: Vec<String>,
    /// Globs over server names.
    pub servers: Vec<String>,
    /// Globs over driver names.
    pub drivers: Vec<String>,
}

/// Why no plan can be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A pattern that is not a glob.
    #[error("--{kind} {pattern}: not a glob: {source}")]
    Pattern {
        /// `scenario`, `server` or `driver`.
        kind: &'static str,
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// A pattern that matches nothing.
    #[error("--{kind} {pattern}: matches no {kind}; there are {}", known.join(", "))]
    NoMatch {
        /// `scenario`, `server` or `driver`.
        kind: &'static str,
        /// The pattern.
        pattern: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Nothing is left to measure.
    #[error(
        "nothing to measure: no chosen scenario, server and driver share a protocol that fits the load; `wirebench list` shows the series there are"
    )]
    Empty,
}

/// One scenario, server and driver that fit together.
#[derive(Debug, Clone)]
pub struct PlannedSeries<'a> {
    /// `scenario@server@driver`.
    pub id: String,
    /// What is asked.
    pub scenario: &'a Scenario,
    /// Who answers.
    pub server: &'a Server,
    /// Who asks.
    pub driver: &'a Driver,
    /// What they speak.
    pub protocol: Protocol,
    /// How the driver is called for it.
    pub mode: &'a Mode,
    /// How the server is asked.
    pub operation: &'a Operation,
    /// The scenario's load, cut to the profile's caps.
    pub load: Load,
    /// Twelve hex digits over all that defines the question: another digest is another question.
    pub digest: String,
}

/// Finds every series that the selection and the profile ask for.
///
/// # Errors
/// When a pattern is wrong or matches nothing, or no series is left.
pub fn series<'a>(
    project: &'a Project,
    profile: &Profile,
    selection: &Selection,
) -> Result<Vec<PlannedSeries<'a>>, PlanError> {
    for (wanted, known) in wanted(project, profile, selection) {
        wanted.check(&known)?;
    }
    let found = declared(project, profile, selection)?;
    if found.is_empty() {
        Err(PlanError::Empty)
    } else {
        Ok(found)
    }
}

/// Finds the series of a project that may lack some of what is asked for, such as an older revision.
///
/// # Errors
/// When a pattern is wrong.
pub fn declared<'a>(
    project: &'a Project,
    profile: &Profile,
    selection: &Selection,
) -> Result<Vec<PlannedSeries<'a>>, PlanError> {
    let [scenarios, servers, drivers] = wanted(project, profile, selection).map(|(wanted, _)| wanted.globs());
    let (scenarios, servers, drivers) = (scenarios?, servers?, drivers?);
    let counting = Wanted {
        kind: "driver",
        patterns: &project.config.count.drivers,
    };
    let counting = counting.globs()?;
    let mut found = Vec::new();
    for scenario in project.scenarios.iter().filter(|s| scenarios.is_match(&s.name)) {
        for server in project.servers.iter().filter(|s| servers.is_match(&s.name)) {
            for driver in project.drivers.iter().filter(|d| drivers.is_match(&d.name)) {
                if scenario.load.is_counted() && !counting.is_match(&driver.name) {
                    continue;
                }
                found.extend(fit(scenario, server, driver, profile));
            }
        }
    }
    Ok(found)
}

/// The patterns that hold for one kind of declaration.
struct Wanted<'a> {
    kind: &'static str,
    patterns: &'a [String],
}

/// What is asked of scenarios, servers and drivers, each with the names there are.
fn wanted<'a>(project: &Project, profile: &'a Profile, selection: &'a Selection) -> [(Wanted<'a>, Vec<String>); 3] {
    let pick = |kind, asked: &'a [String], by_profile: &'a [String]| Wanted {
        kind,
        patterns: if asked.is_empty() { by_profile } else { asked },
    };
    let scenarios = project.scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    let servers = project.servers.iter().map(|server| server.name.clone()).collect();
    let drivers = project.drivers.iter().map(|driver| driver.name.clone()).collect();
    [
        (pick("scenario", &selection.scenarios, &profile.scenarios), scenarios),
        (pick("server", &selection.servers, &profile.servers), servers),
        (pick("driver", &selection.drivers, &profile.drivers), drivers),
    ]
}

impl Wanted<'_> {
    fn glob(&self, pattern: &str) -> Result<Glob, PlanError> {
        Glob::new(pattern).map_err(|source| PlanError::Pattern {
            kind: self.kind,
            pattern: pattern.to_owned(),
            source,
        })
    }

    /// Whether each pattern matches something.
    fn check(&self, known: &[String]) -> Result<(), PlanError> {
        for pattern in self.patterns {
            let matcher = self.glob(pattern)?.compile_matcher();
            if !known.iter().any(|name| matcher.is_match(name)) {
                return Err(PlanError::NoMatch {
                    kind: self.kind,
                    pattern: pattern.clone(),
                    known: known.to_vec(),
                });
            }
        }
        Ok(())
    }

    /// All patterns as one; no pattern matches everything.
    fn globs(&self) -> Result<GlobSet, PlanError> {
        let mut set = GlobSetBuilder::new();
        for pattern in self.patterns {
            set.add(self.glob(pattern)?);
        }
        if self.patterns.is_empty() {
            set.add(self.glob("*")?);
        }
        set.build().map_err(|source| PlanError::Pattern {
            kind: self.kind,
            pattern: self.patterns.join(" "),
            source,
        })
    }
}

fn fit<'a>(
    scenario: &'a Scenario,
    server: &'a Server,
    driver: &'a Driver,
    profile: &Profile,
) -> Option<PlannedSeries<'a>> {
    let operation = server.operations.get(&scenario.operation)?;
    let starts = matches!(scenario.load.amount, Amount::Starts(_));
    let fits = |protocol: &Protocol| {
        let answered = if starts {
            *protocol == Protocol::Process
        } else {
            server.protocols.contains(protocol)
        };
        let meant = scenario.protocols.as_ref().is_none_or(|list| list.contains(protocol));
        let can = driver.protocols.get(protocol).is_some_and(|mode| {
            (scenario.load.streams == 1 || mode.multiplexes) && (scenario.load.rate.is_none() || mode.rate)
        });
        answered && meant && can
    };
    let protocol = Protocol::ALL.into_iter().find(fits)?;
    let mode = &driver.protocols[&protocol];
    let load = capped(&scenario.load, profile);
    let id = format!("{}@{}@{}", scenario.name, server.name, driver.name);
    let digest = digest(protocol, &load, server, operation, driver, mode);
    Some(PlannedSeries {
        id,
        scenario,
        server,
        driver,
        protocol,
        mode,
        operation,
        load,
        digest,
    })
}

/// Cuts a load to the profile's caps; a request count stays a multiple of the workers.
fn capped(load: &Load, profile: &Profile) -> Load {
    let workers = u64::from(load.workers());
    let amount = match load.amount {
        Amount::Requests(requests) => {
            let cap = profile
                .requests_at_most
                .map_or(requests, |cap| (cap / workers).max(1) * workers);
            Amount::Requests(requests.min(cap))
        }
        Amount::Duration(span) => Amount::Duration(profile.duration_at_most.map_or(span, |cap| span.min(cap))),
        counted @ Amount::Counted { .. } => counted,
        Amount::Starts(starts) => Amount::Starts(profile.starts_at_most.map_or(starts, |cap| starts.min(cap.max(2)))),
    };
    Load {
        amount,
        warmup: load.warmup.or(profile.warmup.filter(|_| !load.is_counted())),
        ..load.clone()
    }
}

fn digest(
    protocol: Protocol,
    load: &Load,
    server: &Server,
    operation: &Operation,
    driver: &Driver,
    mode: &Mode,
) -> String {
    #[derive(Serialize)]
    struct Question<'a> {
        protocol: Protocol,
        load: &'a Load,
        server: (&'a Program, &'a [Arg], &'a BTreeMap<String, String>, Option<u16>),
        operation: &'a Operation,
        driver: (&'a str, &'a Option<String>, &'a Mode),
    }
    let question = Question {
        protocol,
        load,
        server: (&server.program, &server.args, &server.env, server.port),
        operation,
        driver: (&driver.tool.program, &driver.tool.version, mode),
    };
    let text = serde_json::to_vec(&question).expect("declarations are plain data with text keys");
    Sha256::digest(&text)
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
