//! Reads the event that started a workflow, and checks the workflow run in it.

use std::error::Error;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::api::Api;
use crate::names::{self, log_safe};
use crate::{Refusal, refuse};

/// The longest event that is read.
const LONGEST: u64 = 32 * 1024 * 1024;

/// A repository as far as it matters here.
#[derive(Debug, Clone, Deserialize)]
pub struct Repository {
    /// Its number, which no other repository has.
    pub id: u64,
    /// `owner/name`.
    pub full_name: String,
    /// Who it belongs to.
    pub owner: Account,
}

/// Somebody on GitHub.
#[derive(Debug, Clone, Deserialize)]
pub struct Account {
    /// The name.
    pub login: String,
    /// `User`, `Organization` or `Bot`.
    #[serde(rename = "type", default)]
    pub kind: String,
}

/// A workflow run, as events and API give it alike.
#[derive(Debug, Clone, Deserialize)]
pub struct Run {
    /// Its number.
    pub id: u64,
    /// What started it.
    pub event: String,
    /// Its workflow's file; the API may add `@` and a ref.
    pub path: String,
    /// `completed` when it has ended.
    pub status: String,
    /// How it ended.
    pub conclusion: Option<String>,
    /// The commit it is about.
    pub head_sha: String,
    /// The branch that commit is on; anything that a branch may be called.
    pub head_branch: Option<String>,
    /// Where that branch is; null when that repository is gone.
    pub head_repository: Option<Repository>,
    /// Where it ran.
    pub repository: Repository,
    /// When it was first started, RFC 3339, UTC.
    pub created_at: String,
    /// When its newest attempt was started, RFC 3339, UTC.
    pub run_started_at: Option<String>,
}

/// A run that passed every check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedRun {
    /// Its number.
    pub id: u64,
    /// The pull request whose merge queue started it, for this one and those before it; `None` if a pull request did.
    pub queued: Option<u64>,
    /// The commit at the head of the pull request, 40 hex digits.
    pub head_sha: String,
    /// The pull request's branch.
    pub head_branch: String,
    /// The number of the repository that branch is in.
    pub head_repository: u64,
    /// Who that repository belongs to.
    pub head_owner: String,
    /// The number of our repository.
    pub repository: u64,
    /// When its newest attempt was started, RFC 3339, UTC.
    pub attempt_started_at: String,
    /// How it ended, one word.
    pub conclusion: String,
}

#[derive(Deserialize)]
struct Completed {
    action: String,
    workflow_run: Run,
    repository: Repository,
}

/// Reads the event's file.
///
/// # Errors
/// When it cannot be read, or is not such an event.
pub fn read<T: DeserializeOwned>(file: &Path) -> Result<T, Refusal> {
    let read = || -> Result<T, Box<dyn Error>> {
        let mut bytes = Vec::new();
        File::open(file)?.take(LONGEST).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    };
    read().map_err(|why| {
        let why = log_safe(&why.to_string());
        Refusal::new(format!(
            "GITHUB_EVENT_PATH: the event cannot be read: {why}; see what starts this workflow"
        ))
    })
}

/// The ended run of a `workflow_run` event.
///
/// # Errors
/// When it is another event, or another repository's.
pub fn completed(file: &Path, api: &Api) -> Result<Run, Refusal> {
    let event: Completed = read(file)?;
    if event.action != "completed" {
        let action = log_safe(&event.action);
        refuse!("the event is not about a run that has ended, but: {action}");
    }
    check_repository(&event.repository, api)?;
    Ok(event.workflow_run)
}

/// Holds an event's repository against the one that the workflow runs in.
///
/// # Errors
/// When they differ.
pub fn check_repository(repository: &Repository, api: &Api) -> Result<(), Refusal> {
    let expected = &api.access().repository;
    if !repository.full_name.eq_ignore_ascii_case(expected) {
        let found = log_safe(&repository.full_name);
        refuse!("the event is about another repository than {expected}: {found}");
    }
    Ok(())
}

