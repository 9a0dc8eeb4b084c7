//! `wirebench history`: runs kept over time, and the steps in them.

mod copies;
mod location;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use globset::Glob;

pub(super) use self::location::{Location, Opened};
use crate::metric::metric;
use crate::{Outcome, UsageError, folder, report, there};
use wirebench_declare::accepted;
use wirebench_history::append::{Admit, Written, append};
use wirebench_history::import::{is_name, keep, name_of, parse};
use wirebench_history::index::{Months, index};
use wirebench_history::trend::{NEWEST, Question, trend};
use wirebench_present::report::{imported, trend as text};
use wirebench_record::accepted::{Acceptance, Accepted};
use wirebench_record::metric::Metric;
use wirebench_store::Bucket;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Verb {
    /// Adds one run as a file of its own; reads no other file.
    Append(AppendArgs),
    /// Brings the monthly summaries up to date, so that trends are quick to read.
    Index(IndexArgs),
    /// Shows where each series stepped, by how much, and whether that was meant.
    Trend(TrendArgs),
    /// Imports a history that github-action-benchmark kept.
    Import(ImportArgs),
    /// Adds all runs of a folder to a history in object storage.
    Publish(copies::PublishArgs),
    /// Copies a history from object storage into a folder.
    Fetch(copies::FetchArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = STORAGE)]
