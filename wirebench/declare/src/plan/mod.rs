//! The plan: which series are measured, with what load, in which order, and what is measured again. Pure.

pub mod budget;
pub(crate) mod digest;
mod order;
pub mod rates;
pub mod rerun;
pub mod shards;
mod wanted;
pub mod warm_up;

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::Project;
use crate::driver::{Driver, Mode};
use crate::load;
use crate::plan::digest::digest;
use crate::plan::wanted::Chosen;
use crate::project::Profile;
use crate::protocol::Protocol;
use crate::read::DeclareError;
use crate::scenario::{Amount, Load, Scenario};
use crate::server::{Operation, Server};

pub use order::{NULL_EVERY, Slot, Stretch, pairs};
pub use wanted::{Selection, Unmatched};

/// A planned series: a scenario, a server and a driver that fit together.
#[derive(Debug, Clone)]
pub struct PlannedSeries<'a> {
    /// `scenario@server@driver`.
    pub id: String,
    /// The work offered.
    pub scenario: &'a Scenario,
    /// The server under test.
    pub server: &'a Server,
    /// The load generator.
    pub driver: &'a Driver,
    /// The protocol between them.
    pub protocol: Protocol,
    /// The driver's mode for this protocol.
    pub mode: &'a Mode,
    /// The server's operation.
    pub operation: &'a Operation,
    /// The scenario's load, cut to the profile's caps.
    pub load: Load,
    /// Twelve hex digits over everything that defines the series: values with different digests are not comparable.
    pub digest: String,
}

impl PlannedSeries<'_> {
    /// The same series, with the same digest, under another load: that of a warm-up, of a calibration, or of one pod.
    pub fn with_load(&self, load: Load) -> Self {
        Self { load, ..self.clone() }
    }
}

/// Finds every series that the selection and the profile ask for. A timed series brings in the counts of its request.
///
/// # Errors
/// When a pattern is wrong or matches nothing, or no series is left.
pub fn series<'a>(
    project: &'a Project,
    profile: &Profile,
    selection: &Selection,
) -> Result<Vec<PlannedSeries<'a>>, DeclareError> {
    let found = declared(project, profile, selection, Unmatched::Refused)?;
    let unfit = |pattern: &&String| {
        let only = only(std::slice::from_ref(*pattern));
        !found.iter().any(|one| only.is_match(&one.id))
    };
    let message = if let Some(pattern) = selection.series.iter().find(unfit) {
        format!("--series {pattern}: matches no series; `wirebench list` shows them")
    } else if let (true, Some(pattern)) = (selection.is_everything(), profile.series.iter().find(unfit)) {
        format!(
            "wirebench.toml: profiles.{}.series: \"{pattern}\" matches no series that the profile could have; `wirebench list --scenario … --server … --driver …` shows them",
            profile.name
        )
    } else if found.is_empty() {
        "nothing to measure: no chosen scenario, server and driver share a protocol that fits the load; `wirebench list` shows the series there are".to_owned()
    } else {
        return Ok(found);
    };
    Err(DeclareError(message))
}

/// Finds the series of a project, which may lack some of the selected scenarios, servers or drivers if that is allowed.
///
/// # Errors
/// When a pattern is wrong, or matches nothing and that is refused.
pub fn declared<'a>(
    project: &'a Project,
    profile: &Profile,
    selection: &Selection,
    unmatched: Unmatched,
) -> Result<Vec<PlannedSeries<'a>>, DeclareError> {
    let chosen = Chosen::new(project, profile, selection, unmatched)?;
    let (counting, within) = (only(&project.config.count.drivers), only(&profile.series));
    for pattern in &selection.series {
        wanted::glob("series", pattern)?;
    }
    let wanted = only(&selection.series);
    let mut found: Vec<PlannedSeries> = Vec::new();
    // Counted scenarios come last in a project, after the series that they belong to.
    for scenario in &project.scenarios {
        let is_chosen = chosen.has(scenario);
        for server in chosen.servers(project) {
            if !is_chosen && !found.iter().any(|one| is_counted_by(one, scenario, server)) {
                continue;
            }
            for driver in chosen.drivers(project, scenario) {
                if scenario.load.is_counted() && !counting.is_match(&driver.name) {
                    continue;
                }
                let fitting = fit(scenario, server, driver, profile);
                found.extend(fitting.filter(|one| {
                    (profile.series.is_empty() || within.is_match(&one.id))
                        && (selection.series.is_empty() || wanted.is_match(&one.id))
                }));
            }
        }
    }
    Ok(found)
}

/// Whether a counted scenario counts the request of a timed series: the same operation of the same server.
fn is_counted_by(timed: &PlannedSeries, scenario: &Scenario, server: &Server) -> bool {
    scenario.load.is_counted()
        && !timed.load.is_counted()
        && timed.scenario.operation == scenario.operation
        && timed.server.name == server.name
}

/// One matcher for several globs.
pub(crate) fn only(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).expect("the globs of declarations are checked when they are read"));
    }
    set.build().expect("globs that are good alone are good together")
}

fn fit<'a>(
    scenario: &'a Scenario,
    server: &'a Server,
    driver: &'a Driver,
    profile: &Profile,
) -> Option<PlannedSeries<'a>> {
    let operation = server.operations.get(&scenario.operation)?;
    // Counting follows one process, in lock step with the driver.
    if scenario.load.is_counted() && !server.tiers.is_empty() {
        return None;
    }
    let starts = matches!(scenario.load.amount, Amount::Starts(_));
    let samples = matches!(scenario.load.amount, Amount::Samples(_));
    if samples != matches!(operation, Operation::Bench(_)) {
        return None;
    }
    let in_turn = matches!(operation, Operation::Http(http) if !http.more_paths.is_empty());
    let has_metadata = matches!(operation, Operation::Grpc(rpc) if !rpc.metadata.is_empty());
    let fits = |protocol: &Protocol| {
        let is_served = if starts {
            *protocol == Protocol::Process
        } else {
            server.protocols.contains(protocol)
        };
        let is_wanted = scenario.protocols.as_ref().is_none_or(|list| list.contains(protocol));
        let can = driver.protocols.get(protocol).is_some_and(|mode| {
            let paths = !in_turn || mode.takes_paths();
            mode.takes(&scenario.load) && paths && (!has_metadata || mode.takes_metadata())
        });
        is_served && is_wanted && can
    };
    let protocol = Protocol::all().find(fits)?;
    let mode = &driver.protocols[&protocol];
    let load = if scenario.whole { warmed } else { capped }(&scenario.load, profile);
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
    let mut load = warmed(load, profile);
    match &mut load.amount {
        Amount::Requests(requests) => {
            let cap = profile.requests_at_most.map(|cap| (cap / workers).max(1) * workers);
            *requests = cap.map_or(*requests, |cap| cap.min(*requests));
        }
        Amount::Duration(span) => *span = profile.duration_at_most.map_or(*span, |cap| cap.min(*span)),
        Amount::Stages(stages) => *stages = load::cut(stages, profile.duration_at_most),
        Amount::Starts(starts) => *starts = profile.starts_at_most.map_or(*starts, |cap| cap.max(2).min(*starts)),
        Amount::Samples(_) | Amount::Counted { .. } => {}
    }
    load
}

/// A load with its own warm-up, or else the profile's.
fn warmed(load: &Load, profile: &Profile) -> Load {
    let warms_up = !load.is_counted() && !matches!(load.amount, Amount::Samples(_));
    Load {
        warmup: load.warmup.or(profile.warmup.filter(|_| warms_up)),
        ..load.clone()
    }
}
