//! One comment on a pull request, written once and then kept up to date.
//!
//! Recognised by the marker in its first line and by its author `github-actions[bot]`: anybody can write the marker,
//! but not as that author.

use serde::Deserialize;
use serde_json::json;

use crate::Refusal;
use crate::api::{Api, ApiError, Repeat};
use crate::event::Account;
use crate::rerun::Comment;

/// Who writes with a workflow's token.
const AUTHOR: &str = "github-actions[bot]";
/// What is done if there is no comment of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMissing {
    /// One is made.
    Make,
    /// Nothing.
    Leave,
}

#[derive(Deserialize)]
struct Made {
    id: u64,
}

/// The first line of a comment of ours: one for each workflow that is measured by.
pub fn marker(workflow: &str) -> String {
    format!("<!-- wirebench: {workflow} -->")
}

/// Every comment on a pull request.
///
/// # Errors
/// When the API does not say.
pub fn comments(api: &Api, pull: u64) -> Result<Vec<Comment>, ApiError> {
    api.list(&format!("/issues/{pull}/comments"), None)
}

/// True if a text was written by this program's account and begins with the marker.
pub(super) fn is_ours(author: Option<&Account>, body: Option<&str>, marker: &str) -> bool {
    let by_us = author.is_some_and(|author| author.login == AUTHOR && author.kind == "Bot");
    let first = body.and_then(|body| body.lines().next());
    by_us && first == Some(marker)
}

/// Brings a comment that begins with the marker up to date, or if there is none does what is wanted then. Says which; `None` if
/// nothing was written.
///
/// # Errors
/// When GitHub does not take it.
pub fn write(api: &Api, pull: u64, marker: &str, body: &str, if_missing: IfMissing) -> Result<Option<String>, Refusal> {
    let body = json!({ "body": body });
    let mut gone = Vec::new();
    let find = |gone: &[u64]| -> Result<Option<u64>, ApiError> {
        let ours = |comment: &&Comment| {
            !gone.contains(&comment.id) && is_ours(comment.user.as_ref(), comment.body.as_deref(), marker)
        };
        Ok(comments(api, pull)?.iter().find(ours).map(|comment| comment.id))
    };
    while let Some(id) = find(&gone)? {
        match api.send::<Made>("PATCH", &format!("/issues/comments/{id}"), Some(&body), Repeat::Yes) {
            Ok(made) => return Ok(Some(format!("comment {} updated", made.id))),
            // Deleted between looking and writing.
            Err(error) if matches!(error.status, Some(404 | 410 | 422)) => gone.push(id),
            Err(error) => return Err(error.into()),
        }
    }
    if if_missing == IfMissing::Leave {
        return Ok(None);
    }
    let made: Made = api.make(&format!("/issues/{pull}/comments"), &body, || {
        Ok(find(&gone)?.map(|id| Made { id }))
    })?;
    Ok(Some(format!("comment {} created", made.id)))
}
