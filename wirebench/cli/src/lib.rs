//! The command line: one verb per file.
//!
//! Everything printed goes through [`printable`]: the macros here replace the standard ones, and progress is logged with `log`.

macro_rules! print {
    ($($words:tt)*) => { $crate::write_out(&format!($($words)*)) };
}
macro_rules! println {
    () => { $crate::write_out("\n") };
    ($($words:tt)*) => { $crate::write_out(&(format!($($words)*) + "\n")) };
}

mod accept;
mod alert;
mod backfill;
mod bisect;
mod claims;
mod cluster;
mod colour;
mod comment;
mod compare;
mod completions;
mod count;
mod doctor;
mod export;
mod first_answer;
mod flames;
mod gate;
mod help;
mod history;
mod hosts;
mod init;
#[cfg(test)]
mod judged_tests;
mod list;
mod lock;
mod merge;
mod messages;
mod metric;
mod normalise;
mod only;
mod plan;
mod repeat;
mod report;
mod repository;
mod rerun;
mod run;
mod runs;
mod selection;
mod selftest;
mod shards;
mod sides;
mod site;
mod soak;
mod stored;
mod summary;
mod truth;
mod verdict;
mod verify;
mod version;
mod workflow;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::anyhow;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use wirebench_declare::Project;
use wirebench_declare::plan::PlanError;
use wirebench_declare::read::DeclareError;
use wirebench_engine::session::NothingToMeasure;
pub use wirebench_present::report::format::printable;

/// The first error of writing to standard output.
static CLOSED: OnceLock<std::io::Error> = OnceLock::new();

/// Writes to standard output. The reader may close the pipe early, as `head` does. The command then continues, so that
/// no measurement is lost, and [`Cli::execute`] returns the error at the end.
fn write_out(text: &str) {
    let printable = printable(text);
    let text = colour::for_stdout(&printable);
    if let Err(error) = std::io::stdout().write_all(text.as_bytes()) {
        let _ = CLOSED.set(error);
    }
}

/// Writes log lines to standard error. With `--quiet` only warnings and errors are written.
struct Terminal;

impl log::Log for Terminal {
    /// Only wirebench's own lines: its HTTP client logs too.
    fn enabled(&self, metadata: &log::Metadata) -> bool {
        metadata.target().starts_with("wirebench")
    }

    fn log(&self, record: &log::Record) {
        if self.enabled(record.metadata()) {
            std::eprintln!("{}", printable(&record.args().to_string()));
        }
    }

    fn flush(&self) {}
}

/// How a command ended; becomes the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// 0: done.
    Done,
    /// 1: something failed, and a message was printed.
    Failed,
    /// 3: a gating metric regressed, or the verdict is one that --fail-on names.
    Regressed,
    /// 4: no gating metric was judged.
    NotJudged,
}

/// Measures HTTP and gRPC servers with real load generators.
#[derive(Debug, Parser)]
#[command(
    version = version::text(),
    about,
    long_about = "Measures HTTP and gRPC servers with real load generators, checks every round, and keeps all of it.",
    after_help = "Examples:
  wirebench init                                  begin: wirebench.toml and workflows for this repository
  wirebench doctor                                what is missing, and how to get it
  wirebench list                                  which series there are
  wirebench verify                                tools, builds and answers, without load
  wirebench run --profile quick                   every scenario, about a minute of load
  wirebench run --scenario 'weather-*' --driver h2load --rounds 5
  wirebench run --baseline main                   the working tree beside a revision
  wirebench count --baseline main                 what a request costs, counted, and the functions that changed
  wirebench report                                the newest run again, as a table
  wirebench gate                                  exit code 3 when the newest comparison says regressed
