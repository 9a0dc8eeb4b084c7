//! Finds the pull request of a workflow run: from the API, by head commit and head repository, never from the run's
//! files.
//!
//! A run does not name the pull request if it is from a fork, and `commits/SHA/pulls` does not know commits of forks; the list of
//! open pull requests of one branch does.

use serde::Deserialize;

use crate::api::Api;
use crate::event::CheckedRun;
use crate::{Refusal, refuse};

/// A pull request, with the fields that are used here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Pull {
    /// Its number.
    pub number: u64,
    /// `open` or `closed`.
    pub state: String,
    /// The branch to merge.
    pub head: BranchTip,
    /// The branch to merge into.
    pub base: BranchTip,
}

/// The head or the base of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BranchTip {
    /// The commit.
    pub sha: String,
    /// The branch.
    #[serde(rename = "ref")]
    pub branch: String,
    /// Its repository; null if that was deleted.
    pub repo: Option<RepositoryId>,
}

/// A repository's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct RepositoryId {
    /// The number.
    pub id: u64,
}

/// The pull request that a run measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// The run measured this pull request's head.
    Pull(Box<Pull>),
    /// This pull request's head has moved on since.
    Stale(u64),
}

/// The open pull requests from a run's branch, and maybe others.
///
/// # Errors
/// When the API does not say.
pub fn candidates(api: &Api, run: &CheckedRun) -> Result<Vec<Pull>, Refusal> {
    let head = escaped(&format!("{}:{}", run.head_owner, run.head_branch));
    Ok(api.list(&format!("/pulls?state=open&head={head}"), None)?)
}

/// The one pull request that a run is about.
///
/// # Errors
/// When there is no such pull request, or more than one.
pub fn resolve(run: &CheckedRun, pulls: &[Pull]) -> Result<Resolved, Refusal> {
    let from = |pull: &&Pull| {
        pull.state == "open"
            && pull.head.repo.is_some_and(|repo| repo.id == run.head_repository)
            && pull.base.repo.is_some_and(|repo| repo.id == run.repository)
    };
    let (id, head) = (run.id, &run.head_sha);
    let same: Vec<&Pull> = pulls.iter().filter(from).collect();
    let at: Vec<&&Pull> = same.iter().filter(|pull| &pull.head.sha == head).collect();
    match at[..] {
        [pull] => Ok(Resolved::Pull(Box::new((*pull).clone()))),
        [] => match same.iter().find(|pull| pull.head.branch == run.head_branch) {
            Some(pull) => Ok(Resolved::Stale(pull.number)),
            None => refuse!(
                "run {id}: no open pull request has commit {head} at its head; it is closed, or was never one of this repository"
            ),
        },
        [one, other, ..] => refuse!(
            "run {id}: commit {head} is the head of several pull requests, {} and {}: nobody can say which one was measured",
            one.number,
            other.number
        ),
    }
}

/// The numbers of other open pull requests with the same head commit, from any repository: a check run on the commit is
/// shown on all of them.
///
/// # Errors
/// When the API does not say.
pub fn other_pulls_at(api: &Api, number: u64, head: &str) -> Result<Vec<u64>, Refusal> {
    let all: Vec<Pull> = api.list("/pulls?state=open", None)?;
    let other = |pull: &Pull| pull.number != number && pull.state == "open" && pull.head.sha == head;
    Ok(all.into_iter().filter(other).map(|pull| pull.number).collect())
}

/// Text as a value in an address.
fn escaped(text: &str) -> String {
    let each = text.bytes().map(|byte| match byte {
        b'-' | b'.' | b'_' | b'~' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> CheckedRun {
        CheckedRun {
            id: 1,
            queued: None,
            head_sha: "a".repeat(40),
            head_branch: "faster".into(),
            head_repository: 2,
            head_owner: "octo".into(),
            repository: 9,
            attempt_started_at: String::new(),
            conclusion: "success".into(),
        }
    }

    fn pull(number: u64, sha: &str, repository: Option<u64>) -> Pull {
        let end = |sha: &str, branch: &str, id: Option<u64>| BranchTip {
            sha: sha.repeat(40),
            branch: branch.into(),
            repo: id.map(|id| RepositoryId { id }),
        };
        Pull {
            number,
            state: "open".into(),
            head: end(sha, "faster", repository),
            base: end("f", "main", Some(9)),
        }
    }

    #[test]
    fn one_pull_request_at_the_commit_is_it() {
        let found = resolve(
            &run(),
            &[pull(7, "a", Some(2)), pull(8, "a", Some(3)), pull(9, "b", None)],
        )
        .unwrap();
        assert!(matches!(found, Resolved::Pull(pull) if pull.number == 7));
    }

    #[test]
    fn a_head_that_moved_is_stale_and_everything_else_is_refused() {
        assert_eq!(resolve(&run(), &[pull(7, "b", Some(2))]), Ok(Resolved::Stale(7)));
        let mut closed = pull(7, "a", Some(2));
        closed.state = "closed".into();
        let mut elsewhere = pull(7, "a", Some(2));
        elsewhere.base.repo = Some(RepositoryId { id: 10 });
        for pulls in [
            vec![],
            vec![closed],
            vec![elsewhere],
            vec![pull(7, "a", Some(3))],
            vec![pull(7, "a", None)],
            vec![pull(7, "a", Some(2)), pull(8, "a", Some(2))],
        ] {
            assert!(resolve(&run(), &pulls).is_err(), "{pulls:?}");
        }
    }

    #[test]
    fn branches_cannot_change_the_question() {
        assert_eq!(escaped("octo:a&state=all#ä"), "octo%3Aa%26state%3Dall%23%C3%A4");
    }
}
