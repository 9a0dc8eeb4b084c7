//! The series that a soak loads.

use std::time::Duration;

use super::args::Args;
use crate::flags::selection::SelectionArgs;
use crate::outcome::UsageError;
use wirebench_declare::Project;
use wirebench_declare::load::{Amount, Load};
use wirebench_declare::plan::{self, PlannedSeries, Selection};
use wirebench_declare::profiles::Profiles;
use wirebench_declare::scenario::Scenario;
use wirebench_declare::span::Span;

/// How long the capacity is measured.
const CAPACITY: Duration = Duration::from_secs(3);

/// The closed loop in which the capacity is measured.
pub(super) fn scenario(args: &Args) -> Scenario {
    Scenario {
        name: "soak".into(),
        about: String::new(),
        profiles: Profiles::all(),
        whole: true,
        operation: args.operation.clone(),
        load: Load::closed(args.connections, Amount::Duration(Span(CAPACITY.min(args.length.0)))),
        protocols: None,
        drivers: None,
        limits: Vec::new(),
    }
}

/// The series to use: of several drivers, one that can keep a rate.
pub(super) fn chosen<'a>(project: &'a Project, args: &Args) -> anyhow::Result<PlannedSeries<'a>> {
    let Some(server) = project.servers.iter().find(|server| server.name == args.server) else {
        let names: Vec<&str> = project.servers.iter().map(|server| &*server.name).collect();
        let message = format!(
            "--server {}: no such server; there are {}",
            args.server,
            names.join(", ")
        );
        return Err(UsageError(message).into());
    };
    if !server.operations.contains_key(&args.operation) {
        let names: Vec<&str> = server.operations.keys().map(String::as_str).collect();
        let message = format!(
            "--operation {}: server {} has no such operation; there are {}",
            args.operation,
            server.name,
            names.join(", ")
        );
        return Err(UsageError(message).into());
    }
    let (_, profile) = SelectionArgs::whole(None).profile(project)?;
    let selection = Selection {
        scenarios: vec!["soak".into()],
        servers: vec![args.server.clone()],
        drivers: args
            .driver
            .clone()
            .map_or_else(|| vec!["*".into()], |driver| vec![driver]),
        ..Selection::default()
    };
    let mut found = plan::series(project, profile, &selection)?;
    found.retain(|one| !one.load.is_counted());
    // The profile's caps are for rounds.
    for one in &mut found {
        one.load = one.scenario.load.clone();
    }
    found.sort_by_key(|one| !keeps_a_rate(one));
    found.into_iter().next().ok_or_else(|| plan::PlanError::Empty.into())
}

/// True if the driver supports both a rate and a closed loop.
pub(super) fn keeps_a_rate(series: &PlannedSeries) -> bool {
    series.mode.takes(&series.load.at(1))
}
