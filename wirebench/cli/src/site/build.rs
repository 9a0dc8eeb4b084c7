//! `wirebench site build`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;
use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::history::{self, Location, Opened};
use crate::{Outcome, UsageError, folder, report, stored, there};
use wirebench_declare::Project;
use wirebench_declare::claims::PublicComparison;
use wirebench_declare::compare::{Compare, Margins};
use wirebench_declare::project::Config;
use wirebench_engine::git;
use wirebench_engine::install;
use wirebench_engine::session::prepare;
use wirebench_history::follow::{Followed, RUNS, follow};
use wirebench_history::import::{is_name, keep, name_of, parse};
use wirebench_history::run_file;
use wirebench_history::trend::{NEWEST, Question};
use wirebench_judge::compare::{Rules, paired};
use wirebench_present::site::{Built, Input, PagedRun, build};
use wirebench_record::history::{Released, StoredRun, Told};
use wirebench_record::run::{Run, Variant};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench site build ../data --out _site          a history, such as a checked-out data branch
  wirebench site build --from data.js --out _site   what github-action-benchmark kept
  wirebench site build --runs results --out _site   runs made on this machine")]
pub(crate) struct Args {
    /// The history's folder, or s3://BUCKET/PREFIX.
    #[arg(value_parser = Location::parser())]
    history: Option<Location>,
    /// A history that github-action-benchmark kept: its data.js, or the same as JSON. Repeat it for more.
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,
    /// A folder of runs that are in no history, such as results/; drawn hollow.
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// A run of public comparisons (claims/) for the page "HTTP or gRPC?", besides those that get pages. Repeat it for more.
    #[arg(long, value_name = "RUN")]
    claims: Vec<PathBuf>,
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
    /// Leave out the still pictures, which are for printers and for readers without scripts.
    #[arg(long)]
    no_stills: bool,
}

pub(super) fn execute(root: Option<PathBuf>, args: &Args) -> anyhow::Result<Outcome> {
    if args.history.is_none() && args.from.is_empty() && args.runs.is_none() {
        let message = "nothing to build from: give a history's folder, --from data.js or --runs results";
        return Err(UsageError(message.into()).into());
    }
    if let Some(folder) = &args.runs {
        there(folder, "--runs", "make a run with: wirebench run")?;
    }
    let (followed, built) = make(root, args)?;
    println!("{}", args.out.join("index.html").display());
    log::info!(
        "{} pushes, {} series with {} metrics, {} pictures drawn, {} kB; look at it with: wirebench site serve {}",
        followed.lines.iter().map(|line| line.pushes.len()).sum::<usize>(),
        built.series,
        built.columns,
        built.drawn,
        built.bytes / 1000,
        args.out.display()
    );
    Ok(history::named(followed.trend.skipped))
}

fn make(root: Option<PathBuf>, args: &Args) -> anyhow::Result<(Followed, Built)> {
    let wanted = root.is_some();
    let project = match folder(root.clone()) {
        Err(_) if !wanted => None,
        other => Some(other?),
    };
    let imports = imported(&args.from)?;
    let below = args.runs.as_deref().map(runs_below).transpose()?.unwrap_or_default();
    let local: Vec<Run> = below.iter().map(|local| local.run.clone()).collect();
    let question = Question {
        series: None,
        metric: None,
        accepted: history::acceptances(root)?,
        newest: NEWEST,
    };
    let opened = args.history.as_ref().map(Location::open).transpose()?;
    let history = opened.as_ref().map(Opened::path);
    let followed = match (&imports, history) {
        (Some(folder), None) => follow(Some(folder.path()), &local, &question)?,
        (Some(folder), Some(history)) => with_imports(history, folder.path(), &local, &question)?,
        (None, history) => follow(history, &local, &question)?,
    };
    let mut followed = followed;
    if let Some(opened) = &opened {
        let skipped = &mut followed.trend.skipped;
        skipped.iter_mut().for_each(|one| *one = opened.in_words(one));
    }
    tell(&mut followed, project.as_deref());
    let runs = paged(opened.as_ref(), &below, &followed, project.as_deref(), args.run_pages)?;
    let releases = releases(&followed, project.as_deref());
    let repository = args
        .repository
        .clone()
        .or_else(|| {
            followed
                .facts
                .repository
                .clone()
                .filter(|name| repository(name).is_ok())
        })
        .or_else(|| project.as_deref().filter(|_| own(&followed)).and_then(git::github));
    let claims = claims(project.as_deref())?;
    let claimed = claimed(&args.claims)?;
    let input = Input {
        claims: &claims,
        claimed: &claimed,
        followed: &followed,
        runs: &runs,
        releases: &releases,
        title: args
            .title
            .clone()
            .or_else(|| repository.clone())
            .unwrap_or_else(|| "wirebench".into()),
        repository,
        now: Timestamp::now(),
        untested: untested(&followed, project.as_deref()),
        gnuplot: gnuplot(args, project.as_deref()),
    };
    let built = build(&input, &args.out)?;
    Ok((followed, built))
}

