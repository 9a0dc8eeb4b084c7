//! Finds and admits the comparison of a pull request's own run, in the order of docs/SECURITY.md. Writes nothing.

use crate::admit::{self, ComparedCommits};
use crate::api::Api;
use crate::event::{self, CheckedRun, Repository, Run};
use crate::pull::{self, Pull, Resolved};
use crate::unmeasured::Unmeasured;
use crate::{Refusal, archive, artifact, names, refuse, strict};
use wirebench_record::comparison::Comparison;

/// The one file of the artifact.
const FILE: &str = "comparison.json";

/// The state of the pull request that a run measured.
#[derive(Debug)]
pub enum Stage {
    /// Its head is the measured commit.
    Current(Box<Admitted>),
    /// Its head has moved on from the measured commit, so that nothing may be written.
    Stale {
        /// The number of the pull request.
        pull: u64,
        /// The measured commit.
        head: String,
    },
    /// Its head is the measured commit, and there is no comparison to be shown.
    Unmeasured {
        /// The run.
        run: CheckedRun,
        /// The number of the pull request.
        pull: u64,
        /// Why there is none.
        why: Unmeasured,
    },
}

/// An admitted comparison, with the run and the pull request that it belongs to.
#[derive(Debug)]
pub struct Admitted {
    /// The run.
    pub run: CheckedRun,
    /// The pull request.
    pub pull: Pull,
    /// The comparison.
    pub comparison: Comparison,
}

/// Checks a run of `workflow`, finds its pull request, and admits the comparison in its artifact of that name.
///
/// # Errors
/// At the first check of run and pull request that fails: nothing may be written then.
pub fn admitted(api: &Api, run: Run, workflow: &str, artifact: &str) -> Result<Stage, Refusal> {
    let repository: Repository = api.get("")?;
    let run = event::check(run, workflow, repository.id)?;
    if let Some(pull) = run.queued {
        let why = Unmeasured::MergeGroup;
        return Ok(Stage::Unmeasured { run, pull, why });
    }
    let pull = match pull::resolve(&run, &pull::candidates(api, &run)?)? {
        Resolved::Pull(pull) => *pull,
        Resolved::Stale(pull) => {
            return Ok(Stage::Stale {
                pull,
                head: run.head_sha,
            });
        }
    };
    if !names::is_commit(&pull.base.sha) {
        refuse!("pull request {}: its base names no commit", pull.number);
    }
    let why = if run.conclusion == "action_required" {
        Unmeasured::WaitsForApproval
    } else {
        match comparison(api, &run, &pull, artifact) {
            Ok(Some(comparison)) => return Ok(Stage::Current(Box::new(Admitted { run, pull, comparison }))),
            Ok(None) => Unmeasured::NothingToMeasure,
            Err(why) => Unmeasured::Refused(why),
        }
    };
    let pull = pull.number;
    Ok(Stage::Unmeasured { run, pull, why })
}

/// Admits the comparison of a run; `None` if it succeeded and left none.
fn comparison(api: &Api, run: &CheckedRun, pull: &Pull, artifact: &str) -> Result<Option<Comparison>, Refusal> {
    let artifacts = artifact::all(api, run.id)?;
    let Some(artifact) = artifact::choose(&artifacts, run, artifact)? else {
        return Ok(None);
    };
    let zip = artifact::download(api, artifact)?;
    let value = strict::parse(&archive::only_file(&zip, FILE)?)?;
    let of = ComparedCommits {
        head: &run.head_sha,
        base: &pull.base.sha,
    };
    admit::admit(value, &of).map(Some)
}

impl Admitted {
    /// True if the head of the pull request is still the measured commit: it may have changed while the artifact was read.
    ///
    /// # Errors
    /// When the API does not say.
    pub fn is_current(&self, api: &Api) -> Result<bool, Refusal> {
        let now: Pull = api.get(&format!("/pulls/{}", self.pull.number))?;
        Ok(now.head.sha == self.run.head_sha)
    }
}
