//! `wirebench verify`: checks the machine and its tools, builds and starts servers, and probes each operation; everything but
//! the load.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::flags::SelectionArgs;
use crate::folders::Root;
use crate::outcome::Outcome;
use wirebench_declare::Project;
use wirebench_declare::plan::{self, PlannedSeries};
use wirebench_declare::server::Operation;
use wirebench_engine::git;
use wirebench_engine::measure::build::Builder;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::error::MeasureError;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::side::Side;
use wirebench_engine::session::prepare;
use wirebench_scaffold::checks::{self, Check, State};

/// Checks whether a run can work here and says how to install what is missing; builds each server and sends it a request for
/// each operation, without load.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 a run can work, 1 something is missing or wrong.")]
pub(crate) struct Args {
    #[command(flatten)]
    selection: SelectionArgs,
    /// Only the machine, its tools and the repository: builds and starts nothing, and writes nothing.
    #[arg(long)]
    tools: bool,
    /// Only the names of missing packages that this system can install and a run needs, one a line; packages for charts
    /// are left out. Builds and starts nothing.
    #[arg(long, conflicts_with_all = ["tools", "json"])]
    packages: bool,
    /// One JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    let profile = args.selection.profile(project)?;
    let selection = args.selection.selection();
    let series = plan::series(project, profile, &selection)?;
    // A comparison may have a profile of its own, with other drivers.
    let config = &project.config;
    let compared = config.compare.profile.as_ref();
    let compared = compared.filter(|_| args.selection.profile.is_none());
    let compared = compared.and_then(|name| config.profiles.get(name));
    let compared = compared.and_then(|profile| plan::series(project, profile, &selection).ok());
    let tools = checks::tools(project, &series, &compared.unwrap_or_default());
    if args.packages {
        for package in checks::packages(&tools) {
            println!("{package}");
        }
        return Ok(Outcome::Done);
    }
    let mut output = Output {
        json: args.json,
        ok: true,
        checks: Vec::new(),
    };
    for check in tools {
        output.print(check);
    }
    if !args.tools {
        check_servers(project, &series, &mut output)?;
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&output)?);
    }
    Ok(Outcome::of(output.ok))
}

/// Collects checks, and prints each at once unless they become one JSON object.
#[derive(Serialize)]
struct Output {
    #[serde(skip)]
    json: bool,
    /// Whether a run can work.
    ok: bool,
    checks: Vec<Check>,
}

impl Output {
    fn print(&mut self, check: Check) {
        if !self.json {
            let word = match check.state {
                State::Ok => "ok    ",
                State::Warning => "warn  ",
                State::Failed => "FAILED",
            };
            let how = check.how.as_ref().map(|how| format!("; {how}")).unwrap_or_default();
            println!("{word} {}: {}{how}", check.name, check.found);
        }
        self.ok &= check.state != State::Failed;
        self.checks.push(check);
    }

    /// Whether a check of this name failed already.
    fn has_failed(&self, name: &str) -> bool {
        let mut failed = self.checks.iter().filter(|check| check.state == State::Failed);
        failed.any(|check| check.name == name)
    }
}

/// Builds the servers, and sends each one a request for each of its operations.
fn check_servers(project: &Project, series: &[PlannedSeries], output: &mut Output) -> anyhow::Result<()> {
    let interrupt = Interrupt::watch()?;
    let prepared = prepare::prepare(project, series, Cores::shared(), interrupt.clone())?;
    let mut side = Side::new(git::state(&project.root), project.root.clone(), &project.servers);
    let builder = Builder {
        folder: project.root.clone(),
        interrupt,
        ..Builder::default()
    };
    side.build(series.iter().map(|one| one.server.name.as_str()), &builder);
    for (server, reason) in &side.broken {
        let name = format!("server {server}");
        // Its program is missing, which was said.
        if !output.has_failed(&name) {
            output.print(Check::failed(name, reason.clone()));
        }
    }
    let mut checked = BTreeSet::new();
    for one in series.iter().filter(|one| !side.broken.contains_key(&one.server.name)) {
        let kind = match one.operation {
            Operation::Bench(_) => "benchmark",
            _ => one.protocol.label(),
        };
        let name = format!("{} · {} · {kind}", one.server.name, one.scenario.operation);
        if !checked.insert(name.clone()) {
            continue;
        }
        output.print(match one.operation {
            Operation::Bench(bench) => Check::ok(name, format!("{} is built; there is no server to ask", bench.id)),
            _ => match probe(&prepared, &side, one) {
                Ok(found) => Check::ok(name, found),
                Err(error) => Check::failed(name, error.to_string()),
            },
        });
    }
    Ok(())
}

/// Starts the server, sends one probe and stops it; prints how fast it was ready and how large the response is.
fn probe(prepared: &prepare::Prepared, side: &Side, series: &PlannedSeries) -> Result<String, MeasureError> {
    let harness = &prepared.harness;
    let server = series.server;
    let write = |error| format!("server {}: cannot start a temporary folder: {error}", server.name);
    let folder = tempfile::tempdir().map_err(write)?;
    let target = harness.start(side, server, folder.path())?;
    let request = harness.request(series, &target)?;
    let response = request.check(&target.front.address)?;
    let ready_ms = target.ready_after.as_secs_f64() * 1e3;
    target.stop().map_err(write)?;
    let bytes = request.payload_bytes(&response);
    Ok(format!("ready after {ready_ms:.1} ms, {bytes} bytes of payload"))
}