/// The project's public comparisons; none without a project that has some.
fn claims(project: Option<&Path>) -> anyhow::Result<Vec<PublicComparison>> {
    match project.filter(|project| project.join("claims").is_dir()) {
        Some(project) => Ok(Project::read(project)?.claims),
        None => Ok(Vec::new()),
    }
}

/// The runs that `--claims` names.
fn claimed(runs: &[PathBuf]) -> anyhow::Result<Vec<Run>> {
    runs.iter()
        .map(|run| report::read_at(Path::new("."), Some(run)))
        .collect()
}

/// Where a history may keep more of a run than its record: a folder for each, named by its id, with its comparison and its
/// flame graphs as they lie in the run's own folder.
const KEPT: &str = "kept";

/// True if the history may belong to the current project: it has runs, and they were measured.
fn own(followed: &Followed) -> bool {
    followed.trend.runs > 0 && followed.facts.synthetic.is_none()
}

fn gnuplot(args: &Args, project: Option<&Path>) -> Option<PathBuf> {
    if args.no_stills {
        return None;
    }
    let found = prepare::gnuplot(project.unwrap_or(Path::new("."))).map(|(program, _)| program);
    if found.is_none() {
        log::warn!(
            "warning: gnuplot is not installed: the site has no still pictures; run: {}",
            install::of("gnuplot")
        );
    }
    found
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

/// The files of `--from` as a history in a temporary folder.
fn imported(files: &[PathBuf]) -> anyhow::Result<Option<tempfile::TempDir>> {
    if files.is_empty() {
        return Ok(None);
    }
    let history = tempfile::tempdir()?;
    for file in files {
        let imported = parse(&history::text_of(file)?).with_context(|| file.display().to_string())?;
        let name = Some(name_of(file))
            .filter(|name| is_name(name))
            .unwrap_or_else(|| "imported".into());
        keep(history.path(), &name, &imported)?;
    }
    Ok(Some(history))
}

/// A history, and imported files after it.
fn with_imports(history: &Path, imports: &Path, local: &[Run], question: &Question) -> anyhow::Result<Followed> {
    let mut followed = follow(Some(history), local, question)?;
    let more = follow(Some(imports), &[], question)?;
    let lines = followed.lines.len();
    followed.lines.extend(more.lines);
    followed.trend.traces.extend(more.trend.traces);
    followed.trend.skipped.extend(more.trend.skipped);
    followed.rows.extend(more.rows.into_iter().map(|mut row| {
        row.line += lines;
        row
    }));
    Ok(followed)
}

/// A run that is in no history.
struct Local {
    run: Run,
    folder: PathBuf,
}

/// Every complete run of a folder of runs, by name.
fn runs_below(folder: &Path) -> anyhow::Result<Vec<Local>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{}: cannot be read", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|folder| report::is_run(folder, "run.json"))
        .map(|folder| folder.join("run.json"))
        .collect();
    files.sort();
    let mut runs = Vec::new();
    for file in files {
        match report::read(&file) {
            Ok(run) => runs.push(Local {
                run,
                folder: file.parent().unwrap_or(folder).to_path_buf(),
            }),
            Err(error) => log::error!("warning: left out: {error:#}"),
        }
    }
    Ok(runs)
}

