//! `wirebench verify`: checks tools, builds and starts servers, and probes each operation; everything but the load.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::flags::selection::SelectionArgs;
use crate::folders::Root;
use crate::outcome::Outcome;
use wirebench_declare::Project;
use wirebench_declare::plan::{self, PlannedSeries};
use wirebench_declare::server::Operation;
use wirebench_engine::git;
use wirebench_engine::install;
use wirebench_engine::measure::build::Builder;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::side::Side;
use wirebench_engine::measure::target::TargetError;
use wirebench_engine::session::prepare;

/// Checks tools, builds servers, and sends each one a request for each operation, without load.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: SelectionArgs,
    /// One JSON object a line instead of text.
    #[arg(long)]
    json: bool,
}

/// One check, as `--json` prints it.
#[derive(Serialize)]
struct Line<'a> {
    ok: bool,
    what: &'a str,
    detail: &'a str,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    let (_, profile) = args.selection.profile(project)?;
    let series = plan::series(project, profile, &args.selection.selection())?;
    let interrupt = Interrupt::watch()?;
    let prepared = prepare::prepare(project, &series, Cores::shared(), interrupt.clone())?;
    let mut side = Side::new(git::state(&project.root), project.root.clone(), &project.servers);
    let builder = Builder {
        folder: project.root.clone(),
        interrupt,
        ..Builder::default()
    };
    side.build(series.iter().map(|one| one.server.name.as_str()), &builder);
    let mut output = Output {
        json: args.json,
        failed: 0,
    };
    print_tools(project, &prepared, &mut output);
    for (server, reason) in &side.broken {
        output.print(false, &format!("server {server}"), reason);
    }
    print_operations(&prepared, &side, &series, &mut output);
    Ok(Outcome::of(output.failed == 0))
}

/// Prints checks.
struct Output {
    json: bool,
    /// How many checks failed.
    failed: u32,
}

impl Output {
    fn print(&mut self, ok: bool, what: &str, detail: &str) {
        self.failed += u32::from(!ok);
        if self.json {
            let line = serde_json::to_string(&Line { ok, what, detail });
            println!("{}", line.unwrap_or_default());
            return;
        }
        let word = if ok { "ok    " } else { "FAILED" };
        let colon = if detail.is_empty() { "" } else { ": " };
        println!("{word} {what}{colon}{detail}");
    }
}

/// Checks jq, gnuplot and the drivers.
fn print_tools(project: &Project, prepared: &prepare::Prepared, output: &mut Output) {
    match prepare::jq(project) {
        Ok((_, tool)) => output.print(true, &format!("jq {}", tool.version), ""),
        Err(error) => output.print(false, "jq", &error.to_string()),
    }
    match prepare::gnuplot(&project.root) {
        Some((_, tool)) => output.print(true, &format!("gnuplot {}", tool.version), ""),
        // Only charts need gnuplot, so a missing one fails nothing.
        None => output.print(
            true,
            "gnuplot",
            &format!("is not installed: runs have no charts; run: {}", install::of("gnuplot")),
        ),
    }
    for tool in &prepared.tools {
        output.print(true, &format!("{} {}", tool.name, tool.version), "");
    }
    for (driver, reason) in &prepared.broken_drivers {
        output.print(false, &format!("driver {driver}"), reason);
    }
}

/// Sends each server a request for each of its operations.
fn print_operations(prepared: &prepare::Prepared, side: &Side, series: &[PlannedSeries], output: &mut Output) {
    let mut checked = BTreeSet::new();
    for one in series.iter().filter(|one| !side.broken.contains_key(&one.server.name)) {
        let what = format!(
            "{} · {} · {}",
            one.server.name,
            one.scenario.operation,
            if matches!(one.operation, Operation::Bench(_)) {
                "benchmark"
            } else {
                one.protocol.label()
            }
        );
        if checked.insert(what.clone()) {
            if let Operation::Bench(bench) = one.operation {
                output.print(
                    true,
                    &what,
                    &format!("{} is built; there is no server to ask", bench.id),
                );
                continue;
            }
            match probe(prepared, side, one) {
                Ok(detail) => output.print(true, &what, &detail),
                Err(error) => output.print(false, &what, &error.to_string()),
            }
        }
    }
}

/// Starts the server, sends one probe and stops it; prints how fast it was ready and how large the response is.
fn probe(prepared: &prepare::Prepared, side: &Side, series: &PlannedSeries) -> Result<String, TargetError> {
    let harness = &prepared.harness;
    let server = series.server;
    let write = |source| TargetError::Start {
        server: server.name.clone(),
        program: "a temporary folder".into(),
        source,
    };
    let folder = tempfile::tempdir().map_err(write)?;
    let target = harness.start(side, server, folder.path())?;
    let request = harness.request(series, &target)?;
    let response = request.check(&target.front.address)?;
    let ready_ms = target.ready_after.as_secs_f64() * 1e3;
    target.stop().map_err(write)?;
    Ok(format!(
        "ready after {ready_ms:.1} ms, {} bytes of payload",
        request.payload_bytes(&response)
    ))
}
