//! Keeps one issue about worsenings on the default branch: opens it, updates it, and closes it when nothing is worse
//! any more.
//!
//! Recognised by the marker in its first line and by its author `github-actions[bot]`: anybody can write the marker,
//! but not as that author.

use serde_json::{Value, json};

use crate::Refusal;
use crate::api::{Api, ApiError, Repeat};
use crate::rerun::Issue;
use crate::sticky;

/// The first line of the issue.
pub const MARKER: &str = "<!-- wirebench: trend -->";

/// What the issue must say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedIssue<'a> {
    /// One line; `None` if nothing is worse, so that an open issue is closed.
    pub title: Option<&'a str>,
    /// Begins with the marker.
    pub body: &'a str,
    /// Whether a worsening is new: if no issue is open, one is opened.
    pub is_new: bool,
}

/// Opens, updates or closes the issue, and says which; `None` if there was nothing to write.
///
/// # Errors
/// When GitHub does not list the issues, or rejects the change.
pub fn write(api: &Api, wanted: &WantedIssue) -> Result<Option<String>, Refusal> {
    let body = wanted.body;
    let done = match (ours(api)?, wanted.title) {
        (Some(Issue { number, .. }), Some(title)) => {
            patch(api, number, &json!({ "title": title, "body": body }))?;
            format!("issue {number} updated")
        }
        (None, Some(title)) if wanted.is_new => {
            let made: Issue = api.make("/issues", &json!({ "title": title, "body": body }), || ours(api))?;
            format!("issue {} opened", made.number)
        }
        (Some(Issue { number, .. }), None) => {
            let closed = json!({ "body": body, "state": "closed", "state_reason": "completed" });
            patch(api, number, &closed)?;
            format!("issue {number} closed: nothing is worse any more")
        }
        (None, _) => return Ok(None),
    };
    Ok(Some(done))
}

/// The open issue of ours.
fn ours(api: &Api) -> Result<Option<Issue>, ApiError> {
    let is_ours = |issue: &Issue| {
        issue.pull_request.is_none() && sticky::is_ours(issue.user.as_ref(), issue.body.as_deref(), MARKER)
    };
    let open: Vec<Issue> = api.list("/issues?state=open&creator=github-actions%5Bbot%5D", None)?;
    Ok(open.into_iter().find(is_ours))
}

fn patch(api: &Api, number: u64, body: &Value) -> Result<(), Refusal> {
    let _: Issue = api.send("PATCH", &format!("/issues/{number}"), Some(body), Repeat::Yes)?;
    Ok(())
}
