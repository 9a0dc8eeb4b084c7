//! `wirebench accept`: records in accepted.toml that a worsening is intended.

use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};

use crate::flags::metric;
use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};
use wirebench_declare::percent::Percent;
use wirebench_declare::plan::{self, Selection};
use wirebench_declare::{Project, accepted};
use wirebench_record::accepted::Accepted;
use wirebench_record::metric::Metric;

/// Records that a worsening is intended.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench accept --series '*@http@*' --metric server_cpu --at-most 8% --reason 'compresses'
    in the change itself: the gate and the trend let up to 8 % pass for the commits of that change
  wirebench accept --series 'weather@*' --at-most 5% --commit 1a2b3c4d5e6f --reason 'fixes #12'
    afterwards: names the commit that made it slower

The entry is added to accepted.toml in the project's folder; commit it like code.")]
pub(crate) struct Args {
    /// Glob over series ids, `scenario@server@driver`.
    #[arg(long, value_name = "GLOB")]
    series: String,
    /// Only this metric; without it, every metric.
    #[arg(long, value_parser = metric)]
    metric: Option<Metric>,
    /// The largest worsening that is intended, such as 8%.
    #[arg(long, value_name = "PERCENT")]
    at_most: Percent,
    /// The commit that brought it, 7 to 40 hex digits; without it, the change that adds this entry.
    #[arg(long, value_name = "SHA")]
    commit: Option<String>,
    /// Why it is intended.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    let wrong = |error: globset::Error| UsageError(format!("--series {}: {error}", args.series));
    let matcher = Glob::new(&args.series).map_err(wrong)?.compile_matcher();
    // A commit of the history may have made a series slower that is imported, or that the project no longer has.
    if args.commit.is_none() {
        matches_a_series(project, &matcher)?;
    }
    let entry = Accepted {
        series: args.series.clone(),
        metric: args.metric,
        at_most_percent: args.at_most.percent(),
        commit: args.commit.clone(),
        reason: args.reason.clone(),
    };
    let file = accepted::add(&project.folder, &entry)?;
    println!("{}", file.display());
    log::info!("added; commit it with the change, so that it is reviewed");
    Ok(Outcome::Done)
}

/// Whether a glob matches a series of some profile.
///
/// # Errors
/// When it matches no series; the message lists the series.
fn matches_a_series(project: &Project, matcher: &GlobMatcher) -> anyhow::Result<()> {
    let mut known = BTreeSet::new();
    for profile in project.config.profiles.values() {
        // Skips profiles that have no series.
        let series = plan::series(project, profile, &Selection::default());
        known.extend(series.into_iter().flatten().map(|one| one.id));
    }
    // A project without declarations only has a history, whose series are not known here, so that any glob is valid.
    if known.is_empty() || known.iter().any(|id| matcher.is_match(id)) {
        return Ok(());
    }
    const SHOWN: usize = 5;
    let shown: Vec<&str> = known.iter().map(String::as_str).take(SHOWN).collect();
    let more = if known.len() > SHOWN { ", …" } else { "" };
    let (glob, shown) = (matcher.glob(), shown.join(", ") + more);
    let message = format!("matches no series of this project; there are {shown} (all of them: wirebench list)");
    Err(UsageError(format!("--series {glob}: {message}")).into())
}