/// The newest runs with their comparisons, the newest last.
fn paged(
    history: Option<&Opened>,
    local: &[Local],
    followed: &Followed,
    project: Option<&Path>,
    count: usize,
) -> anyhow::Result<Vec<PagedRun>> {
    let Some(line) = followed.lines.first().filter(|line| !line.runs.is_empty()) else {
        return Ok(Vec::new());
    };
    let config = project
        .map(|project| Config::read(&project.join("wirebench.toml")))
        .transpose()?;
    let (compare, margins) = config.map_or_else(
        || (Compare::default(), Margins::default()),
        |config| (config.compare, config.margins),
    );
    let rules = Rules {
        compare: &compare,
        margins: &margins,
    };
    let newest: Vec<&StoredRun> = line.runs.iter().rev().take(count).collect();
    if let Some(history) = history {
        history.bring(newest.iter().map(|known| run_file(Path::new(""), known)))?;
    }
    let history = history.map(Opened::path);
    let mut found: Vec<PagedRun> = newest
        .par_iter()
        .filter_map(|known| one(history, local, known, &rules))
        .collect();
    found.reverse();
    Ok(found)
}

/// A run with its comparison; `None` if only the monthly summary has it.
fn one(history: Option<&Path>, local: &[Local], known: &StoredRun, rules: &Rules) -> Option<PagedRun> {
    let own = local.iter().find(|local| local.run.id == known.id);
    let run = match own {
        Some(local) => local.run.clone(),
        None => report::read(&run_file(history?, known)).ok()?,
    };
    let kept = history.map(|history| history.join(KEPT).join(&known.id));
    let folder = own.map(|local| local.folder.clone());
    let folder = folder.or_else(|| kept.filter(|folder| folder.is_dir()));
    let judged = folder
        .as_ref()
        .and_then(|folder| stored::read(&folder.join(stored::FILE)).ok());
    let has_baseline = run.variants.iter().any(|one| one.variant == Variant::Baseline);
    let comparison = judged.or_else(|| has_baseline.then(|| paired(&run, rules).ok()).flatten());
    Some(PagedRun {
        run,
        comparison,
        folder,
    })
}

/// The history's releases, and the project's version tags.
fn releases(followed: &Followed, project: Option<&Path>) -> Vec<Released> {
    let mut found = followed.facts.releases.clone();
    if let Some(project) = project.filter(|_| own(followed)) {
        found.extend(
            git::versions(project)
                .into_iter()
                .map(|(name, commit)| Released { commit, name }),
        );
    }
    found
}

/// Puts message and author to the commits of the history's own runs: what the history says of them, else the repository.
fn tell(followed: &mut Followed, project: Option<&Path>) {
    let Some(line) = followed.lines.first().filter(|line| line.source == RUNS) else {
        return;
    };
    let commits: Vec<&str> = line.pushes.iter().map(|push| push.commit.as_str()).collect();
    let asked = project.filter(|_| own(followed) && followed.facts.commits.is_empty());
    let told = asked.map_or_else(
        || followed.facts.commits.clone(),
        |project| git::told(project, &commits),
    );
    let told: HashMap<String, Told> = told.into_iter().map(|one| (one.commit.clone(), one)).collect();
    let groups = followed.trend.groups.iter_mut().filter(|group| group.source == RUNS);
    let of_groups = groups.flat_map(|group| [&mut group.last_before, &mut group.first_after]);
    let pushes = followed.lines.iter_mut().take(1).flat_map(|line| &mut line.pushes);
    for push in pushes.chain(of_groups) {
        if let Some(one) = told.get(&push.commit) {
            push.message = Some(one.message.clone());
            push.author = Some(one.author.clone());
        }
    }
}

/// Commits of the project after the newest run's.
fn untested(followed: &Followed, project: Option<&Path>) -> Option<usize> {
    let newest = followed.lines.first()?.runs.last()?;
    git::commits_since(project.filter(|_| own(followed))?, &newest.commit)
}
