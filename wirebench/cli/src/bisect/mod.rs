//! `wirebench bisect`: which commit brought a worsening, by comparing commits with the rule that judges a pull request.

mod bisection;
mod search;
mod step;

use self::bisection::{BisectedMetric, bisect};
use self::step::Steps;
use crate::flags::metric::metric;
use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};
use crate::separate_run::{profile_and_budget, resolve};
use wirebench_declare::span::Span;
use wirebench_engine::git;
use wirebench_record::metric::Metric;

/// Finds the commit that made a metric worse.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench bisect v1 main --series weather-fixed-count@http@hey
  wirebench bisect v1 main --series weather-fixed-count@http@hey --metric throughput --budget 5m
  wirebench bisect v1 main --series count-weather@http@hey --metric allocations

Every step measures one commit against GOOD in one run, which is kept under results/bisect/. Exit code 1: BAD is not worse.")]
pub(crate) struct Args {
    /// A revision in which the metric was not worse yet.
    good: String,
    /// A later revision in which it is worse; only first parents between the two are searched.
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

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    let root = &project.folder;
    let (good, bad) = (resolve(root, &args.good)?, resolve(root, &args.bad)?);
    let commits = git::first_parents(root, &good, &bad)?;
    if commits.last() != Some(&bad) {
        let message = format!("{} does not come after {} along first parents", args.bad, args.good);
        return Err(UsageError(message).into());
    }
    let same_flags = profile_and_budget(args.profile.as_deref(), args.budget);
    let steps = Steps::new(root, &args.series, same_flags)?;
    let bisected = BisectedMetric::new(&args.series, args.metric);
    let answer = bisect(&good, &commits, &bisected, |commit| steps.compare(&good, commit))?;
    print!("{}", answer.text);
    Ok(answer.outcome)
}