pub(super) struct AppendArgs {
    /// A run's folder or its run.json; without it, the newest run under results/.
    run: Option<PathBuf>,
    /// The history's folder, made when missing; or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "DIR", value_parser = Location::parser())]
    to: Location,
    /// Accepts a run whose files differed from its commit.
    #[arg(long)]
    allow_modified: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct IndexArgs {
    /// The history's folder, or s3://BUCKET/PREFIX.
    #[arg(value_parser = Location::parser())]
    history: Location,
    /// Every month, not only those whose files changed.
    #[arg(long)]
    rebuild: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct TrendArgs {
    /// The history's folder, or s3://BUCKET/PREFIX.
    #[arg(value_parser = Location::parser())]
    history: Location,
    /// Only series that match, `scenario@server@driver` or an imported name.
    #[arg(long, value_name = "GLOB", value_parser = Glob::new)]
    series: Option<Glob>,
    /// Only this metric.
    #[arg(long, value_parser = metric)]
    metric: Option<Metric>,
    /// The whole trend as JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Ends with exit code 3 when a worsening that nobody accepted was first reported at one of the newest pushes.
    #[arg(long)]
    fail_on_alert: bool,
    /// How many pushes are the newest.
    #[arg(long, value_name = "N", default_value_t = NEWEST)]
    newest: usize,
}

#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// A data.js with window.BENCHMARK_DATA, or the same as JSON.
    file: PathBuf,
    /// The history's folder, made when missing; or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "DIR", value_parser = Location::parser())]
    to: Location,
    /// Its name in the history: lower-case letters, digits, hyphens; without it, the file's name.
    #[arg(long)]
    name: Option<String>,
}

/// What object storage takes.
const STORAGE: &str = "Histories in S3-compatible object storage (s3://BUCKET/PREFIX) take AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, \
AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL from the environment, and AWS_ALLOW_HTTP=true for a server without TLS.";

/// Advice for when there is no history.
pub(super) const MAKE_ONE: &str = "make one with: wirebench history append --to DIR";

pub(super) fn execute(root: Option<PathBuf>, verb: &Verb) -> anyhow::Result<Outcome> {
    match verb {
        Verb::Append(args) => add(root, args),
        Verb::Index(args) => summarise(args),
        Verb::Trend(args) => show(root, args),
        Verb::Import(args) => import(args),
        Verb::Publish(args) => copies::publish(args),
        Verb::Fetch(args) => copies::fetch(args),
    }
}

fn add(root: Option<PathBuf>, args: &AppendArgs) -> anyhow::Result<Outcome> {
    // A run given by path needs no project.
    let root = if args.run.is_some() {
        PathBuf::new()
    } else {
        folder(root)?
    };
    let run = report::read_at(&root, args.run.as_deref())?;
    let admit = if args.allow_modified {
        Admit::Modified
    } else {
        Admit::Committed
    };
    match &args.to {
        Location::Folder(folder) => {
            let (file, written) = append(folder, &run, admit)?;
            println!("{}", file.display());
            say(written);
        }
        Location::Store(address) => {
            let folder = tempfile::tempdir()?;
            append(folder.path(), &run, admit)?;
            copies::publish_made(folder.path(), address)?;
        }
    }
    Ok(Outcome::Done)
}

fn say(written: Written) {
    match written {
        Written::New => log::info!("added"),
        Written::AlreadyThere => log::info!("already there, nothing to do"),
    }
}

fn summarise(args: &IndexArgs) -> anyhow::Result<Outcome> {
    let which = if args.rebuild { Months::All } else { Months::Changed };
    let done = match &args.history {
        Location::Folder(folder) => {
            there(folder, "HISTORY", MAKE_ONE)?;
            index(folder, which)?
        }
        Location::Store(address) => Bucket::open(address)?.index(which)?,
    };
    for (month, runs) in &done.written {
        println!("{month} {runs} runs");
    }
    log::info!("{} months written, {} were current", done.written.len(), done.current);
    for month in &done.orphans {
        log::warn!("warning: months/{month}.json has no run files any more and is left as it is");
    }
    Ok(named(done.skipped))
}

/// Prints which files were skipped. The command then fails, after reading all others.
pub(super) fn named(skipped: impl IntoIterator<Item = String>) -> Outcome {
    let mut outcome = Outcome::Done;
    for one in skipped {
        log::error!("error: skipped: {one}");
        outcome = Outcome::Failed;
    }
    outcome
}

fn show(root: Option<PathBuf>, args: &TrendArgs) -> anyhow::Result<Outcome> {
    let question = Question {
        series: args.series.as_ref().map(Glob::compile_matcher),
        metric: args.metric,
        accepted: acceptances(root)?,
        newest: args.newest,
    };
    let opened = args.history.open()?;
    let answer = trend(opened.path(), &question).map_err(|error| opened.named(error))?;
    if args.json {
        println!("{}", serde_json::to_string(&answer.trend)?);
    } else {
        print!("{}", text::render(&answer.trend));
    }
    if answer.not_indexed > 0 {
        log::info!(
            "{} runs were read one by one; summarise them with: wirebench history index {}",
            answer.not_indexed,
            args.history
        );
    }
    let outcome = named(answer.trend.skipped.iter().map(|one| opened.in_words(one)));
    if args.fail_on_alert && answer.trend.recent_alerts > 0 {
        log::info!(
            "alerts at {} of the newest {} pushes",
            answer.trend.recent_alerts,
            args.newest
        );
        return Ok(Outcome::Regressed);
    }
    Ok(outcome)
}

/// The acceptances of the project of the current folder, if there is one.
pub(super) fn acceptances(root: Option<PathBuf>) -> anyhow::Result<Vec<Acceptance>> {
    let wanted = root.is_some();
    let folder = match folder(root) {
        Err(_) if !wanted => return Ok(Vec::new()),
        other => other?,
    };
    let entries = accepted::read(&folder)?;
    let compiled = entries.into_iter().map(Accepted::compile);
    Ok(compiled.collect::<Result<Vec<_>, _>>()?)
}

fn import(args: &ImportArgs) -> anyhow::Result<Outcome> {
    let name = args.name.clone().unwrap_or_else(|| name_of(&args.file));
    if !is_name(&name) {
        let message = format!("--name {name}: expected lower-case letters, digits and hyphens");
        return Err(UsageError(message).into());
    }
    let imported = parse(&text_of(&args.file)?).with_context(|| args.file.display().to_string())?;
    match &args.to {
        Location::Folder(folder) => {
            let (file, written) = keep(folder, &name, &imported)?;
            print!("{}", imported::render(&imported));
            log::info!("{}", file.display());
            say(written);
        }
        Location::Store(address) => {
            let folder = tempfile::tempdir()?;
            keep(folder.path(), &name, &imported)?;
            print!("{}", imported::render(&imported));
            copies::publish_made(folder.path(), address)?;
        }
    }
    Ok(Outcome::Done)
}

pub(super) fn text_of(file: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow::anyhow!("{}: byte {at}: is not UTF-8 text", file.display())
    })
}
