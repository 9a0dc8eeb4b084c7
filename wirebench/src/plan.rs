//! The plan: which series are measured, with what load, and in which order. Pure.

use std::collections::BTreeMap;

use globset::{Glob, GlobSet, GlobSetBuilder};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::declare::Project;
use crate::declare::args::Arg;
use crate::declare::driver::{Driver, Mode};
use crate::declare::project::Profile;
use crate::declare::protocol::Protocol;
use crate::declare::scenario::{Amount, Load, Scenario};
use crate::declare::server::{Operation, Program, Server};
use crate::record::run::Variant;

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

/// One driver run: which series, in which round, of which variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// Place in the whole run, from 0.
    pub position: usize,
    /// Round, from 0.
    pub round: u32,
    /// Index into the plan's series.
    pub series: usize,
    /// Whose server answers.
    pub variant: Variant,
    /// The stage, from 1.
    pub stage: u32,
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
    let scenarios = project.scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    let servers = project.servers.iter().map(|server| server.name.clone()).collect();
    let drivers = project.drivers.iter().map(|driver| driver.name.clone()).collect();
    let scenarios = chosen("scenario", &selection.scenarios, &profile.scenarios, scenarios)?;
    let servers = chosen("server", &selection.servers, &profile.servers, servers)?;
    let drivers = chosen("driver", &selection.drivers, &profile.drivers, drivers)?;

    let mut found = Vec::new();
    for scenario in project.scenarios.iter().filter(|s| scenarios.is_match(&s.name)) {
        for server in project.servers.iter().filter(|s| servers.is_match(&s.name)) {
            for driver in project.drivers.iter().filter(|d| drivers.is_match(&d.name)) {
                found.extend(fit(scenario, server, driver, profile));
            }
        }
    }
    if found.is_empty() {
        Err(PlanError::Empty)
    } else {
        Ok(found)
    }
}

/// Orders every round of `count` series: each round holds every series once, shuffled by the seed.
#[must_use]
pub fn order(count: usize, rounds: u32, seed: u64) -> Vec<Slot> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut slots = Vec::new();
    for round in 0..rounds {
        let mut turn: Vec<usize> = (0..count).collect();
        turn.shuffle(&mut random);
        for series in turn {
            slots.push(Slot {
                position: slots.len(),
                round,
                series,
                variant: Variant::Candidate,
                stage: 1,
            });
        }
    }
    slots
}

fn chosen(
    kind: &'static str,
    asked: &[String],
    by_profile: &[String],
    known: Vec<String>,
) -> Result<GlobSet, PlanError> {
    let everything = ["*".to_owned()];
    let patterns = [asked, by_profile, &everything]
        .into_iter()
        .find(|list| !list.is_empty())
        .unwrap_or(&everything);
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let wrong = |source| PlanError::Pattern {
            kind,
            pattern: pattern.clone(),
            source,
        };
        let glob = Glob::new(pattern).map_err(wrong)?;
        if !known.iter().any(|name| glob.compile_matcher().is_match(name)) {
            return Err(PlanError::NoMatch {
                kind,
                pattern: pattern.clone(),
                known,
            });
        }
        set.add(glob);
    }
    set.build().map_err(|source| PlanError::Pattern {
        kind,
        pattern: patterns.join(" "),
        source,
    })
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
        Amount::Starts(starts) => Amount::Starts(profile.starts_at_most.map_or(starts, |cap| starts.min(cap.max(2)))),
    };
    Load {
        amount,
        warmup: load.warmup.or(profile.warmup),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_round_holds_every_series_once(count in 1usize..20, rounds in 1u32..6, seed: u64) {
            let slots = order(count, rounds, seed);
            prop_assert_eq!(slots.len(), count * rounds as usize);
            for round in 0..rounds {
                let mut seen: Vec<usize> = slots.iter().filter(|s| s.round == round).map(|s| s.series).collect();
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..count).collect::<Vec<_>>());
            }
        }

        #[test]
        fn one_seed_gives_one_order(seed: u64) {
            prop_assert_eq!(order(8, 3, seed), order(8, 3, seed));
        }
    }

    #[test]
    fn another_seed_gives_another_order() {
        assert!((1..20).any(|seed| order(8, 3, seed) != order(8, 3, 0)));
    }
}