/// Checks a workflow run before any of its data is read.
///
/// # Errors
/// At the first thing that is otherwise.
pub fn check(run: Run, workflow: &str, repository: u64) -> Result<CheckedRun, Refusal> {
    let id = run.id;
    if run.repository.id != repository {
        let found = log_safe(&run.repository.full_name);
        refuse!("run {id} is another repository's: {found}");
    }
    if !["pull_request", "merge_group"].contains(&run.event.as_str()) {
        let event = log_safe(&run.event);
        refuse!("run {id} was not started by pull_request or merge_group, but by {event}");
    }
    if !is_file(&run.path, workflow) {
        let path = log_safe(&run.path);
        refuse!("run {id} is of another workflow than {workflow}: {path}");
    }
    if run.status != "completed" {
        refuse!("run {id} has not ended: {}; wait for it", log_safe(&run.status));
    }
    if !names::is_commit(&run.head_sha) {
        refuse!("run {id} names no commit: {}", log_safe(&run.head_sha));
    }
    let Some(head) = run.head_repository else {
        refuse!("run {id}: the repository of the pull request's branch was deleted");
    };
    let branch = run.head_branch.unwrap_or_default();
    if branch.is_empty() || branch.len() > 1024 {
        refuse!("run {id} names no branch that a pull request could be from");
    }
    if !names::is_login(&head.owner.login) {
        refuse!("run {id}: {} is not a login", log_safe(&head.owner.login));
    }
    let queued = queued(&branch).filter(|_| run.event == "merge_group" && head.id == repository);
    if run.event == "merge_group" && queued.is_none() {
        refuse!("run {id}: its branch is none of a merge queue of this repository");
    }
    Ok(CheckedRun {
        id,
        queued,
        head_sha: run.head_sha,
        head_branch: branch,
        head_repository: head.id,
        head_owner: head.owner.login,
        repository,
        attempt_started_at: run.run_started_at.unwrap_or(run.created_at),
        conclusion: log_safe(&run.conclusion.unwrap_or_else(|| "no conclusion".into())),
    })
}

/// The pull request that a branch of a merge queue ends with: `gh-readonly-queue/main/pr-7-COMMIT`.
fn queued(branch: &str) -> Option<u64> {
    let (_, last) = branch.strip_prefix("gh-readonly-queue/")?.rsplit_once("/pr-")?;
    let (number, commit) = last.split_once('-')?;
    number.parse().ok().filter(|_| names::is_commit(commit))
}

/// Whether a run's path is that workflow's file; the API may add `@` and a ref, but never names another file so.
pub fn is_file(path: &str, workflow: &str) -> bool {
    let added = path.strip_prefix(workflow);
    added.is_some_and(|added| {
        let another_file = [".yml", ".yaml"].iter().any(|ending| added.ends_with(ending));
        added.is_empty() || (added.starts_with('@') && !another_file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_of_a_merge_queue_names_its_last_pull_request() {
        let commit = "a".repeat(40);
        assert_eq!(queued(&format!("gh-readonly-queue/release/1.0/pr-7-{commit}")), Some(7));
        for other in [
            format!("queue/main/pr-7-{commit}"),
            format!("gh-readonly-queue/main/pr-x-{commit}"),
            format!("gh-readonly-queue/pr-7-{commit}"),
            "gh-readonly-queue/main/pr-7-abc".into(),
            "gh-readonly-queue/main/7".into(),
        ] {
            assert_eq!(queued(&other), None, "{other}");
        }
    }

    #[test]
    fn a_workflow_is_known_by_its_file_not_by_what_looks_like_it() {
        let ours = ".github/workflows/bench.yml";
        for good in [
            ".github/workflows/bench.yml",
            ".github/workflows/bench.yml@main",
            ".github/workflows/bench.yml@refs/pull/7/merge",
        ] {
            assert!(is_file(good, ours), "{good}");
        }
        for bad in [
            "bench.yml",
            ".github/workflows/bench.yml2",
            ".github/workflows/bench.yml@x.yml",
            ".github/workflows/BENCH.yml",
            ".github/workflows/other.yml@bench.yml",
            "",
        ] {
            assert!(!is_file(bad, ours), "{bad}");
        }
    }
}
