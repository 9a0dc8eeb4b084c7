//! `lab truth`: compares changes whose right verdict is known, and checks the verdicts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::rows::{list, rows};
use super::table::{FILE, missing_comparisons, open_table, read, save, session};
use super::{Case, Row, Settings, Work, document};
use crate::truth::record::{Finding, TruthTable};
use wirebench_declare::span::Span;
use wirebench_engine::git;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::session::remaining;

/// Compares changes whose right verdict is known, and shows how often the verdict is right.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lab truth --list                                        lists the rows
  lab truth --row 'http-*' --row 'grpc-null-*'            only these rows
  lab truth                                               every row; takes some hours
  lab truth --resume lab/results/truth/20260101T000000Z   makes the comparisons that are missing
  lab truth --resume lab/truth/table.json                 the same, in a new folder
  lab truth --from lab/truth/table.json > lab/docs/TRUTH.md

Rows are compared at HEAD, in a clone of the repository: uncommitted changes have no effect, except those below lab/truth/.
Exit code 1: the finding of a row is missed, false, unclear or error.")]
pub struct Args {
    /// Only rows whose name matches this glob; may be given several times.
    #[arg(long, value_name = "GLOB")]
    row: Vec<String>,
    /// Only list the rows: name, comparisons, expected verdict, and change.
    #[arg(long)]
    list: bool,
    /// Continue a table: its folder, or a file, which is not changed. Its comparisons are not repeated.
    #[arg(long, value_name = "TABLE")]
    resume: Option<PathBuf>,
    /// Compare nothing; print the document of a table, given its folder or its truth.json.
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["resume", "list", "row"])]
    from: Option<PathBuf>,
    /// Wall time for rounds of load in every comparison, such as 30s; without it, the row's own.
    #[arg(long, value_name = "TIME")]
    budget: Option<Span>,
    /// The folder in which the table's folder is made; without it, results/truth in the laboratory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The wirebench that compares; without it, the one beside this program.
    #[arg(long, value_name = "PROGRAM")]
    wirebench: Option<PathBuf>,
}

/// Compares, or prints the document of a table. Returns whether every finding is right.
///
/// # Errors
/// When there are no rows, a table cannot be read or written, or there is no clone to work in.
pub fn execute(root: &Path, args: &Args) -> anyhow::Result<bool> {
    if let Some(from) = &args.from {
        let table = read(from)?;
        print!(
            "{}",
            document::render(&table, &missing_comparisons(&rows(root, &[])?, &table))
        );
        return Ok(true);
    }
    let rows = rows(root, &args.row)?;
    if args.list {
        list(&rows)?;
        return Ok(true);
    }
    let interrupt = Interrupt::watch()?;
    let session = session(root)?;
    let commit = session.commit.clone();
    let (mut table, out) = open_table(root, args.resume.as_deref(), args.out.as_deref(), session)?;
    let mut work = open(root, args, &commit, &out, interrupt)?;
    let cases: Vec<Case> = rows.iter().flat_map(Row::cases).collect();
    let complete = compare(&mut work, &cases, &mut table, &out)?;
    let mut text = String::new();
    document::confusion(&table, &mut text);
    print!("{text}");
    log::info!("table    {}", out.join(FILE).display());
    let right = table.outcomes.iter().all(|one| one.finding == Finding::Right);
    Ok(complete && right)
}

fn open(root: &Path, args: &Args, commit: &str, out: &Path, interrupt: Interrupt) -> anyhow::Result<Work> {
    let repository = git::top(root).context("the project is not in a git repository")?;
    let project = root.parent().context("the laboratory lies in no project")?;
    let scratch = git::work_path(project, "truth")?;
    let beside = || std::env::current_exe().map(|own| own.with_file_name("wirebench"));
    let program = args
        .wirebench
        .clone()
        .map_or_else(beside, Ok)
        .context("this program cannot find itself")?;
    anyhow::ensure!(
        program.is_file(),
        "{}: no such program; build it with: cargo build --release -p wirebench, or name it with --wirebench",
        program.display()
    );
    let mut environment = BTreeMap::new();
    let tools = project.join(".tools");
    if std::env::var_os("WIREBENCH_TOOLS").is_none() && tools.is_dir() {
        environment.insert("WIREBENCH_TOOLS".to_owned(), tools.to_string_lossy().into_owned());
    }
    let settings = Settings {
        repository,
        base: commit.to_owned(),
        prefix: git::prefix(project),
        scratch,
        results: out.to_path_buf(),
        program,
        environment,
        budget: args.budget,
    };
    Work::open(settings, interrupt).map_err(anyhow::Error::msg)
}

/// Runs the comparisons that the table does not have, and writes the table after each. Returns whether all were run.
fn compare(work: &mut Work, cases: &[Case], table: &mut TruthTable, out: &Path) -> anyhow::Result<bool> {
    let left: Vec<&Case> = cases.iter().filter(|case| !super::has(table, **case)).collect();
    for (place, case) in left.iter().enumerate() {
        log::info!(
            "row {} of {}: {}: {}",
            place + 1,
            left.len(),
            case.name(),
            case.row.about
        );
        let Some(outcome) = work.outcome(**case) else {
            log::info!("stopped; continue with: lab truth --resume {}", out.display());
            return Ok(false);
        };
        let took = remaining(std::time::Duration::from_secs_f64(outcome.seconds));
        let why = if outcome.reason.is_empty() { "" } else { ": " };
        log::info!("         {:?} in {took}{why}{}", outcome.finding, outcome.reason);
        let session = table.later.len();
        table.outcomes.push(super::record::Outcome { session, ..outcome });
        save(table, out)?;
    }
    Ok(true)
}
