//! `wirebench site build`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;

use super::pages::{self, Local};
use crate::folders::{Root, check_exists};
use crate::histories::{acceptances, check_history, import, report_skipped};
use crate::outcome::{Outcome, UsageError};
use crate::reports::gnuplot;
use wirebench_engine::git;
use wirebench_history::follow::{Beside, FollowedHistory, RUNS_SOURCE, follow};
use wirebench_history::trend::{NEWEST, TrendQuery};
use wirebench_present::site::{Built, Input, MorePage, build, is_own_page};
use wirebench_record::history::{CommitInfo, Released};
use wirebench_record::names::is_repository;

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
    // Runs of one commit are one push.
    let runs = followed.timelines.iter().map(|line| &line.pushes);
    let pushes: usize = runs
        .map(|runs| runs.chunk_by(|one, next| one.commit == next.commit).count())
        .sum();
    let (series, metrics, size) = (built.series, built.columns, built.bytes / 1000);
    log::info!(
        "{pushes} pushes, {series} series with {metrics} metrics, {size} kB; look at it with: wirebench site serve {}",
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
    let mut followed = followed(root, &args.from, history, &below)?;
    add_commit_infos(&mut followed, project);
    let runs = pages::paged(history, &below, &followed, project)?;
    let repository = repository_of(args, &followed, project);
    // Pictures of pasted links have absolute addresses: without a repository none is known, and nothing would be drawn.
    let gnuplot = (repository.as_ref()).and_then(|_| {
        let lack = "pasted links to the site show no picture";
        gnuplot(project.unwrap_or(Path::new(".")), lack)
    });
    let more = args.page.iter().map(|page| more_page(page));
    let title = args.title.clone().or_else(|| repository.clone());
    let title = title.or_else(|| imported_repository(&followed));
    let input = Input {
        more: &more.collect::<anyhow::Result<Vec<_>>>()?,
        followed: &followed,
        runs: &runs,
        releases: &releases(&followed, project),
        title: title.unwrap_or_else(|| "wirebench".into()),
        repository,
        now: Timestamp::now(),
        untested: commits_not_measured(&followed, project),
        gnuplot,
    };
    let built = build(&input, &args.out)?;
    Ok((followed, built))
}

/// The trends of the history, of the imported files and of the runs that are in no history.
fn followed(root: &Root, from: &[PathBuf], history: Option<&Path>, below: &[Local]) -> anyhow::Result<FollowedHistory> {
    let imported = from.iter().map(|file| Ok((file.clone(), import(file)?)));
    let beside = Beside {
        runs: below.iter().map(|local| local.run.clone()).collect(),
        imported: imported.collect::<anyhow::Result<_>>()?,
    };
    let question = TrendQuery {
        series: None,
        metric: None,
        accepted: acceptances(root)?,
        newest: NEWEST,
    };
    Ok(follow(history, beside, &question)?)
}

/// True if the history may belong to the current project: it has runs, and they were measured.
fn is_own(followed: &FollowedHistory) -> bool {
    followed.trend.runs > 0 && followed.facts.synthetic.is_none()
}

/// The history's releases, and the project's version tags.
fn releases(followed: &FollowedHistory, project: Option<&Path>) -> Vec<Released> {
    let mut found = followed.facts.releases.clone();
    if let Some(project) = project.filter(|_| is_own(followed)) {
        let tags = git::versions(project).into_iter();
        found.extend(tags.map(|(name, commit)| Released { commit, name }));
    }
    found
}

/// Adds message and author to the commits of the history's own runs: from the history, or else from the repository.
fn add_commit_infos(followed: &mut FollowedHistory, project: Option<&Path>) {
    let Some(line) = followed.timelines.first().filter(|line| line.source == RUNS_SOURCE) else {
        return;
    };
    let commits: Vec<&str> = line.pushes.iter().map(|push| push.commit.as_str()).collect();
    let asked = project.filter(|_| is_own(followed) && followed.facts.commits.is_empty());
    let told = asked.map_or_else(
        || followed.facts.commits.clone(),
        |project| git::commit_messages(project, &commits),
    );
    let told: HashMap<String, CommitInfo> = told.into_iter().map(|one| (one.commit.clone(), one)).collect();
    let groups = followed.trend.groups.iter_mut();
    let groups = groups.filter(|group| group.source == RUNS_SOURCE);
    let of_groups = groups.flat_map(|group| [&mut group.last_before, &mut group.first_after]);
    let pushes = followed.timelines.iter_mut().take(1).flat_map(|line| &mut line.pushes);
    for push in pushes.chain(of_groups) {
        if let Some(one) = told.get(&push.commit) {
            push.message = Some(one.message.clone());
            push.author = Some(one.author.clone());
        }
    }
}

/// Commits of the project after the newest run's.
fn commits_not_measured(followed: &FollowedHistory, project: Option<&Path>) -> Option<usize> {
    let newest = followed.timelines.first()?.runs.last()?;
    git::commits_since(project.filter(|_| is_own(followed))?, &newest.commit)
}

/// The repository on GitHub: of the arguments, else of the history, else of the project if the history is its own.
fn repository_of(args: &Args, followed: &FollowedHistory, project: Option<&Path>) -> Option<String> {
    let recorded = || (followed.facts.repository.clone()).filter(|name| is_repository(name));
    let own = || project.filter(|_| is_own(followed)).and_then(git::github);
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
    let path = Path::new(file).file_name();
    let path = path.map(|name| name.to_string_lossy().into_owned());
    let path = path.filter(|name| name.ends_with(".html") && name.is_ascii() && !is_own_page(name));
    Ok(MorePage {
        title: title.to_owned(),
        path: path
            .ok_or_else(|| wrong("expected a file whose name ends with .html and is no page of the site's own"))?,
        html: fs::read_to_string(file).with_context(|| format!("{file}: cannot be read"))?,
    })
}

fn repository(text: &str) -> Result<String, String> {
    is_repository(text)
        .then(|| text.to_owned())
        .ok_or_else(|| "expected OWNER/NAME".into())
}
