//! `wirebench list`: prints every series.

use serde::Serialize;

use crate::flags::SelectionArgs;
use crate::folders::Root;
use crate::outcome::Outcome;
use wirebench_declare::load::{Rate, Search, as_flag};
use wirebench_declare::plan;
use wirebench_declare::scenario::{Amount, Load};
use wirebench_present::report::format::plural;

/// Lists every series (scenario@server@driver).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: SelectionArgs,
    /// One JSON object a line instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    protocol: &'a str,
    load: String,
    digest: &'a str,
    about: &'a str,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    let profile = args.selection.profile(project)?;
    let series = plan::series(project, profile, &args.selection.selection())?;
    let width = series.iter().map(|one| one.id.len()).max().unwrap_or(0);
    for one in &series {
        let load = describe_load(&one.load);
        let protocol = one.protocol.name();
        if args.json {
            let line = Line {
                id: &one.id,
                protocol,
                load,
                digest: &one.digest,
                about: &one.scenario.about,
            };
            println!("{}", serde_json::to_string(&line)?);
        } else {
            println!("{:width$}  {protocol:7}  {load}", one.id);
        }
    }
    Ok(Outcome::Done)
}

/// A load as text: `100,000 requests, 100 × 1`.
fn describe_load(load: &Load) -> String {
    let connections = plural(load.connections as usize, "connection");
    let over = format!("{connections} × {}", plural(load.streams as usize, "stream"));
    let paced = match (load.rate, load.search, load.pause) {
        (Some(Rate::PerSecond(rate)), ..) => format!(", {rate} requests/s"),
        (Some(Rate::OfCapacity(share)), ..) => format!(", {share} of the capacity"),
        (_, Some(Search { p99, from, to }), _) => {
            let p99 = p99.as_flag();
            format!(" a step, the highest rate from {from} to {to}/s with p99 ≤ {p99}")
        }
        (.., Some(pause)) => format!(", a pause of {} after each answer", pause.as_flag()),
        (None, None, None) => String::new(),
    };
    match &load.amount {
        Amount::Requests(requests) => format!("{requests} requests over {over}{paced}"),
        Amount::Duration(span) => format!("{} over {over}{paced}", span.as_flag()),
        Amount::Stages(stages) => format!("stages {}{paced}", as_flag(stages)),
        Amount::Counted { few, many } => format!("counted, slope from {few} to {many} requests, one at a time"),
        Amount::Samples(samples) => format!("{samples} samples of a benchmark"),
        Amount::Starts(starts) => format!("{starts} process starts"),
    }
}
