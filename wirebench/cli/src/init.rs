//! `wirebench init`: writes wirebench.toml and the workflows into a repository.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context as _;

use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};
use crate::version;
use wirebench_engine::git;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::tls::TlsFiles;
use wirebench_record::names::is_full_commit;
use wirebench_scaffold::repository;
use wirebench_scaffold::setup_files::{Action, IGNORED, SetupFile, WorkflowFacts, files, is_pinned};
use wirebench_scaffold::{CHANGE_THIS, Found, GivenRequest, ProbeContext, Programs};

/// Finds out how to measure a repository, and writes its wirebench.toml and workflows.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench init                builds, starts and probes this folder's servers, and declares them
  wirebench init services/api   the same for a folder of a larger repository
  wirebench init --only api     the same for one of the programs
  wirebench init --no-probe     starts nothing, and guesses from the sources
  wirebench init --print        shows what would be written
  wirebench init --only api --args '--data /tmp/orders'   starts it with these arguments
  wirebench init --request 'POST /orders {\"id\": 1}'   also declares a request that may change data

Programs are built and started on this machine with their own commands, and are ended after the probe. A server is sent \
only GET requests, the gRPC calls that the repository's .proto files declare, and what --request gives.
Written are wirebench.toml, .github/workflows/bench.yml and bench-comment.yml, and .gitignore if there is none. A file that \
exists is left as it is; the exit code is then 1, unless it is a workflow that init wrote for another folder. If no server is found, nothing is written, and the exit code is 1.")]
pub(crate) struct Args {
    /// The folder of the servers to measure; without it, the current folder.
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The GitHub action that the workflows use.
    #[arg(long, value_name = "OWNER/REPO@REF", default_value = RELEASE)]
    action: Action,
    /// The full commit of that action; without it, the commit that this release was built from, if known.
    #[arg(long, value_name = "SHA", value_parser = commit)]
    commit: Option<String>,
    /// Starts nothing: the declaration is guessed from the sources, and guesses are marked.
    #[arg(long)]
    no_probe: bool,
    /// Only the programs of these names or in these folders, separated by commas; may be repeated.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Also a request that init does not send by itself, as it may change data, or needs a value: method, path, and a body if there
    /// is one. May be repeated.
    #[arg(long, value_name = "'METHOD PATH BODY'", conflicts_with = "no_probe")]
    request: Vec<GivenRequest>,
    /// Arguments for the programs, quoted as in a shell; an argument with the port follows them.
    #[arg(
        long = "args",
        value_name = "'ARGUMENTS'",
        allow_hyphen_values = true,
        conflicts_with = "no_probe"
    )]
    arguments: Option<Arguments>,
    /// Prints the files instead of writing them.
    #[arg(long)]
    print: bool,
}

/// Arguments, parsed from one text as a shell does.
#[derive(Debug, Clone)]
struct Arguments(Vec<String>);

impl FromStr for Arguments {
    type Err = shell_words::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        shell_words::split(text).map(Self)
    }
}

/// The GitHub action of this release.
const RELEASE: &str = concat!("wirebench/wirebench@v", env!("CARGO_PKG_VERSION"));

fn commit(text: &str) -> Result<String, String> {
    let good = is_full_commit(text).then(|| text.to_ascii_lowercase());
    good.ok_or_else(|| "expected the 40 hex digits of a commit".to_owned())
}

