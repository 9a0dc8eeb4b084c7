//! The specification of a run: what is measured, and how.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::measure::cores::Cores;
use crate::measure::remote::Address;
use crate::session::side_request::SideRequest;
use crate::session::stage::SecondStage;
use wirebench_declare::Project;
use wirebench_declare::percent::Percent;
use wirebench_declare::plan::{PlannedSeries, Selection};
use wirebench_declare::project::Profile;

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Purpose {
    /// To measure, and to compare when there is a baseline.
    Measure,
    /// To record rounds of equal code, or of a candidate that wastes this share of its CPU time per request.
    SelfTest(Percent),
}

impl Purpose {
    /// True if a series is needed for the purpose: a self-test needs timed series only.
    pub(super) const fn wants(self, counted: bool) -> bool {
        !(counted && matches!(self, Self::SelfTest(_)))
    }
}

/// The part of a run that one machine measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// All of it.
    Whole,
    /// One of several shards.
    Shard {
        /// The ids of its series.
        series: &'a BTreeSet<String>,
        /// Whether it also records the series that only the baseline declares, which are in no part: one shard does.
        records_removed: bool,
    },
}

impl Part<'_> {
    pub(super) fn has(self, id: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Shard { series, .. } => series.contains(id),
        }
    }

    pub(super) const fn records_removed(self) -> bool {
        match self {
            Self::Whole => true,
            Self::Shard { records_removed, .. } => records_removed,
        }
    }
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
    /// The part of the run that this machine measures.
    pub part: Part<'a>,
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
}
