//! The specification of a run: what is measured, and how.
//!
//! The code of one variant as requested on the command line: a folder, a revision, or prebuilt commands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::measure::cores::Cores;
use crate::measure::remote::Address;
use crate::session::stage::SecondStage;
use wirebench_declare::Project;
use wirebench_declare::percent::Percent;
use wirebench_declare::plan::{PlannedSeries, Selection};
use wirebench_declare::project::Profile;
use wirebench_record::run::{Run, Variant};

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Purpose {
    /// To measure, and to compare when there is a baseline.
    Measure,
    /// To record rounds of equal code, or of a candidate that wastes this share of its CPU time per request.
    SelfTest(Percent),
}

/// The part of a run that one of several machines measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// The ids of its series.
    pub series: &'a BTreeSet<String>,
    /// Whether it also records the series that only the baseline declares, which are in no part: one shard does.
    pub records_removed: bool,
}

/// What a run measures, and how.
pub struct RunSpec<'a> {
    /// The project, whose folder is the candidate unless `sides` says otherwise.
    pub project: &'a Project,
    /// The sides: one candidate, and baseline and reference if there are any.
    pub sides: &'a [SideRequest],
    /// The profile and its name.
    pub profile: (&'a str, &'a Profile),
    /// Which series of the profile are measured; also applied to the baseline's declarations.
    pub selection: &'a Selection,
    /// The candidate's series.
    pub series: Vec<PlannedSeries<'a>>,
    /// Only counted series (true), or only timed ones (false); `None` for both.
    pub counted: Option<bool>,
    /// The part of the run that this machine measures; `None` for all of it.
    pub part: Option<Part<'a>>,
    /// Rounds of each series and variant in the first stage.
    pub rounds: u32,
    /// Seed of the order of rounds.
    pub seed: u64,
    /// The cores of server and driver.
    pub cores: Cores,
    /// The host on which the servers run; `None` for this machine. Series that do not [`fit`](crate::measure::remote::fits) are left out.
    pub server_host: Option<&'a Address>,
    /// The host on which the load generators run; `None` for this machine. The same series are left out.
    pub driver_host: Option<&'a Address>,
    /// What the run is for.
    pub purpose: Purpose,
    /// The folder that takes the run's folder.
    pub out: &'a Path,
    /// The command that repeats the run.
    pub repeat: String,
    /// Whether raw output of good rounds is kept too.
    pub keep_raw: bool,
    /// Whether servers that are the same program on both sides are measured too.
    pub measure_identical: bool,
    /// Whether to wait until no other measurement runs on this machine; see [`crate::measure::lock`].
    pub lock: bool,
    /// Wall time for rounds of load where two variants are compared.
    pub budget: Duration,
    /// Plans the second stage.
    pub second_stage: SecondStage<'a>,
    /// The series, by index, whose functions are sampled after the last stage.
    pub sampled: &'a dyn Fn(&Run) -> Vec<usize>,
}

/// A requested side, which is not checked out or built yet.
#[derive(Debug)]
pub struct SideRequest {
    /// Which variant.
    pub variant: Variant,
    /// What the user wrote; empty for the project's folder.
    pub words: Vec<String>,
    /// Where its code is.
    pub source: CodeSource,
}

/// Where the code of a side is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeSource {
    /// The project's folder as it is.
    Project,
    /// Another folder that holds a project.
    Folder(PathBuf),
    /// A commit of the project's repository, 40 hex digits.
    Revision(String),
    /// Programs by server name; other servers are the project's own.
    Commands(BTreeMap<String, Vec<String>>),
}

impl SideRequest {
    /// The flags that select the same code again, later and from the project's folder.
    pub fn as_flags(&self) -> Vec<String> {
        let flag = format!("--{}", self.variant.name());
        let values = match &self.source {
            CodeSource::Project if self.words.is_empty() => Vec::new(),
            CodeSource::Project => vec![".".to_owned()],
            CodeSource::Folder(folder) => vec![folder.to_string_lossy().into_owned()],
            CodeSource::Revision(commit) => vec![commit[..12].to_owned()],
            CodeSource::Commands(commands) => commands
                .iter()
                .map(|(server, command)| format!("{server}={}", shell_words::join(command)))
                .collect(),
        };
        values.into_iter().flat_map(|value| [flag.clone(), value]).collect()
    }
}