/// The commit of the action, if known.
fn commit_of(args: &Args) -> Option<String> {
    let own = format!("{}@{}", args.action.repository, args.action.revision) == RELEASE;
    args.commit.clone().or_else(|| version::commit().filter(|_| own))
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let given = args.folder.as_ref().or(root.given.as_ref());
    let folder = std::path::absolute(given.map_or(Path::new("."), PathBuf::as_path))?;
    if !folder.is_dir() {
        return Err(UsageError(format!("{}: no such folder", folder.display())).into());
    }
    let top = git::top(&folder).unwrap_or_else(|| folder.clone());
    let unreadable = || format!("{}: cannot be read", folder.display());
    let mut programs = Programs::of(&folder, &top).with_context(unreadable)?;
    // A declaration that is there already gets its workflows in any case, and is not asked for again.
    let is_declared = folder.join("wirebench.toml").exists() && !args.print;
    if let Some(missing) = programs.missing().filter(|_| !is_declared) {
        anyhow::bail!(missing);
    }
    for program in programs.list() {
        log::info!("found     {program}");
    }
    programs.only(&args.only).map_err(UsageError)?;
    let found = if args.no_probe || is_declared {
        programs.guess()
    } else {
        probe(&programs, &folder, args)?
    };
    let config = repository::below_top(&folder);
    if found.servers.is_empty() && !is_declared {
        let tried: String = found.not_probed.iter().map(|why| format!("\n  {why}")).collect();
        anyhow::bail!(
            "no server was found, and nothing was written. Programs that might be one are declared only if they serve when they are \
             started{}{tried}\nIf there is a server, declare how it starts in wirebench.toml: docs/ADOPTING.md",
            if tried.is_empty() {
                ", which --no-probe forbids."
            } else {
                ":"
            }
        );
    }
    let facts = WorkflowFacts {
        action: args.action.clone(),
        commit: commit_of(args),
        needs: programs.needs(&config),
        config,
        branch: repository::default_branch(&folder),
    };
    let files = files(&folder, &found, &facts);
    if args.print {
        for file in &files {
            println!("# {}\n{}", file.shown(&folder), file.text);
        }
        return Ok(Outcome::Done);
    }
    let other = files.iter().find_map(SetupFile::measures_another_folder);
    let mut kept = 0;
    for file in &files {
        let name = file.shown(&folder);
        let unwritable = || format!("{}: cannot be written", file.file.display());
        if file.write_new().with_context(unwritable)? {
            println!("wrote     {name}");
        } else {
            // Each service has its own wirebench.toml, but a repository has one pair of workflows, which the first service wrote.
            let is_workflow = (file.file.parent()).is_some_and(|folder| folder.ends_with(".github/workflows"));
            kept += usize::from(other.is_none() || !is_workflow);
            println!("left      {name}: it is there already");
        }
    }
    let written = (!is_declared).then_some(&found);
    if let Some(found) = written {
        print_result(found);
    }
    print_next_steps(written, &facts, &folder);
    if let Some(other) = other {
        println!(
            "bench.yml measures {other}, and not this folder: to measure both, delete it and run `wirebench init` at the top of the repository, \
             which declares their servers in one wirebench.toml."
        );
    }
    Ok(Outcome::of(kept == 0))
}

/// Starts the programs and probes them; progress goes to stderr.
fn probe(programs: &Programs, folder: &Path, args: &Args) -> anyhow::Result<Found> {
    let interrupt = Interrupt::watch()?;
    let context = ProbeContext {
        root: folder,
        revision: git::state(folder),
        tls: &TlsFiles::make().context("no certificate for servers over TLS can be made")?,
        interrupt: &interrupt,
        given: &args.request,
        arguments: args.arguments.as_ref().map_or(&[], |arguments| &arguments.0),
        say: &|line| log::info!("{line}"),
    };
    let found = programs.probe(&context);
    if interrupt.is_requested() {
        anyhow::bail!("interrupted; nothing was written");
    }
    Ok(found)
}

/// Prints the servers that are declared, the programs that are not, and the open questions.
fn print_result(found: &Found) {
    for server in &found.servers {
        println!("{}  {server}", if found.probed { "declared" } else { "guessed " });
    }
    for program in &found.not_probed {
        println!("not seen  {program}");
    }
    for question in &found.questions {
        println!("question  {question}");
    }
}

/// Prints the next steps; `found` has the servers in the wirebench.toml that was just written, `None` if the file was there already.
fn print_next_steps(found: Option<&Found>, facts: &WorkflowFacts, folder: &Path) {
    println!("\nNext:");
    let lines = found.iter().flat_map(|found| found.toml.lines());
    match lines.filter(|line| line.ends_with(CHANGE_THIS)).count() {
        0 => println!("  1. wirebench verify"),
        guesses => println!(
            "  1. look at the {guesses} lines of wirebench.toml that end in \"{CHANGE_THIS}\"; then: wirebench verify"
        ),
    }
    println!("  2. wirebench run --profile quick");
    println!("  3. commit the new files, and open a pull request");
    if !is_pinned(facts) {
        let Action { repository, revision } = &facts.action;
        println!(
            "The workflows use {repository}@{revision}, which can be moved: wirebench init --commit SHA writes the full commit of a release."
        );
    }
    let is_ignored = |path: &str| repository::is_ignored(folder, &format!("{}file", path.trim_start_matches('/')));
    let is_missing = |path: &&&str| git::top(folder).is_some() && !is_ignored(path);
    for path in IGNORED.iter().filter(is_missing) {
        println!("Add to .gitignore: {path}");
    }
}
