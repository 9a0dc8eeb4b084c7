//! What a `/bench` comment asks for, whether it is answered, and for which run: one that has measured the pull request's head, and
//! that was there before the comment, with no force-push since. docs/SECURITY.md says which later push the API does not show.

use globset::Glob;
use serde::Deserialize;
use serde_json::Value;

use crate::api::{Api, ApiError};
use crate::event::{Account, Repository, Run, is_file};
use crate::pull::Pull;
use crate::{Refusal, names, refuse};

/// A comment as events and API give it alike.
#[derive(Debug, Clone, Deserialize)]
pub struct Comment {
    /// Its number.
    pub id: u64,
    /// Its text.
    pub body: Option<String>,
    /// Who wrote it; null when that account is gone.
    pub user: Option<Account>,
    /// When, RFC 3339, UTC.
    pub created_at: String,
    /// The author's association with the repository: `OWNER`, `MEMBER`, `COLLABORATOR` or less.
    #[serde(default)]
    pub author_association: String,
}

/// The event of a comment.
#[derive(Debug, Deserialize)]
pub struct Commented {
    /// `created` when it is new.
    pub action: String,
    /// What it is on.
    pub issue: Issue,
    /// The comment.
    pub comment: Comment,
    /// Where.
    pub repository: Repository,
}

/// The issue or pull request of a comment.
#[derive(Debug, Deserialize)]
pub struct Issue {
    /// Its number.
    pub number: u64,
    /// There when it is a pull request.
    pub pull_request: Option<Value>,
    /// Its text.
    pub body: Option<String>,
    /// Who opened it; null when that account is gone.
    pub user: Option<Account>,
}

/// The event of a pull request.
#[derive(Debug, Deserialize)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Where.
    pub repository: Repository,
}

/// The author's login, if it is a person who may write to the repository.
///
/// # Errors
/// When the API does not say.
pub fn writer<'a>(api: &Api, author: Option<&'a Account>) -> Result<Option<&'a str>, Refusal> {
    let person = author.filter(|author| author.kind == "User" && names::is_login(&author.login));
    let Some(person) = person else {
        return Ok(None);
    };
    let login = person.login.as_str();
    match api.get::<Value>(&format!("/collaborators/{login}/permission")) {
        Ok(found) => {
            let permission = found["permission"].as_str().unwrap_or_default();
            Ok(["admin", "maintain", "write"].contains(&permission).then_some(login))
        }
        Err(error) if error.status == Some(404) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The runs of a workflow that measured a commit.
///
/// # Errors
/// When the API does not say.
pub fn runs(api: &Api, workflow: &str, head: &str) -> Result<Vec<Run>, Refusal> {
    let file = workflow.rsplit('/').next().unwrap_or_default();
    let path = format!("/actions/workflows/{file}/runs?event=pull_request&head_sha={head}");
    Ok(api.list(&path, Some("workflow_runs"))?)
}

/// When the head of a pull request was last replaced otherwise than by commits on top, RFC 3339, UTC.
///
/// # Errors
/// When the API does not say.
pub fn head_replaced_at(api: &Api, pull: u64) -> Result<Option<String>, ApiError> {
    const REPLACED: [&str; 3] = ["head_ref_force_pushed", "head_ref_deleted", "head_ref_restored"];
    let all: Vec<Value> = api.list(&format!("/issues/{pull}/timeline"), None)?;
    let replaced = all
        .iter()
        .filter(|event| REPLACED.iter().any(|name| event["event"] == *name));
    let newest = replaced.filter_map(|event| event["created_at"].as_str()).max();
    Ok(newest.map(str::to_owned))
}

/// The run that a comment of that time is about.
///
/// # Errors
/// When the head was replaced after the comment; when there is no run, it is newer than the comment, has not ended, or waits for approval.
pub fn choose<'a>(
    runs: &'a [Run],
    pull: &Pull,
    workflow: &str,
    commented_at: &str,
    head_replaced_at: Option<&str>,
) -> Result<&'a Run, Refusal> {
    let number = pull.number;
    if pull.state != "open" {
        refuse!("pull request {number} is not open");
    }
    // An older run may have measured the commit that the head was set back to. Within one second the order is unknown.
    if head_replaced_at.is_some_and(|at| at >= commented_at) {
        refuse!("pull request {number}: its head was force-pushed after the comment; look at it and comment again");
    }
    let Some(from) = pull.head.repo else {
        refuse!("pull request {number}: the repository of its branch was deleted");
    };
    let of_pull = |run: &&Run| {
        run.event == "pull_request"
            && is_file(&run.path, workflow)
            && run.head_sha == pull.head.sha
            && run.head_branch.as_deref() == Some(&pull.head.branch)
            && (run.head_repository.as_ref()).is_some_and(|repository| repository.id == from.id)
    };
    // The newest of all runs, not only of those before the comment: a commit may have been replaced and restored.
    let started = |run: &&Run| (run.created_at.clone(), run.id);
    let Some(run) = runs.iter().filter(of_pull).max_by_key(started) else {
        refuse!("pull request {number}: {workflow} has not measured its head; wait for it to start, or push again");
    };
    // Within one second the order is unknown.
    if run.created_at.as_str() >= commented_at {
        refuse!("pull request {number}: its head was pushed after the comment; look at it and comment again");
    }
    let id = run.id;
    if run.status != "completed" {
        refuse!("pull request {number}: run {id} has not ended; wait for it and comment again");
    }
    if run.conclusion.as_deref() == Some("action_required") {
        refuse!("pull request {number}: run {id} waits for somebody to approve it");
    }
    Ok(run)
}

