//! `wirebench comment`: the second stage. Reads the untrusted artifact of a pull request's own run, checks it, and
//! writes the comparison as a comment and a check.
//!
//! The order of steps is that of docs/SECURITY.md. Writing comes last, so that a refusal leaves nothing written.

use std::time::Instant;

use crate::workflow::{environment_file, workflow_file};
use crate::{Outcome, UsageError};
use wirebench_github::admit::{self, Of};
use wirebench_github::api::{Api, seconds_since};
use wirebench_github::event::{Checked, Repository, Run};
use wirebench_github::place::Place;
use wirebench_github::pull::{Pull, Resolved};
use wirebench_github::sticky::Written;
use wirebench_github::{Refusal, annotations, archive, artifact, check, event, names, pull, sticky, strict};
use wirebench_judge::limits;
use wirebench_judge::summary::comparison::contradiction;
use wirebench_present::report::comparison::comment::{self, About};
use wirebench_present::report::comparison::functions;
use wirebench_record::comparison::{Comparison, FunctionChange};

/// The one file of the artifact.
const FILE: &str = "comparison.json";

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, in a workflow:
  wirebench comment                on: workflow_run, after the workflow that measures has ended
  wirebench comment --run 1234567  any of its runs again
Reads GITHUB_EVENT_PATH, GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_SERVER_URL and GITHUB_TOKEN.
Exit codes: 0 written, or the pull request has moved on; 1 refused, and why: nothing is written then.")]
pub(super) struct Args {
    /// The number of the workflow run whose comparison is shown; without it, the run of the event in GITHUB_EVENT_PATH.
    #[arg(long, value_name = "ID")]
    run: Option<u64>,
    /// The workflow that measures pull requests.
    #[arg(long, value_name = "FILE", default_value = ".github/workflows/bench.yml")]
    workflow: String,
    /// The artifact that holds the comparison.
    #[arg(long, value_name = "NAME", default_value = "bench-result")]
    artifact: String,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let workflow = workflow_file(&args.workflow)?;
    if !names::is_artifact(&args.artifact) {
        let message = "--artifact: may hold letters, digits, dots, hyphens and underscores only";
        return Err(UsageError(message.into()).into());
    }
    let api = Api::new(Place::from_environment()?);
    let done = stage(&api, args, workflow);
    log::info!("took {}", seconds_since(start));
    done?;
    Ok(Outcome::Done)
}

fn stage(api: &Api, args: &Args, workflow: &str) -> Result<(), Refusal> {
    let run = started_by(api, args.run)?;
    let repository: Repository = api.get("")?;
    let run = event::check(run, workflow, repository.id)?;
    let pull = match pull::resolve(&run, &pull::candidates(api, &run)?)? {
        Resolved::Pull(pull) => pull,
        Resolved::Stale(number) => {
            moved(&run, number);
            return Ok(());
        }
    };
    if !names::is_commit(&pull.base.sha) {
        return Err(Refusal::new(format!(
            "pull request {}: names no commit it is for",
            pull.number
        )));
    }
    let artifacts = artifact::all(api, run.id)?;
    let artifact = artifact::choose(&artifacts, &run, &args.artifact)?;
    let zip = artifact::download(api, artifact)?;
    let comparison = read(&zip, &run, &pull)?;
    let notes = notes(api, &comparison, pull.number)?;
    // The head of the pull request may have changed while the artifact was read.
    let now: Pull = api.get(&format!("/pulls/{}", pull.number))?;
    if now.head.sha != run.head_sha {
        moved(&run, pull.number);
        return Ok(());
    }
    let others = pull::others_at(api, pull.number, &run.head_sha)?;
    let said = Found {
        comparison,
        notes,
        others,
    };
    write(api, &run, &pull, workflow, said)
}

fn moved(run: &Checked, pull: u64) {
    let head = &run.head_sha;
    log::info!("pull request {pull} has moved on from {head}: nothing is written, the run of its new head will say it");
}

fn started_by(api: &Api, run: Option<u64>) -> Result<Run, Refusal> {
    if let Some(id) = run {
        return Ok(api.get(&format!("/actions/runs/{id}"))?);
    }
    let file = environment_file("GITHUB_EVENT_PATH");
    let file = file.ok_or_else(|| Refusal::new("GITHUB_EVENT_PATH is not set: name the run with --run ID"))?;
    event::completed(&file, api)
}

fn read(zip: &[u8], run: &Checked, pull: &Pull) -> Result<Comparison, Refusal> {
    let value = strict::parse(&archive::only_file(zip, FILE)?)?;
    let of = Of {
        head: &run.head_sha,
        base: &pull.base.sha,
    };
    let comparison = admit::admit(value, &of)?;
    match contradiction(&comparison) {
        Some(which) => Err(Refusal::new(format!("the comparison contradicts itself: {which}"))),
        None => Ok(comparison),
    }
}

/// Annotations on lines of the diff. The diff is requested only if there can be an annotation.
fn notes(api: &Api, comparison: &Comparison, pull: u64) -> Result<Vec<annotations::Note>, Refusal> {
    if !annotations::possible(comparison) {
        return Ok(Vec::new());
    }
    let files = annotations::files(api, pull)?;
    let message = |series: &str, change: &FunctionChange| {
        format!("{}: {} on {series}", change.function, functions::change(change))
    };
    Ok(annotations::notes(comparison, &files, message))
}

/// What is written to the pull request.
struct Found {
    comparison: Comparison,
    notes: Vec<annotations::Note>,
    /// Numbers of other pull requests with the same head commit.
    others: Vec<u64>,
}

fn write(api: &Api, run: &Checked, pull: &Pull, workflow: &str, found: Found) -> Result<(), Refusal> {
    let comparison = &found.comparison;
    let (marker, page) = (sticky::marker(workflow), api.place().run_page(run.id));
    let about = About {
        marker: &marker,
        head: &run.head_sha,
        run: run.id,
        page: &page,
    };
    let written = sticky::write(api, pull.number, &marker, &comment::render(comparison, &about))?;
    let (what, id) = match written {
        Written::Created(id) => ("created", id),
        Written::Updated(id) => ("updated", id),
    };
    log::info!("pull request {}: comment {id} {what}", pull.number);
    let count = found.notes.len();
    let said = check::Said {
        verdict: comparison.verdict,
        breaks_limit: limits::broken(&comparison.limits) > 0,
        title: comment::title(comparison),
        summary: comment::summary(comparison, &about),
        page: &page,
        marker: &marker,
        pull: pull.number,
        others: found.others,
        notes: found.notes,
    };
    let id = check::write(api, &run.head_sha, &said)?;
    let (head, conclusion) = (&run.head_sha, said.conclusion());
    log::info!("commit {head}: check run {id}: {conclusion}, lines noted: {count}");
    Ok(())
}
