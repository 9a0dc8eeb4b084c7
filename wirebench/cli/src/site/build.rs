//! `wirebench site build`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;

use super::{pages, project, sources};
use crate::folders::{Root, check_exists};
use crate::histories::{check_history, report_skipped};
use crate::outcome::{Outcome, UsageError};
use wirebench_engine::session::prepare;
use wirebench_engine::{git, install};
use wirebench_history::follow::FollowedHistory;
use wirebench_present::site::{Built, Input, MorePage, build, is_own_page};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench site build ../data --out _site          a history, such as a checked-out data branch
  wirebench site build --from data.js --out _site   what github-action-benchmark kept
  wirebench site build --runs results --out _site   runs made on this machine")]
pub(crate) struct Args {
    /// The history's folder.
    history: Option<PathBuf>,
    /// A history that github-action-benchmark kept: its data.js, or the same as JSON. Repeat it for more.
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,
    /// A folder of runs that are in no history, such as results/; they are drawn hollow.
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// A further page: its title in the navigation, and a file of HTML that gets the site's frame and keeps its name. Repeat it
    /// for more.
    #[arg(long, value_name = "TITLE=FILE")]
    page: Vec<String>,
    /// The folder that takes the site; made when missing.
    #[arg(long, value_name = "DIR", default_value = "_site")]
    out: PathBuf,
    /// The site's name; without it, the repository's.
    #[arg(long)]
    title: Option<String>,
    /// owner/name on GitHub, for links to commits; without it, what the history or the project's remote says.
    #[arg(long, value_name = "OWNER/NAME", value_parser = repository)]
    repository: Option<String>,
    /// How many of the newest runs get a page of their own.
    #[arg(long, value_name = "N", default_value_t = 50)]
    run_pages: usize,
}

pub(super) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    if args.history.is_none() && args.from.is_empty() && args.runs.is_none() {
        let message = "nothing to build from: give a history's folder, --from data.js or --runs results";
        return Err(UsageError(message.into()).into());
    }
    if let Some(folder) = &args.runs {
        check_exists(folder, "--runs", "make a run with: wirebench run")?;
    }
    let (followed, built) = make(root, args)?;
    println!("{}", args.out.join("index.html").display());
    log::info!(
        "{} pushes, {} series with {} metrics, {} kB; look at it with: wirebench site serve {}",
        followed.timelines.iter().map(|line| line.pushes.len()).sum::<usize>(),
        built.series,
        built.columns,
        built.bytes / 1000,
        args.out.display()
    );
    Ok(report_skipped(followed.trend.skipped))
}

fn make(root: &Root, args: &Args) -> anyhow::Result<(FollowedHistory, Built)> {
    let project = root.folder_if_any()?;
    let project = project.as_deref();
    let below = args.runs.as_deref().map(pages::below).transpose()?.unwrap_or_default();
    let history = args.history.as_deref();
    history.map_or(Ok(()), check_history)?;
    let mut followed = sources::all(root, &args.from, history, &below)?;
    project::add_commit_infos(&mut followed, project);
    let runs = pages::paged(history, &below, &followed, project, args.run_pages)?;
    let repository = repository_of(args, &followed, project);
    // Pictures of pasted links have absolute addresses: without a repository none is known, and nothing would be drawn.
    let gnuplot = (repository.as_ref()).and_then(|_| gnuplot(project.unwrap_or(Path::new("."))));
    let input = Input {
        more: &args
            .page
            .iter()
            .map(|page| more_page(page))
            .collect::<anyhow::Result<Vec<_>>>()?,
        followed: &followed,
        runs: &runs,
        releases: &project::releases(&followed, project),
        title: args
            .title
            .clone()
            .or_else(|| repository.clone())
            .or_else(|| imported_repository(&followed))
            .unwrap_or_else(|| "wirebench".into()),
        repository,
        now: Timestamp::now(),
        untested: project::commits_not_measured(&followed, project),
        gnuplot,
    };
    let built = build(&input, &args.out)?;
    Ok((followed, built))
}

/// gnuplot; without it, says what the pages lack.
fn gnuplot(root: &Path) -> Option<PathBuf> {
    let found = prepare::gnuplot(root);
    if found.is_none() {
        log::warn!(
            "warning: gnuplot is not installed: pasted links to the site show no picture; run: {}",
            install::of("gnuplot")
        );
    }
    Some(found?.0)
}

/// The repository on GitHub: of the arguments, else of the history, else of the project if the history is its own.
fn repository_of(args: &Args, followed: &FollowedHistory, project: Option<&Path>) -> Option<String> {
    let recorded = || {
        followed
            .facts
            .repository
            .clone()
            .filter(|name| repository(name).is_ok())
    };
    let own = || project.filter(|_| project::own(followed)).and_then(git::github);
    args.repository.clone().or_else(recorded).or_else(own)
}

/// The repository of all imported histories, if they are of one.
fn imported_repository(followed: &FollowedHistory) -> Option<String> {
    let mut all = followed.timelines.iter().map(|line| line.repository.as_ref());
    let first = all.next()??;
    all.all(|other| other == Some(first)).then(|| first.clone())
}

/// The page that `--page` describes.
fn more_page(page: &str) -> anyhow::Result<MorePage> {
    let wrong = |why: &str| UsageError(format!("--page {page}: {why}"));
    let (title, file) =
        (page.rsplit_once('=')).ok_or_else(|| wrong("expected TITLE=FILE, such as Loads=loads.html"))?;
    let path = Path::new(file)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let path = path.filter(|name| name.ends_with(".html") && name.is_ascii() && !is_own_page(name));
    Ok(MorePage {
        title: title.to_owned(),
        path: path
            .ok_or_else(|| wrong("expected a file whose name ends with .html and is no page of the site's own"))?,
        html: fs::read_to_string(file).with_context(|| format!("{file}: cannot be read"))?,
    })
}

/// Parses `owner/name` by GitHub's rules.
fn repository(text: &str) -> Result<String, String> {
    let fits = |part: &str| {
        let letters = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !part.is_empty() && part.len() <= 100 && part.chars().all(letters) && !part.starts_with('.')
    };
    match text.split_once('/') {
        Some((owner, name)) if fits(owner) && fits(name) => Ok(text.to_owned()),
        _ => Err("expected OWNER/NAME".into()),
    }
}
