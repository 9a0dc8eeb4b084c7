//! `wirebench accept`: says that a change for the worse is meant.

use std::path::Path;

use crate::command::Outcome;
use crate::command::metric::metric;
use crate::declare::accepted;
use crate::declare::percent::Percent;
use crate::record::accepted::Accepted;
use crate::record::metric::Metric;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench accept --series '*@http@*' --metric server_cpu --at-most 8% --reason 'answers are compressed now'
    in the change itself: the gate and the trend let up to 8 % pass for the commits of that change
  wirebench accept --series 'weather@*' --at-most 5% --commit 1a2b3c4d5e6f --reason 'fixes #12'
    afterwards: names the commit that brought it
The entry is added to accepted.toml in the project's folder; commit it like code.")]
pub(super) struct Args {
    /// Glob over series ids, `scenario@server@driver`.
    #[arg(long, value_name = "GLOB")]
    series: String,
    /// Only this metric; without it, every metric.
    #[arg(long, value_parser = metric)]
    metric: Option<Metric>,
    /// The largest worsening that is meant, such as 8%.
    #[arg(long, value_name = "PERCENT")]
    at_most: Percent,
    /// The commit that brought it, 7 to 40 hex digits; without it, the change that adds this entry.
    #[arg(long, value_name = "SHA")]
    commit: Option<String>,
    /// Why it is meant.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) fn execute(root: &Path, args: &Args) -> anyhow::Result<Outcome> {
    let entry = Accepted {
        series: args.series.clone(),
        metric: args.metric,
        at_most_percent: args.at_most.percent(),
        commit: args.commit.clone(),
        reason: args.reason.clone(),
    };
    let file = accepted::add(root, &entry)?;
    println!("{}", file.display());
    eprintln!("added; commit it with the change, so that it is reviewed");
    Ok(Outcome::Done)
}
