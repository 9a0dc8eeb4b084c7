//! Shards of a run: reading their plan, and the part of it that this machine measures.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::outcome::UsageError;
use wirebench_declare::Project;
use wirebench_declare::plan::{self, PlannedSeries, Selection};
use wirebench_declare::project::Profile;
use wirebench_engine::session::Part;
use wirebench_record::shards::{SCHEMA, ShardPlan};

/// The flags for the shard that this machine measures.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ShardArgs {
    /// Measure only one shard of this plan, which `wirebench plan` made.
    #[arg(long, value_name = "FILE", requires = "shard")]
    plan: Option<PathBuf>,
    /// The number of the shard, from 1.
    #[arg(long, value_name = "N", requires = "plan")]
    shard: Option<u32>,
}

/// One shard of a plan.
#[derive(Debug)]
pub(crate) struct OwnShard {
    number: u32,
    series: BTreeSet<String>,
}

impl ShardArgs {
    /// True if --plan and --shard are given.
    pub(crate) const fn is_given(&self) -> bool {
        self.plan.is_some()
    }

    /// The requested shard; `None` if this machine measures everything. `series` are those that flags and profile
    /// select.
    ///
    /// # Errors
    /// When the plan cannot be read, has no such shard, or does not fit the current declarations.
    pub(crate) fn own_shard(
        &self,
        project: &Project,
        (name, profile): (&str, &Profile),
        series: &[PlannedSeries],
    ) -> anyhow::Result<Option<OwnShard>> {
        let (Some(file), Some(number)) = (&self.plan, self.shard) else {
            return Ok(None);
        };
        let plan = read(file)?;
        let refused = |why: String| {
            let again = plan_command(file, &plan);
            UsageError(format!("{}: {why}; make it anew with: {again}", file.display()))
        };
        if plan.profile != name {
            let planned = &plan.profile;
            let why = format!("is of profile {planned}, this run is of {name}: give --profile {planned}, or");
            return Err(UsageError(format!("{}: {why} {}", file.display(), plan_command(file, &plan))).into());
        }
        let today = plan::series(project, profile, &Selection::default())?;
        if let Some(why) = describe_difference(&plan, today.iter().chain(series)) {
            return Err(refused(why).into());
        }
        let shard = plan.shards.iter().find(|shard| shard.number == number);
        let shard = shard.ok_or_else(|| {
            let count = plan.shards.len();
            UsageError(format!("{}: has no shard {number}, only 1 to {count}", file.display()))
        })?;
        Ok(Some(OwnShard {
            number,
            series: shard.series.iter().cloned().collect(),
        }))
    }

    /// The flags again, for the command that repeats a run.
    pub(crate) fn as_flags(&self) -> Vec<String> {
        match (&self.plan, self.shard) {
            (Some(file), Some(number)) => vec![
                "--plan".into(),
                file.to_string_lossy().into_owned(),
                "--shard".into(),
                number.to_string(),
            ],
            _ => Vec::new(),
        }
    }
}

impl OwnShard {
    /// Which part of the run it is.
    pub(crate) const fn part(&self) -> Part<'_> {
        Part::Shard {
            series: &self.series,
            records_removed: self.number == 1,
        }
    }
}

/// How a plan differs from the declared series, as text; `None` if it does not.
pub(crate) fn describe_difference<'a>(
    plan: &ShardPlan,
    series: impl Iterator<Item = &'a PlannedSeries<'a>>,
) -> Option<String> {
    let there: BTreeSet<&str> = series.map(|one| one.id.as_str()).collect();
    let planned: BTreeSet<&str> = plan.series().collect();
    let list = |one: &BTreeSet<&str>, other: &BTreeSet<&str>| {
        let only: Vec<&str> = one.difference(other).copied().collect();
        (!only.is_empty()).then(|| only.join(", "))
    };
    let lacks = list(&there, &planned).map(|ids| format!("lacks {ids}"));
    let has = list(&planned, &there).map(|ids| format!("has {ids}, which there is no more"));
    match (lacks, has) {
        (Some(lacks), Some(has)) => Some(format!("{lacks}, and {has}")),
        (lacks, has) => lacks.or(has),
    }
}

/// The command that writes the plan again.
pub(crate) fn plan_command(file: &Path, plan: &ShardPlan) -> String {
    let words = [
        "wirebench",
        "plan",
        "--shards",
        &plan.shards.len().max(1).to_string(),
        "--profile",
        &plan.profile,
        "--out",
        &file.to_string_lossy(),
    ];
    shell_words::join(words)
}

/// Reads a plan.
///
/// # Errors
/// When it cannot be read, is no plan, does not number its shards from 1, or has a series twice.
pub(crate) fn read(file: &Path) -> Result<ShardPlan, UsageError> {
    let wrong = |why: String| UsageError(format!("{}: {why}", file.display()));
    let make = "make one with: wirebench plan --shards 2 --out FILE";
    let text = fs::read(file).map_err(|error| wrong(format!("cannot be read: {error}; {make}")))?;
    let plan: ShardPlan =
        serde_json::from_slice(&text).map_err(|error| wrong(format!("is no {SCHEMA}: {error}; {make}")))?;
    if plan.schema != SCHEMA {
        return Err(wrong(format!("has schema {}, expected {SCHEMA}", plan.schema)));
    }
    if !plan
        .shards
        .iter()
        .map(|shard| shard.number)
        .eq((1..).take(plan.shards.len()))
    {
        return Err(wrong(format!("its shards are not numbered 1, 2, …; {make}")));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = plan.series().find(|id| !seen.insert(*id)) {
        return Err(wrong(format!("has {twice} twice; {make}")));
    }
    Ok(plan)
}
