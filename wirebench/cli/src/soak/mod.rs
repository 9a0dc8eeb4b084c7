//! `wirebench soak`: one server under load for long, and whether its memory stays flat.

mod found;
mod memory;
mod slices;
mod soaking;

use std::time::Duration;

use anyhow::Context as _;

use crate::lock::LockArgs;
use crate::selection::SelectionArgs;
use crate::{Outcome, UsageError};
use wirebench_declare::Project;
use wirebench_declare::load::{Amount, Load};
use wirebench_declare::percent::Percent;
use wirebench_declare::plan::{self, PlannedSeries, Selection};
use wirebench_declare::profiles::Profiles;
use wirebench_declare::scenario::Scenario;
use wirebench_declare::span::Span;
use wirebench_engine::git;
use wirebench_engine::measure::build::Builder;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::side::Side;
use wirebench_engine::measure::soak::SoakTarget;
use wirebench_engine::session::{self, prepare};

use self::soaking::Soaking;

/// How long the capacity is measured.
const CAPACITY: Duration = Duration::from_secs(3);

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench soak --server http --operation weather
  wirebench soak --server grpc --operation weather --driver ghz --connections 1000 --length 30m --json
First the capacity is measured, in a closed loop of 3 s. Then a load generator that can keep a rate offers a share of it; any
other asks in a closed loop over that share of the connections. One process serves everything; its memory is read between
slices of 20 s at most. Exit code 1 when a request failed or a process grew by more than 5 %.")]
pub(super) struct Args {
    #[command(flatten)]
    lock: LockArgs,
    /// The server.
    #[arg(long)]
    server: String,
    /// The operation to request.
    #[arg(long)]
    operation: String,
    /// The driver; without it, one that can keep a rate, otherwise the first that fits.
    #[arg(long)]
    driver: Option<String>,
    /// Connections.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: u32,
    /// Share of the capacity to offer.
    #[arg(long, default_value = "70%", value_name = "PERCENT")]
    share: Percent,
    /// How long, such as 10m.
    #[arg(long, default_value = "10m", value_name = "TIME")]
    length: Span,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    if args.share.share() <= 0.0 || args.share.share() > 1.0 {
        return Err(UsageError(format!(
            "--share {}: expected more than 0% and at most 100%",
            args.share
        ))
        .into());
    }
    let own = Project {
        scenarios: vec![scenario(args)],
        ..project.clone()
    };
    let series = chosen(&own, args)?;
    let interrupt = Interrupt::watch()?;
    let _lock = session::locked(!args.lock.no_lock, &interrupt)?;
    let prepared = prepare::prepare(&own, std::slice::from_ref(&series), Cores::split(), interrupt)?;
    if let Some(reason) = prepared.broken_drivers.get(&series.driver.name) {
        anyhow::bail!("driver {}: {reason}", series.driver.name);
    }
    let (jq, _) = prepare::jq(&own)?;
    let mut side = Side::new(git::state(&own.root), own.root.clone(), &own.servers);
    let builder = Builder {
        folder: own.root.clone(),
        ..Builder::default()
    };
    side.build([args.server.as_str()].into_iter(), &builder);
    if let Some(reason) = side.broken.get(&args.server) {
        anyhow::bail!("server {}: {reason}", args.server);
    }
    let folder = tempfile::tempdir().context("no temporary folder can be made")?;
    let target = SoakTarget::start(&prepared.harness, &series, &side, folder.path().to_path_buf())?;
    let mut soaking = Soaking {
        target,
        jq: &jq,
        folder: folder.path(),
    };
    let soak = soaking.all(args, &series)?;
    soaking.target.stop()?;
    if args.json {
        println!("{}", serde_json::to_string(&soak)?);
    } else {
        soak.print();
    }
    let good = soak.failures == 0 && soak.flat;
    Ok(if good { Outcome::Done } else { Outcome::Failed })
}

/// The closed loop in which the capacity is measured.
fn scenario(args: &Args) -> Scenario {
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
fn chosen<'a>(project: &'a Project, args: &Args) -> anyhow::Result<PlannedSeries<'a>> {
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
    };
    let mut found = plan::series(project, profile, &selection)?;
    // The profile's caps are for rounds.
    for one in &mut found {
        one.load = one.scenario.load.clone();
    }
    found.sort_by_key(|one| !keeps_a_rate(one));
    found.into_iter().next().ok_or_else(|| plan::PlanError::Empty.into())
}

/// True if the driver supports both a rate and a closed loop.
fn keeps_a_rate(series: &PlannedSeries) -> bool {
    series.mode.takes(&series.load.at(1))
}
