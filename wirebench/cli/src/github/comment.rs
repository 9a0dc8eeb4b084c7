//! `wirebench github comment`: the second stage. Reads the untrusted artifact of a pull request's own run, checks it, and
//! writes the comparison as a comment and a check.
//!
//! The steps are in the order of docs/SECURITY.md. Writing comes last: after a refusal only the check is written, with the reason.

use std::time::Instant;

use crate::github::{variable, workflow_file};
use crate::outcome::{Outcome, UsageError};
use wirebench_github::access::Access;
use wirebench_github::annotations::{self, Note};
use wirebench_github::api::Api;
use wirebench_github::check::{CheckContent, Conclusion};
use wirebench_github::event::{self, CheckedRun, Run};
use wirebench_github::second_stage::{self, Admitted, Stage};
use wirebench_github::sticky::{self, IfMissing};
use wirebench_github::unmeasured::{self, Unmeasured};
use wirebench_github::{Refusal, check, names, pull};
use wirebench_judge::limits;
use wirebench_judge::summary::comparison::contradiction;
use wirebench_present::report::comparison::comment::{self, About};
use wirebench_present::report::comparison::{functions, headline};
use wirebench_record::comparison::Comparison;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, in a workflow:
  wirebench github comment                on: workflow_run, after the workflow that measures has ended
  wirebench github comment --run 1234567  any of its runs again
The check is always written. A comment that exists is always updated.
Reads GITHUB_EVENT_PATH, GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_SERVER_URL and GITHUB_TOKEN.
Exit codes: 0 written, or the pull request has moved on; 1 refused: the check then says why, or nothing is written if the \
pull request is not known.")]
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
    /// When a pull request that has no comment yet gets one.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "changed")]
    comment: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum When {
    /// If something changed, failed or was not judged.
    Changed,
    /// After every run.
    Always,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let workflow = workflow_file(&args.workflow)?;
    if !names::is_artifact(&args.artifact) {
        let message = "--artifact: may hold letters, digits, dots, hyphens and underscores only";
        return Err(UsageError(message.into()).into());
    }
    let api = Api::new(Access::from_environment()?);
    let done = stage(&api, args, workflow);
    log::info!("took {:.1} s", start.elapsed().as_secs_f64());
    done?;
    Ok(Outcome::Done)
}

fn stage(api: &Api, args: &Args, workflow: &str) -> Result<(), Refusal> {
    let run = started_by(api, args.run)?;
    let admitted = match second_stage::admitted(api, run, workflow, &args.artifact)? {
        Stage::Current(admitted) => *admitted,
        Stage::Stale { pull, head } => {
            log_stale(pull, &head);
            return Ok(());
        }
        Stage::Unmeasured { run, pull, why } => return unmeasured(api, workflow, &run, pull, why),
    };
    let (run, pull, comparison) = (&admitted.run, &admitted.pull, &admitted.comparison);
    if let Some(which) = contradiction(comparison) {
        let why = Refusal::new(format!("the comparison contradicts itself: {which}"));
        return unmeasured(api, workflow, run, pull.number, Unmeasured::Refused(why));
    }
    let notes = notes(api, comparison, pull.number)?;
    if !admitted.is_current(api)? {
        log_stale(pull.number, &run.head_sha);
        return Ok(());
    }
    let others = pull::other_pulls_at(api, pull.number, &run.head_sha)?;
    write(api, &admitted, workflow, args.comment, notes, others)
}

/// Writes the check of a run without a comparison.
fn unmeasured(api: &Api, workflow: &str, run: &CheckedRun, pull: u64, why: Unmeasured) -> Result<(), Refusal> {
    let (marker, page) = (sticky::marker(workflow), api.access().run_page(run.id));
    let (conclusion, title, _) = why.told(pull);
    let content = CheckContent {
        conclusion,
        title: title.into(),
        summary: why.summary(pull, &page, &unmeasured::jobs(api, run)),
        page: &page,
        marker: &marker,
        pull,
        others: pull::other_pulls_at(api, pull, &run.head_sha)?,
        notes: Vec::new(),
    };
    let id = check::write(api, &run.head_sha, &content)?;
    log::info!("commit {}: check run {id}: {}", run.head_sha, content.conclusion());
    match why {
        Unmeasured::Refused(why) => Err(why),
        Unmeasured::NothingToMeasure | Unmeasured::WaitsForApproval | Unmeasured::MergeGroup => Ok(()),
    }
}

fn log_stale(pull: u64, head: &str) {
    log::info!("pull request {pull} has moved on from {head}: nothing is written, the run of its new head will say it");
}

fn started_by(api: &Api, run: Option<u64>) -> Result<Run, Refusal> {
    if let Some(id) = run {
        return Ok(api.get(&format!("/actions/runs/{id}"))?);
    }
    let file = variable("GITHUB_EVENT_PATH");
    let file = file.ok_or_else(|| Refusal::new("GITHUB_EVENT_PATH is not set: name the run with --run ID"))?;
    event::completed(file.as_ref(), api)
}

/// Annotations on lines of the diff. The diff is requested only if there can be an annotation.
fn notes(api: &Api, comparison: &Comparison, pull: u64) -> Result<Vec<Note>, Refusal> {
    let causes = functions::causes(comparison);
    if causes.is_empty() {
        return Ok(Vec::new());
    }
    let files = annotations::files(api, pull)?;
    Ok(annotations::notes(causes, &files))
}

/// Writes the comment and the check; `others` are the numbers of other pull requests with the same head commit.
fn write(
    api: &Api,
    admitted: &Admitted,
    workflow: &str,
    when: When,
    notes: Vec<Note>,
    others: Vec<u64>,
) -> Result<(), Refusal> {
    let Admitted { run, pull, comparison } = admitted;
    let (marker, page) = (sticky::marker(workflow), api.access().run_page(run.id));
    let about = About {
        marker: &marker,
        head: &run.head_sha,
        run: run.id,
        page: &page,
    };
    let if_missing = if when == When::Always || headline::has_news(comparison) {
        IfMissing::Make
    } else {
        IfMissing::Leave
    };
    let body = comment::render(comparison, &about);
    let written = sticky::write(api, pull.number, &marker, &body, if_missing)?;
    let written = written.as_deref().unwrap_or("no comment: nothing changed");
    log::info!("pull request {}: {written}", pull.number);
    let count = notes.len();
    let content = CheckContent {
        conclusion: Conclusion::of(comparison.verdict, limits::broken(&comparison.limits) > 0),
        title: headline::verdict(comparison),
        summary: comment::summary(comparison, &about),
        page: &page,
        marker: &marker,
        pull: pull.number,
        others,
        notes,
    };
    let id = check::write(api, &run.head_sha, &content)?;
    let (head, conclusion) = (&run.head_sha, content.conclusion());
    log::info!("commit {head}: check run {id}: {conclusion}, lines noted: {count}");
    Ok(())
}