/// The globs of the newest comment that asks and may ask.
pub fn newest(comments: &[Comment]) -> Vec<String> {
    let may_ask =
        |comment: &&Comment| ["OWNER", "MEMBER", "COLLABORATOR"].contains(&comment.author_association.as_str());
    let globs = |comment: &Comment| match request(comment.body.as_deref()?)?.ok()? {
        Request::Measure(globs) => Some((comment.created_at.clone(), comment.id, globs)),
        Request::Accept => None,
    };
    let newest = comments.iter().filter(may_ask).filter_map(globs).max();
    newest.map_or_else(Vec::new, |(_, _, globs)| globs)
}

// Parses `/bench GLOB…` and `/bench accept` in a comment. Only the first line is read.

/// Globs of one comment, at most.
pub const MOST: usize = 10;
/// Characters of one glob, at most.
const LONGEST: usize = 100;

/// What a /bench comment asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// To measure the scenarios that match these globs again; every one if there are none.
    Measure(Vec<String>),
    /// To let the check of this commit pass, although it failed; words after it are for readers.
    Accept,
}

/// What a comment asks for; `None` if it is no /bench comment.
///
/// # Errors
/// When it asks for something that no scenario can be called.
pub fn request(comment: &str) -> Option<Result<Request, Refusal>> {
    let line = comment.lines().next().unwrap_or_default();
    let mut words = line.split_ascii_whitespace().peekable();
    if !line.starts_with("/bench") || words.next() != Some("/bench") {
        return None;
    }
    if words.peek() == Some(&"accept") {
        return Some(Ok(Request::Accept));
    }
    Some(parse(words).map(Request::Measure))
}

fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Result<Vec<String>, Refusal> {
    let globs: Vec<String> = words.map(str::to_owned).collect();
    if globs.len() > MOST {
        refuse!("/bench takes at most {MOST} globs");
    }
    for (place, glob) in (1..).zip(&globs) {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-*?[]{},".contains(c);
        let readable = glob.len() <= LONGEST && !glob.starts_with('-') && glob.chars().all(allowed);
        if !readable || Glob::new(glob).is_err() {
            refuse!(
                "/bench: {place} is no glob: it may hold lower-case letters, digits, hyphens (not first) and * ? [] {{}} ,"
            );
        }
    }
    Ok(globs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;

    #[test]
    fn the_first_line_asks_and_nothing_else_does() {
        let request = |text: &str| request(text).map(Result::unwrap);
        assert_eq!(request("/bench"), Some(Request::Measure(vec![])));
        assert_eq!(
            request("/bench weather-* count-{a,b}\r\nrm -rf /"),
            Some(Request::Measure(vec!["weather-*".into(), "count-{a,b}".into()]))
        );
        assert_eq!(request("/bench accept $(a reason)"), Some(Request::Accept));
        for not in [
            "",
            "bench",
            "/benchmark",
            " /bench",
            "> /bench",
            "please /bench",
            "\n/bench",
            "/Bench",
            "/bench\u{a0}x",
        ] {
            assert_eq!(request(not), None, "{not:?}");
        }
    }

    #[test]
    fn what_could_be_more_than_a_glob_is_refused() {
        for nasty in [
            "--help",
            "-x",
            "a;b",
            "$(id)",
            "`id`",
            "a|b",
            "../x",
            "a\u{202e}b",
            "'a'",
            "a\"",
            "${{x}}",
            "a\\b",
            "{a",
            "[a",
            "A",
            &"a".repeat(101),
        ] {
            assert!(request(&format!("/bench {nasty}")).unwrap().is_err(), "{nasty}");
        }
        assert!(request(&format!("/bench{}", " a".repeat(11))).unwrap().is_err());
        assert!(request(&format!("/bench{}", " a".repeat(10))).unwrap().is_ok());
    }

    proptest! {
        #[test]
        fn a_glob_that_is_taken_is_one_harmless_word(text in any::<String>(), word in "[-a-c*?{}\\[\\],;$ ]{0,12}") {
            for comment in [format!("/bench {text}"), format!("/bench {word}")] {
                let Some(Ok(Request::Measure(globs))) = request(&comment) else { continue };
                for glob in globs {
                    prop_assert!(!glob.starts_with('-') && glob.is_ascii() && !glob.contains([' ', ';', '$', '\n', '`', '\'', '"', '/']));
                }
            }
        }
    }
}
