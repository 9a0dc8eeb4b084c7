//! Keeps one issue about worsenings on the default branch: opens it, updates it, and closes it when nothing is worse
//! any more.
//!
//! Recognised by the marker in its first line and by its author `github-actions[bot]`: anybody can write the marker,
//! but not as that author.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::Refusal;
use crate::api::{Api, ApiError, Repeat};
use crate::event::Account;
use crate::sticky;

/// The first line of the issue.
pub const MARKER: &str = "<!-- wirebench: trend -->";

/// The state that the issue must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueState<'a> {
    /// Something is worse. With `new`, an issue is opened if none is open.
    Worse {
        /// One line.
        title: &'a str,
        /// Begins with the marker.
        body: &'a str,
        /// Whether a worsening is new.
        new: bool,
    },
    /// Nothing is worse: an open issue is closed with this text.
    Nothing {
        /// Begins with the marker.
        body: &'a str,
    },
}

/// The change that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueChange {
    /// An issue was opened.
    Opened(u64),
    /// The open issue was updated.
    Updated(u64),
    /// The open issue was closed.
    Closed(u64),
    /// There was nothing to write.
    Nothing,
}

#[derive(Deserialize)]
struct Issue {
    number: u64,
    #[serde(default)]
    body: Option<String>,
    user: Option<Account>,
    #[serde(default)]
    pull_request: Option<Value>,
}

#[derive(Deserialize)]
struct Made {
    number: u64,
}

/// Opens, updates or closes the issue.
///
/// # Errors
/// When GitHub does not list the issues, or rejects the change.
pub fn write(api: &Api, wanted: IssueState) -> Result<IssueChange, Refusal> {
    match (ours(api)?, wanted) {
        (Some(number), IssueState::Worse { title, body, .. }) => {
            patch(api, number, &json!({ "title": title, "body": body }))?;
            Ok(IssueChange::Updated(number))
        }
        (None, IssueState::Worse { title, body, new: true }) => {
            let body = json!({ "title": title, "body": body });
            let made: Made = api.make("/issues", &body, || Ok(ours(api)?.map(|number| Made { number })))?;
            Ok(IssueChange::Opened(made.number))
        }
        (Some(number), IssueState::Nothing { body }) => {
            let closed = json!({ "body": body, "state": "closed", "state_reason": "completed" });
            patch(api, number, &closed)?;
            Ok(IssueChange::Closed(number))
        }
        (None, _) => Ok(IssueChange::Nothing),
    }
}

/// The open issue of ours.
fn ours(api: &Api) -> Result<Option<u64>, ApiError> {
    let is_ours = |issue: &&Issue| {
        issue.pull_request.is_none() && sticky::is_ours(issue.user.as_ref(), issue.body.as_deref(), MARKER)
    };
    let open: Vec<Issue> = api.list("/issues?state=open&creator=github-actions%5Bbot%5D", None)?;
    Ok(open.iter().find(is_ours).map(|issue| issue.number))
}

fn patch(api: &Api, number: u64, body: &Value) -> Result<(), Refusal> {
    let _: Made = api.send("PATCH", &format!("/issues/{number}"), Some(body), Repeat::Yes)?;
    Ok(())
}
