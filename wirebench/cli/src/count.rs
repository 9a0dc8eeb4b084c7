//! `wirebench count`: counts the cost of a request: instructions, allocations, system calls, bytes.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::flags::{LockArgs, Only, Pin, SelectionArgs, SideArgs};
use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};
use crate::run;
use wirebench_engine::session::Recorded;
use wirebench_record::counts::Counts;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Series, Variant};

/// Counts the cost of a request: instructions, allocations, system calls, bytes on the wire.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench count                   every operation of every server
  wirebench count --baseline main   the working tree against a revision, with the changed functions
  wirebench count --server http --driver hey --json

Each server is run under callgrind, DHAT and strace, once with few and once with many requests; the cost of a request is \
the difference of the counts divided by the difference of the numbers of requests. `[count]` in wirebench.toml sets these \
numbers, the drivers, and the spread above which a figure is refused.")]
pub(crate) struct Args {
    #[command(flatten)]
    sides: SideArgs,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    lock: LockArgs,
    /// Prints one JSON object for each series instead of tables.
    #[arg(long)]
    json: bool,
    /// The folder that takes the run's folder; without it, results/ in the project.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep what drivers, valgrind and strace wrote (some MB for each server run).
    #[arg(long)]
    keep_raw: bool,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = root.project()?;
    if !project.config.count.enabled {
        let message = "counting is switched off in wirebench.toml: set enabled = true in [count]";
        return Err(UsageError(message.into()).into());
    }
    let run = run::Args {
        only: Some(Only::Counts),
        pin: Pin::Off,
        out: args.out.clone(),
        keep_raw: args.keep_raw,
        json: args.json,
        sides: args.sides.clone(),
        selection: args.selection.clone(),
        lock: args.lock,
        ..run::Args::default()
    };
    if !args.json {
        return run::run(&project, &run);
    }
    let Recorded { run, folder } = run::measure_and_judge(&project, &run)?.0;
    for series in run.series.iter().filter(|series| !series.counts.is_empty()) {
        println!("{}", serde_json::to_string(&line(series))?);
    }
    log::info!("record   {}", folder.join("run.json").display());
    Ok(Outcome::of_run(&run))
}

/// One series as `--json` prints it: the candidate's figures, and under `baseline` those of the baseline.
#[derive(Serialize)]
struct Line<'a> {
    series: &'a str,
    #[serde(flatten)]
    candidate: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Map<String, Value>>,
}

fn line(series: &Series) -> Line<'_> {
    let of = |variant| series.counts_of(variant).map(figures);
    Line {
        series: &series.id,
        candidate: of(Variant::Candidate).unwrap_or_default(),
        baseline: of(Variant::Baseline),
    }
}

/// Every figure by its metric's name; a refused figure is null, with the reason.
fn figures(counts: &Counts) -> Map<String, Value> {
    let figure = |metric: Metric| {
        let value = match counts.figure(metric) {
            Some(figure) => match &figure.refused {
                None => json!({ "value": figure.value, "spread": figure.spread }),
                Some(why) => json!({ "value": null, "spread": figure.spread, "reason": why }),
            },
            None => json!({ "value": null, "spread": null, "reason": counts.reason }),
        };
        (metric.name().to_owned(), value)
    };
    let mut found: Map<String, Value> = Metric::COUNTED.into_iter().map(figure).collect();
    if !counts.remarks.is_empty() {
        found.insert("remarks".into(), json!(counts.remarks));
    }
    found
}
