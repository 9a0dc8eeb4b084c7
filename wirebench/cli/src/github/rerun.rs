//! `wirebench github rerun`: answers a `/bench` comment on a pull request: runs its benchmark again, or lets its check pass.
//!
//! It restarts an existing workflow run, with that run's commit, token and caches. So a comment never runs code with
//! more rights than the pull request had.

use serde_json::{Value, json};

use crate::github::{variable, workflow_file};
use crate::outcome::{Outcome, UsageError};
use wirebench_github::access::Access;
use wirebench_github::api::{Api, Repeat};
use wirebench_github::pull::Pull;
use wirebench_github::rerun::{self, Commented, PullRequest, Request};
use wirebench_github::{Refusal, check, event, sticky};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, in a workflow:
  wirebench github rerun           on: issue_comment; the comment's first line is /bench [GLOB…] or /bench accept
  wirebench github rerun --asked   on: pull_request, from the second attempt on: prints those globs

Reads GITHUB_EVENT_PATH, GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_TOKEN.
Exit codes: 0 started or accepted, or the comment is no /bench command; 1 refused, with the reason.")]
pub(super) struct Args {
    /// The workflow that measures pull requests.
    #[arg(long, value_name = "FILE", default_value = ".github/workflows/bench.yml")]
    workflow: String,
    /// Only prints the globs of the newest /bench comment by a member of the project, one a line. No line means every
    /// scenario.
    #[arg(long)]
    asked: bool,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    let workflow = workflow_file(&args.workflow)?;
    let api = Api::new(Access::from_environment()?);
    let file = variable("GITHUB_EVENT_PATH")
        .ok_or_else(|| UsageError("GITHUB_EVENT_PATH is not set: this command runs in a workflow".into()))?;
    if args.asked {
        let event: PullRequest = event::read(file.as_ref())?;
        event::check_repository(&event.repository, &api)?;
        let comments = sticky::comments(&api, event.number).map_err(Refusal::from)?;
        for glob in rerun::newest(&comments) {
            println!("{glob}");
        }
        return Ok(Outcome::Done);
    }
    let event: Commented = event::read(file.as_ref())?;
    event::check_repository(&event.repository, &api)?;
    answer(&api, &event, workflow)
}

fn answer(api: &Api, event: &Commented, workflow: &str) -> anyhow::Result<Outcome> {
    let comment = &event.comment;
    let asked = rerun::request(comment.body.as_deref().unwrap_or_default());
    let Some(asked) = asked.filter(|_| event.action == "created" && event.issue.pull_request.is_some()) else {
        log::info!("nothing to do: no new comment on a pull request that begins with /bench");
        return Ok(Outcome::Done);
    };
    let Some(author) = rerun::writer(api, comment.user.as_ref())? else {
        log::info!("nothing to do: /bench is answered for those who may write to the repository");
        return Ok(Outcome::Done);
    };
    let done = asked.and_then(|asked| act(api, event, &asked, author, workflow));
    react(api, comment.id, done.as_ref().map_or("confused", |sign| sign));
    done?;
    Ok(Outcome::Done)
}

/// Does what a comment asks for, and returns the reaction to it.
fn act(api: &Api, event: &Commented, asked: &Request, author: &str, workflow: &str) -> Result<&'static str, Refusal> {
    let pull: Pull = api.get(&format!("/pulls/{}", event.issue.number))?;
    let runs = rerun::runs(api, workflow, &pull.head.sha)?;
    // After the pull request, so that no force-push between the two stays unseen.
    let replaced = rerun::head_replaced_at(api, pull.number)?;
    let run = rerun::choose(&runs, &pull, workflow, &event.comment.created_at, replaced.as_deref())?;
    let number = pull.number;
    match asked {
        Request::Measure(globs) => {
            let path = format!("/actions/runs/{}/rerun", run.id);
            api.send::<Value>("POST", &path, Some(&json!({})), Repeat::No)?;
            let what = match globs.len() {
                0 => "everything".into(),
                globs => format!("{globs} globs"),
            };
            log::info!("pull request {number}: run {} is started again for {what}", run.id);
            Ok("rocket")
        }
        Request::Accept => {
            let check = check::accept(api, &pull.head.sha, &sticky::marker(workflow), number, author)?;
            log::info!("pull request {number}: check run {check} passes, accepted by {author}");
            Ok("+1")
        }
    }
}

/// Adds a reaction to the comment. Failing to do so is no error.
fn react(api: &Api, comment: u64, sign: &str) {
    let path = format!("/issues/comments/{comment}/reactions");
    let body = json!({ "content": sign });
    if let Err(error) = api.send::<Value>("POST", &path, Some(&body), Repeat::Yes) {
        log::warn!("warning: no reaction on the comment: {error}");
    }
}
