//! `wirebench history`: runs kept over time, and the steps in them.

use std::path::PathBuf;

use globset::Glob;

use crate::flags::metric;
use crate::folders::Root;
use crate::histories::{self, acceptances, check_history, local_folder, log_written, report_skipped};
use crate::outcome::{Outcome, UsageError};
use crate::runs;
use wirebench_history::append::Admit;
use wirebench_history::import::{is_name, keep, name_of};
use wirebench_history::index::index;
use wirebench_history::trend::{self, NEWEST, TrendQuery};
use wirebench_present::report::{imported, trend as text};
use wirebench_record::metric::Metric;

/// Keeps runs over time and shows where a metric stepped to a new level.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Adds one run as a file of its own; reads no other file.
    Append(AppendArgs),
    /// Brings the monthly summaries up to date, so that trends are quick to read.
    Index(IndexArgs),
    /// Shows where each series stepped, by how much, and whether that was meant.
    Trend(TrendArgs),
    /// Imports a history that github-action-benchmark kept.
    Import(ImportArgs),
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    match &args.verb {
        Verb::Append(args) => append(root, args),
        Verb::Index(args) => summarise(args),
        Verb::Trend(args) => trend(root, args),
        Verb::Import(args) => import(args),
    }
}

#[derive(Debug, clap::Args)]
struct AppendArgs {
    /// A run's folder or its run.json; without it, the newest run under results/.
    run: Option<PathBuf>,
    /// The history's folder, made when missing.
    #[arg(long, value_name = "DIR", value_parser = local_folder)]
    to: PathBuf,
    /// Accepts a run whose files differed from its commit.
    #[arg(long)]
    allow_modified: bool,
}

fn append(root: &Root, args: &AppendArgs) -> anyhow::Result<Outcome> {
    // A run given by path needs no project.
    let root = if args.run.is_some() {
        PathBuf::new()
    } else {
        root.folder()?
    };
    let run = runs::read_at(&root, args.run.as_deref())?;
    let admit = if args.allow_modified {
        Admit::Modified
    } else {
        Admit::Committed
    };
    histories::append(&args.to, &run, admit)?;
    Ok(Outcome::Done)
}

#[derive(Debug, clap::Args)]
struct IndexArgs {
    /// The history's folder.
    history: PathBuf,
}

fn summarise(args: &IndexArgs) -> anyhow::Result<Outcome> {
    check_history(&args.history)?;
    let done = index(&args.history)?;
    for (month, runs) in &done.written {
        println!("{month} {runs} runs");
    }
    log::info!("{} months written, {} were current", done.written.len(), done.current);
    Ok(report_skipped(done.skipped))
}

#[derive(Debug, clap::Args)]
struct TrendArgs {
    /// The history's folder.
    history: PathBuf,
    /// Only series that match, `scenario@server@driver` or an imported name.
    #[arg(long, value_name = "GLOB", value_parser = Glob::new)]
    series: Option<Glob>,
    /// Only this metric.
    #[arg(long, value_parser = metric)]
    metric: Option<Metric>,
    /// The whole trend as JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Ends with exit code 3 while a regression is open: a step for the worse that no later step took back and nobody accepted.
    #[arg(long)]
    fail_on_alert: bool,
    /// Ends with exit code 3 only for open regressions that were first reported at one of the newest N pushes. All runs of a
    /// commit are one push. Without it, 5 pushes count as new, and every open regression fails.
    #[arg(long, value_name = "N")]
    newest: Option<usize>,
}

fn trend(root: &Root, args: &TrendArgs) -> anyhow::Result<Outcome> {
    let question = TrendQuery {
        series: args.series.as_ref().map(Glob::compile_matcher),
        metric: args.metric,
        accepted: acceptances(root)?,
        newest: args.newest.unwrap_or(NEWEST),
    };
    check_history(&args.history)?;
    let answer = trend::trend(&args.history, &question)?;
    if args.json {
        println!("{}", serde_json::to_string(&answer.trend)?);
    } else {
        print!("{}", text::render(&answer.trend));
    }
    if answer.not_indexed > 0 {
        let (runs, history) = (answer.not_indexed, args.history.display());
        log::info!("{runs} runs were read one by one; summarise them with: wirebench history index {history}");
    }
    let outcome = report_skipped(answer.trend.skipped.iter().cloned());
    let failing = match args.newest {
        Some(_) => answer.trend.recent_alerts,
        None => answer.trend.open,
    };
    if args.fail_on_alert && failing > 0 {
        let new = args.newest.map_or_else(String::new, |newest| {
            format!(", reported at the newest {newest} pushes")
        });
        log::info!("{}{new}", text::open_regressions(failing));
        return Ok(Outcome::Regressed);
    }
    Ok(outcome)
}

#[derive(Debug, clap::Args)]
struct ImportArgs {
    /// A data.js with window.BENCHMARK_DATA, or the same as JSON.
    file: PathBuf,
    /// The history's folder, made when missing.
    #[arg(long, value_name = "DIR", value_parser = local_folder)]
    to: PathBuf,
    /// Its name in the history: lower-case letters, digits, hyphens; without it, the file's name.
    #[arg(long)]
    name: Option<String>,
}

fn import(args: &ImportArgs) -> anyhow::Result<Outcome> {
    let name = args.name.clone().unwrap_or_else(|| name_of(&args.file));
    if !is_name(&name) {
        let message = format!("--name {name}: expected lower-case letters, digits and hyphens");
        return Err(UsageError(message).into());
    }
    let history = histories::import(&args.file)?;
    let (file, written) = keep(&args.to, &name, &history)?;
    print!("{}", imported::render(&history));
    log::info!("{}", file.display());
    log_written(written);
    Ok(Outcome::Done)
}