Exit codes: 0 done, 1 something failed, 2 wrong usage or declaration, 3 regressed, 4 nothing was judged, 130 interrupted."
)]
pub struct Cli {
    /// The project's folder (the one with wirebench.toml); found upwards from here when not given.
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Leaves out progress and remarks on standard error; results, warnings and failures stay.
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Writes wirebench.toml and the workflows into a repository, with what can be found out about it.
    Init(init::Args),
    /// Checks whether a run can work here, and how to install what is missing; no build, no load.
    Doctor(doctor::Args),
    /// Lists every series (scenario@server@driver).
    List(list::Args),
    /// Checks tools, builds servers, and sends each one a request for each operation, without load.
    Verify(verify::Args),
    /// Builds, measures, normalises and reports.
    Run(run::Args),
    /// Splits the series of a run over several machines.
    Plan(plan::Args),
    /// Joins the runs of several machines into one, and judges it.
    Merge(merge::Args),
    /// Counts the cost of a request: instructions, allocations, system calls, bytes on the wire.
    Count(count::Args),
    /// Shows a stored run again, and draws its report and charts anew.
    Report(report::Args),
    /// Writes a run's results into a workflow: job summary, outputs, warnings at the changed lines.
    Summary(summary::Args),
    /// Exits with 3 if a comparison regressed, and prints which metrics did.
    Gate(gate::Args),
    /// Judges a stored run again, or shows two stored runs next to each other.
    Compare(compare::Args),
    /// Finds the commit that brought a worsening.
    Bisect(bisect::Args),
    /// Measures past commits together with a reference, and adds their runs to a history.
    Backfill(backfill::Args),
    /// Compares a run with published comparisons, claim by claim.
    Claims(claims::Args),
    /// Writes a stored run in another program's format.
    Export(export::Args),
    /// Measures how often the verdict is wrong: equal code that is flagged, slower code that is not.
    Selftest(selftest::Args),
    /// Compares changes whose right verdict is known, and shows how often the verdict is right.
    Truth(truth::Args),
    /// Loads one server for a long time and checks whether its memory stays flat.
    Soak(soak::Args),
    /// Keeps runs over time and shows where a series stepped.
    #[command(subcommand)]
    History(history::Verb),
    /// Builds the dashboard, and serves it on this machine.
    #[command(subcommand)]
    Site(site::Verb),
    /// Records that a worsening is intended.
    Accept(accept::Args),
    /// The second stage of a pull request: checks its run's artifact, and writes a comment and a check.
    Comment(comment::Args),
    /// Keeps one GitHub issue that lists what got worse on the default branch.
    Alert(alert::Args),
    /// Answers a `/bench` comment on a pull request: measures its head again.
    Rerun(rerun::Args),
    /// Converts recorded output of a driver to the common shape; for writing a driver.
    Normalise(normalise::Args),
    /// Prints a completion script for a shell.
    Completions(completions::Args),
    /// Starts a server, waits for its first good response and stops it; drivers of protocol `process` time this.
    #[command(hide = true)]
    FirstAnswer(first_answer::Args),
    /// Reads server streams and prints the time of every message; the driver `messages` runs this.
    #[command(hide = true)]
    Messages(messages::Args),
}

