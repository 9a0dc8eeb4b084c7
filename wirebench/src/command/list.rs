//! `wirebench list`: every series that fits together.

use std::io::Write as _;

use serde::Serialize;

use crate::command::Outcome;
use crate::command::selection::SelectionArgs;
use crate::declare::Project;
use crate::declare::scenario::{Amount, Load};
use crate::plan;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
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

pub(super) fn execute(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    let (_, profile) = args.selection.profile(project)?;
    let series = plan::series(project, profile, &args.selection.selection())?;
    let width = series.iter().map(|one| one.id.len()).max().unwrap_or(0);
    let mut out = std::io::stdout().lock();
    for one in &series {
        let load = in_words(&one.load);
        let protocol = one.protocol.name();
        if args.json {
            let line = Line {
                id: &one.id,
                protocol,
                load,
                digest: &one.digest,
                about: &one.scenario.about,
            };
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        } else {
            writeln!(out, "{:width$}  {protocol:7}  {load}", one.id)?;
        }
    }
    Ok(Outcome::Done)
}

/// A load as a person says it: `100,000 requests, 100 × 1`.
fn in_words(load: &Load) -> String {
    let over = format!("{} connections × {} streams", load.connections, load.streams);
    match load.amount {
        Amount::Requests(requests) => format!("{requests} requests over {over}"),
        Amount::Duration(span) => format!("{} over {over}", span.as_flag()),
        Amount::Counted { few, many } => format!("counted, slope from {few} to {many} requests, one at a time"),
        Amount::Starts(starts) => format!("{starts} process starts"),
    }
}
