//! A run without a comparison that can be shown: what its check says, and which jobs of it failed.
//!
//! Names of jobs are the pull request's own text: only those that wirebench's own workflows use are repeated.

use serde::Deserialize;

use crate::Refusal;
use crate::api::Api;
use crate::check::Conclusion;
use crate::event::CheckedRun;
use crate::names::has_word;

/// Jobs that are named in a check, at most.
const JOBS: usize = 5;
/// The words that names of jobs in wirebench's own workflows, and in those that `init` writes, are made of.
const WORDS: &str = "bench changes judge measure ubuntu-24.04 ubuntu-24.04-arm /";

/// Why there is no comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmeasured {
    /// The run ended well and left none: no file that is measured changed, or there was nothing to compare with.
    NothingToMeasure,
    /// Somebody has to approve the run first.
    WaitsForApproval,
    /// A commit of a merge queue, whose pull request was measured.
    MergeGroup,
    /// The run failed, or what it left was refused.
    Refused(Refusal),
}

/// A job of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Job {
    id: u64,
    name: String,
    conclusion: Option<String>,
    #[serde(default)]
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Step {
    number: u64,
    conclusion: Option<String>,
}

impl Unmeasured {
    /// What the check says: its conclusion, which is never success because nobody judged anything, one line, and the reason.
    pub fn told(&self, pull: u64) -> (Conclusion, &'static str, String) {
        let (title, why) = match self {
            Self::NothingToMeasure => (
                "– Not measured: nothing to compare",
                "The pull request's own run ended well and left no comparison: no file that is measured changed, or there is no \
                 baseline."
                    .into(),
            ),
            Self::WaitsForApproval => (
                "– Not measured yet: the run waits for approval",
                "Somebody who may write to the repository has to approve the run.".into(),
            ),
            Self::MergeGroup => (
                "– Not measured again in the merge queue",
                format!("Pull request {pull} was measured at its own head; its check has the result."),
            ),
            // Foreign text in it is harmless in a log; here it is text, too.
            Self::Refused(why) => {
                let why = format!("`{}`", why.to_string().replace('`', "'"));
                return (Conclusion::Failure, "✗ Not measured", why);
            }
        };
        (Conclusion::Neutral, title, why)
    }

    /// A few lines of Markdown for the check; `page` is that of the run.
    pub fn summary(&self, pull: u64, page: &str, jobs: &[Job]) -> String {
        let (_, _, why) = self.told(pull);
        let failed = jobs.iter().filter(|job| is_failure(job.conclusion.as_deref()));
        let failed: String = failed.take(JOBS).map(|job| format!("- {}\n", job.line(page))).collect();
        let jobs = if failed.is_empty() {
            String::new()
        } else {
            format!("Jobs that failed:\n\n{failed}\n")
        };
        format!("{why}\n\n{jobs}See [the run]({page}).\n")
    }
}

impl Job {
    /// `[measure 1/2](…), in step 4`.
    fn line(&self, page: &str) -> String {
        let shard = |word: &str| {
            let parts = word.split_once('/');
            parts.is_some_and(|(one, other)| [one, other].iter().all(|part| matches!(part.parse(), Ok(0_u8..))))
        };
        let is_ours = self.name.len() <= 40 && self.name.split(' ').all(|word| has_word(WORDS, word) || shard(word));
        let name = if is_ours { &self.name } else { "another job" };
        let step = self.steps.iter().find(|step| is_failure(step.conclusion.as_deref()));
        let step = step.map_or_else(String::new, |step| format!(", in step {}", step.number));
        format!("[{name}]({page}/job/{}){step}", self.id)
    }
}

fn is_failure(conclusion: Option<&str>) -> bool {
    matches!(
        conclusion,
        Some("failure" | "timed_out" | "cancelled" | "startup_failure")
    )
}

/// The jobs of a run's newest attempt; none if the API does not list them, because the check must be written all the same.
pub fn jobs(api: &Api, run: &CheckedRun) -> Vec<Job> {
    let path = format!("/actions/runs/{}/jobs?filter=latest", run.id);
    api.list(&path, Some("jobs")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, conclusion: &str, steps: &[&str]) -> Job {
        let steps = steps.iter().zip(1..);
        Job {
            id: 9,
            name: name.into(),
            conclusion: Some(conclusion.into()),
            steps: steps
                .map(|(conclusion, number)| Step {
                    number,
                    conclusion: Some((*conclusion).into()),
                })
                .collect(),
        }
    }

    #[test]
    fn a_check_without_a_comparison_says_which_job_failed_in_which_step() {
        let refused = Unmeasured::Refused(Refusal::new("run 7 (failure): expected one `artifact`"));
        let jobs = [
            job("measure 1/2", "failure", &["success", "failure"]),
            job("measure 2/2", "success", &[]),
        ];
        let text = refused.summary(7, "https://h/runs/7", &jobs);
        assert!(
            text.starts_with("`run 7 (failure): expected one 'artifact'`\n"),
            "{text}"
        );
        assert!(
            text.contains("- [measure 1/2](https://h/runs/7/job/9), in step 2\n"),
            "{text}"
        );
        assert!(!text.contains("2/2"), "{text}");
    }

    #[test]
    fn a_name_that_could_be_a_sentence_or_a_link_is_not_repeated() {
        for name in [
            "Your token leaked",
            "measure](https://evil.example)",
            "measure evil",
            "judge 1/2/3",
            "",
            "measure  1/2",
        ] {
            let line = job(name, "failure", &[]).line("p");
            assert_eq!(line, "[another job](p/job/9)", "{name}");
        }
        for name in [
            "measure",
            "bench / measure",
            "judge",
            "measure 12/12",
            "measure / measure ubuntu-24.04-arm",
        ] {
            assert!(
                job(name, "failure", &[]).line("p").starts_with(&format!("[{name}]")),
                "{name}"
            );
        }
    }
}
