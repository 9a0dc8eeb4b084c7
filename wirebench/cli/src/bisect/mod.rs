//! `wirebench bisect`: which commit brought a worsening, by comparing commits with the rule that judges a pull request.

mod scope;
mod search;
mod walk;

use self::scope::Scope;
use self::walk::walk;
use crate::metric::metric;
use crate::{Outcome, UsageError};
use wirebench_declare::Project;
use wirebench_declare::count::PREFIX;
use wirebench_declare::span::Span;
use wirebench_engine::git;
use wirebench_record::metric::Metric;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench bisect v1 main --series weather-fixed-count@http@hey
  wirebench bisect 1a2b3c4 HEAD --series weather-fixed-count@http@hey --metric throughput --budget 5m
  wirebench bisect v1 main --series count-weather@http@hey --metric allocations
Every step measures GOOD beside a commit; its run is kept under results/bisect/. Exit code 1 when BAD is not worse.")]
pub(super) struct Args {
    /// A revision before the worsening.
    good: String,
    /// A later revision that has it; only first parents between the two are searched.
    bad: String,
    /// The series to follow, scenario@server@driver.
    #[arg(long, value_name = "ID")]
    series: String,
    /// The metric to follow; without it, server_cpu, or instructions of a counted series.
    #[arg(long, value_parser = metric, value_name = "NAME")]
    metric: Option<Metric>,
    /// Profile of every step; without it, the default profile of wirebench.toml.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Wall time for measuring in every step, such as 5m; without it, `compare.budget` of wirebench.toml.
    #[arg(long, value_name = "TIME")]
    budget: Option<Span>,
}

pub(super) fn execute(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    let root = &project.root;
    let resolve = |revision: &str| {
        git::resolve(root, revision).map_err(|why| UsageError(format!("{revision:?} is no revision: {why}")))
    };
    let (good, bad) = (resolve(&args.good)?, resolve(&args.bad)?);
    let commits = git::first_parents(root, &good, &bad)?;
    if commits.last() != Some(&bad) {
        let message = format!("{} does not come after {} along first parents", args.bad, args.good);
        return Err(UsageError(message).into());
    }
    let scope = Scope::new(root, args)?;
    let answer = walk(&good, &commits, args, |commit| scope.compare_revisions(&good, commit))?;
    print!("{}", answer.text);
    Ok(answer.outcome)
}

impl Args {
    /// The metric to follow.
    fn followed(&self) -> Metric {
        let counted = self.series.starts_with(PREFIX);
        let otherwise = if counted {
            Metric::Instructions
        } else {
            Metric::ServerCpu
        };
        self.metric.unwrap_or(otherwise)
    }
}