impl Cli {
    /// The command line of this process; wrong usage, `--help` and `--version` end it here.
    #[must_use]
    pub fn from_arguments() -> Self {
        // A shell requests completions by an environment variable; this prints them and ends the process.
        clap_complete::CompleteEnv::with_factory(Self::command)
            .var(completions::VARIABLE)
            .complete();
        let matches = help::grouped(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Does what the command line asks for.
    ///
    /// # Errors
    /// When it cannot be done, or its output cannot be written; [`is_usage`] tells wrong usage from failure.
    pub fn execute(self) -> anyhow::Result<Outcome> {
        let outcome = self.verb()?;
        if let Err(error) = std::io::stdout().flush() {
            let _ = CLOSED.set(error);
        }
        match CLOSED.get() {
            Some(error) => Err(anyhow!("standard output cannot be written: {error}")),
            None => Ok(outcome),
        }
    }

    fn verb(self) -> anyhow::Result<Outcome> {
        let root = self.root;
        let level = if self.quiet {
            log::LevelFilter::Warn
        } else {
            log::LevelFilter::Info
        };
        // Only one logger can be set in a process; a second command line keeps the first.
        if log::set_logger(&Terminal).is_ok() {
            log::set_max_level(level);
        }
        match self.verb {
            Verb::Init(args) => init::execute(root, &args),
            Verb::Doctor(args) => doctor::execute(root, &args),
            Verb::List(args) => list::execute(&project(root)?, &args),
            Verb::Verify(args) => verify::execute(&project(root)?, &args),
            Verb::Run(args) => run::execute(&project(root)?, &args),
            Verb::Plan(args) => plan::execute(&project(root)?, &args),
            Verb::Merge(args) => merge::execute(&project(root)?, &args),
            Verb::Count(args) => count::execute(&project(root)?, args),
            Verb::Report(args) => report::execute(&folder(root)?, &args),
            Verb::Summary(args) => summary::execute(root, &args),
            Verb::Gate(args) => gate::execute(root, &args),
            Verb::Compare(args) => compare::execute(root, &args),
            Verb::Bisect(args) => bisect::execute(&project(root)?, &args),
            Verb::Backfill(args) => backfill::execute(&project(root)?, &args),
            Verb::Claims(args) => claims::execute(&project(root)?, &args),
            Verb::Export(args) => export::execute(&folder(root)?, &args),
            Verb::Selftest(args) => selftest::execute(root, &args),
            Verb::Truth(args) => truth::execute(root, &args),
            Verb::Soak(args) => soak::execute(&project(root)?, &args),
            Verb::History(verb) => history::execute(root, &verb),
            Verb::Site(verb) => site::execute(root, &verb),
            Verb::Accept(args) => accept::execute(&project(root)?, &args),
            Verb::Comment(args) => comment::execute(&args),
            Verb::Alert(args) => alert::execute(root, &args),
            Verb::Rerun(args) => rerun::execute(&args),
            Verb::Normalise(args) => normalise::execute(&project(root)?, &args),
            Verb::Completions(args) => completions::execute(&args),
            Verb::FirstAnswer(args) => first_answer::execute(&args),
            Verb::Messages(args) => messages::execute(args),
        }
    }
}

/// Wrong usage: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// True if an error is wrong usage or a wrong declaration, so that the exit code is 2.
#[must_use]
pub fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<UsageError>() || error.is::<NothingToMeasure>() || error.is::<PlanError>() || error.is::<DeclareError>()
}

/// An error with its causes, each once.
#[must_use]
pub fn in_words(error: &anyhow::Error) -> String {
    let mut words: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if words.iter().all(|said| !said.contains(&cause)) {
            words.push(cause);
        }
    }
    words.join(": ")
}

/// Checks that a folder to be read exists.
///
/// # Errors
/// When it does not exist; the message names the flag or argument, and what to do.
fn there(folder: &Path, what: &str, remedy: &str) -> Result<(), UsageError> {
    if folder.is_dir() {
        return Ok(());
    }
    Err(UsageError(format!(
        "{what} {}: no such folder; {remedy}",
        folder.display()
    )))
}

fn project(root: Option<PathBuf>) -> anyhow::Result<Project> {
    Ok(Project::read(&folder(root)?)?)
}

/// The project's folder: the one named, or the nearest one upwards that holds wirebench.toml.
fn folder(root: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let start = match root {
        Some(root) => return Ok(std::path::absolute(root)?),
        None => std::env::current_dir()?,
    };
    let found = start.ancestors().find(|folder| folder.join("wirebench.toml").is_file());
    let missing = || {
        UsageError(format!(
            "no wirebench.toml in {} or any folder above it; go to the project or give --root DIR",
            start.display()
        ))
    };
    Ok(found.ok_or_else(missing)?.to_path_buf())
}

/// The default folder for runs.
fn results(root: &Path) -> PathBuf {
    root.join("results")
}
