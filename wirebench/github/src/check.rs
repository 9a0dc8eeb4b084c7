//! The check run `wirebench` on the measured commit: a conclusion, and up to five annotations on lines of the diff.
//!
//! GitHub stores check runs by commit, and several pull requests may have the same head commit. Each gets its own check
//! run, and as long as there are several all are neutral.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::annotations::Note;
use crate::api::{Api, ApiError, Repeat};
use crate::{Refusal, refuse};
use wirebench_record::comparison::Verdict;

/// Its name, which reviewers see and rules may ask for.
pub const NAME: &str = "wirebench";
/// Other pull requests that are named, at most.
const MOST_OTHERS: usize = 5;

/// The conclusion of a check run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Judged, and nothing is worse.
    Success,
    /// Nothing was decided.
    Neutral,
    /// Something is worse, or could not be measured.
    Failure,
}

impl Conclusion {
    /// The conclusion of a comparison: neutral if it decided nothing.
    pub const fn of(verdict: Verdict, breaks_limit: bool) -> Self {
        match verdict {
            _ if breaks_limit => Self::Failure,
            Verdict::Regressed | Verdict::Invalid => Self::Failure,
            Verdict::Inconclusive | Verdict::NotJudged => Self::Neutral,
            Verdict::Improved | Verdict::Unchanged => Self::Success,
        }
    }
}

/// The content of a check run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckContent<'a> {
    /// The conclusion, if no other pull request has the same head commit.
    pub conclusion: Conclusion,
    /// One line.
    pub title: String,
    /// Markdown.
    pub summary: String,
    /// The page of the run that measured.
    pub page: &'a str,
    /// The marker of the workflow that measured.
    pub marker: &'a str,
    /// Its pull request; with the marker, it identifies the check run.
    pub pull: u64,
    /// Other open pull requests with the same head commit.
    pub others: Vec<u64>,
    /// Lines of the diff and the message for each.
    pub notes: Vec<Note>,
}

#[derive(Deserialize)]
struct CheckRun {
    id: u64,
    external_id: Option<String>,
    conclusion: Option<String>,
    #[serde(default)]
    app: Value,
    #[serde(default)]
    output: Value,
}

impl CheckContent<'_> {
    /// The conclusion as GitHub names it: neutral if the check run is also visible on other pull requests.
    pub const fn conclusion(&self) -> &'static str {
        match self.conclusion {
            _ if !self.others.is_empty() => "neutral",
            Conclusion::Success => "success",
            Conclusion::Neutral => "neutral",
            Conclusion::Failure => "failure",
        }
    }

    /// The title and the summary, and whose they are where that is not plain.
    fn texts(&self) -> (String, String) {
        if self.others.is_empty() {
            return (self.title.clone(), self.summary.clone());
        }
        let title = format!("Pull request {}: {}", self.pull, self.title);
        let others: Vec<String> = self.others.iter().take(MOST_OTHERS).map(u64::to_string).collect();
        let (pull, others, summary) = (self.pull, others.join(", "), &self.summary);
        let summary = format!(
            "This is of pull request {pull}. The same commit is the head of others ({others}), so this check says neither yes nor no; read \
             the comment on the pull request itself.\n\n{summary}"
        );
        (title, summary)
    }
}

/// What the check run of a pull request is known again by, as its `external_id`; with the marker of the workflow that measured.
fn known_by(marker: &str, pull: u64) -> String {
    format!("{marker} pull request {pull}")
}

/// Says it on a commit: in our own check run there, or in a new one. Notes are only ever added to a check run, so one
/// that has some is followed by a new one, which is shown in its place.
///
/// # Errors
/// When GitHub does not take it.
pub fn write(api: &Api, commit: &str, content: &CheckContent) -> Result<u64, Refusal> {
    let known_by = known_by(content.marker, content.pull);
    let before = newest(api, commit, &known_by)?;
    let free = |run: &&CheckRun| run.output["annotations_count"].as_u64().is_none_or(|count| count == 0);
    let body = body(commit, content);
    let written: CheckRun = match before.as_ref().filter(free) {
        Some(run) => api.send("PATCH", &format!("/check-runs/{}", run.id), Some(&body), Repeat::Yes)?,
        None => api.make("/check-runs", &body, || {
            let now = newest(api, commit, &known_by)?;
            Ok(now.filter(|now| before.as_ref().is_none_or(|before| now.id > before.id)))
        })?,
    };
    Ok(written.id)
}

/// Lets our check run on a commit pass, although it failed, and says who accepted that. The lines that it notes stay. Measured again,
/// the commit is judged anew.
///
/// # Errors
/// When there is none that failed, or GitHub does not take it.
pub fn accept(api: &Api, commit: &str, marker: &str, pull: u64, login: &str) -> Result<u64, Refusal> {
    let found = newest(api, commit, &known_by(marker, pull))?;
    let Some(run) = found.filter(|run| run.conclusion.as_deref() == Some("failure")) else {
        refuse!("pull request {pull}: the check {NAME} at its head has not failed, so there is nothing to accept");
    };
    let said = |key: &str| run.output[key].as_str().unwrap_or_default();
    let summary = said("summary");
    let body = json!({
        "status": "completed",
        "conclusion": "success",
        "output": {
            "title": format!("Accepted by {login}: {}", said("title")),
            "summary": format!("{login} accepted this for this commit. The next commit is judged anew.\n\n{summary}"),
        },
    });
    let written: CheckRun = api.send("PATCH", &format!("/check-runs/{}", run.id), Some(&body), Repeat::Yes)?;
    Ok(written.id)
}

/// The newest of our check runs on a commit, which is the one that is shown.
fn newest(api: &Api, commit: &str, known_by: &str) -> Result<Option<CheckRun>, ApiError> {
    let path = format!("/commits/{commit}/check-runs?check_name={NAME}&filter=all");
    let all: Vec<CheckRun> = api.list(&path, Some("check_runs"))?;
    let ours = |run: &CheckRun| run.app["slug"] == "github-actions" && run.external_id.as_deref() == Some(known_by);
    Ok(all.into_iter().filter(ours).max_by_key(|run| run.id))
}

fn body(commit: &str, content: &CheckContent) -> Value {
    let (title, summary) = content.texts();
    let note = |note: &Note| {
        json!({
            "path": note.path, "start_line": note.line, "end_line": note.line,
            "annotation_level": "warning", "title": "wirebench: costs more", "message": note.message,
        })
    };
    json!({
        "name": NAME,
        "head_sha": commit,
        "status": "completed",
        "conclusion": content.conclusion(),
        "external_id": known_by(content.marker, content.pull),
        "details_url": content.page,
        "output": {
            "title": title,
            "summary": summary,
            "annotations": content.notes.iter().map(note).collect::<Vec<_>>(),
        },
    })
}
