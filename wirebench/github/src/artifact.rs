//! The one artifact of a run: found by name, within bounds, and read into memory only.

use serde::Deserialize;

use crate::api::Api;
use crate::event::CheckedRun;
use crate::{Refusal, refuse};

/// The largest artifact that is read, bytes.
pub const LARGEST: u64 = 256 * 1024;

/// An artifact as the API lists it.
#[derive(Debug, Clone, Deserialize)]
pub struct Artifact {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// What is downloaded, bytes.
    pub size_in_bytes: u64,
    /// Whether it is gone.
    pub expired: bool,
    /// When it was made, RFC 3339, UTC.
    pub created_at: String,
    /// The run that made it.
    pub workflow_run: Option<Maker>,
}

/// The run that made an artifact.
#[derive(Debug, Clone, Deserialize)]
pub struct Maker {
    /// Its number.
    pub id: u64,
    /// The commit it is about.
    pub head_sha: String,
}

/// Every artifact of a run.
///
/// # Errors
/// When the API does not say.
pub fn all(api: &Api, run: u64) -> Result<Vec<Artifact>, Refusal> {
    Ok(api.list(&format!("/actions/runs/{run}/artifacts"), Some("artifacts"))?)
}

/// The one artifact of that name which the run's newest attempt made; `None` if there is none although the run succeeded.
///
/// # Errors
/// When the run was cut off; when there are several, or none of a run that failed; or it has expired, is too large, or is not
/// known to be of this run and commit.
pub fn choose<'a>(artifacts: &'a [Artifact], run: &CheckedRun, name: &str) -> Result<Option<&'a Artifact>, Refusal> {
    let (id, conclusion) = (run.id, &run.conclusion);
    // Its job was skipped: the pull request does not have the label that asks for it.
    if conclusion == "skipped" {
        return Ok(None);
    }
    // A run that fails its gate has a whole result; one that was cancelled or timed out may have a part.
    if !["success", "failure"].contains(&conclusion.as_str()) {
        refuse!(
            "run {id} ended as {conclusion}: only results of runs that end as success or failure are read; run it again"
        );
    }
    // The artifact of an earlier attempt may still be listed. Both times have one format, so they can be compared as text.
    let new = |artifact: &&Artifact| artifact.name == name && artifact.created_at >= run.attempt_started_at;
    let found: Vec<&Artifact> = artifacts.iter().filter(new).collect();
    let many = found.len();
    let artifact = match found[..] {
        [artifact] => artifact,
        [] if conclusion == "success" => return Ok(None),
        _ => refuse!(
            "run {id} ({conclusion}): expected one artifact {name} of its newest attempt, found {many}; see the run's own log"
        ),
    };
    if artifact.expired {
        refuse!("run {id}: artifact {name} has expired; run the benchmark again");
    }
    if artifact.size_in_bytes > LARGEST {
        let size = artifact.size_in_bytes;
        refuse!("run {id}: artifact {name} has {size} bytes, more than the {LARGEST} that a comparison may have");
    }
    let maker = artifact.workflow_run.as_ref();
    if maker.is_none_or(|maker| maker.id != id || maker.head_sha != run.head_sha) {
        refuse!("run {id}: artifact {name} is not known to be of this run and its commit");
    }
    Ok(Some(artifact))
}

/// The artifact's bytes, a zip.
///
/// # Errors
/// When it cannot be downloaded, or is larger than GitHub announced.
pub fn download(api: &Api, artifact: &Artifact) -> Result<Vec<u8>, Refusal> {
    let address = api.redirect(&format!("/actions/artifacts/{}/zip", artifact.id))?;
    let bytes = api.download(&address, LARGEST)?;
    if bytes.len() as u64 > LARGEST {
        refuse!("the artifact is larger than the {LARGEST} bytes that a comparison may have, and larger than was said");
    }
    Ok(bytes)
}
