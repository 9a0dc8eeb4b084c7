//! `wirebench plan`: distributes the series of a run over several machines.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::flags::selection::{Scope, SelectionArgs};
use crate::flags::shards;
use crate::folders::Root;
use crate::outcome::{Outcome, UsageError};
use crate::runs;
use wirebench_declare::Project;
use wirebench_declare::plan;
use wirebench_declare::plan::expected::{Experience, Repeats};
use wirebench_declare::plan::shards::{Item, split};
use wirebench_record::run::Variant;
use wirebench_record::shards::{SCHEMA, ShardPlan};

/// Splits the series of a run over several machines.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench plan --shards 2                    which machine would measure what, and for how long
  wirebench plan --shards 2 --baseline-expected --out .github/shards.json
  wirebench plan --check .github/shards.json   exit code 1 if the declared series have changed

Then run on each machine: wirebench run --plan FILE --shard N …; and on one of them: wirebench merge DIR…
The duration of a series is estimated from a stored run (--from). Without one, 20,000 responses/s, 50 ms for a start and \
20 s for counting a variant are assumed. Series that are compared with each other stay on one machine if no machine has to \
wait for that.")]
pub(crate) struct Args {
    /// The number of machines.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256), required_unless_present = "check")]
    shards: Option<u32>,
    /// Profile from wirebench.toml; without it, its default_profile, or with a baseline its compare.profile.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Plan for runs with a baseline, with the rounds of `[compare]`.
    #[arg(long)]
    baseline_expected: bool,
    /// A stored run from which durations are estimated: its folder or its run.json.
    #[arg(long, value_name = "RUN")]
    from: Option<PathBuf>,
    /// Write the plan to this file too, as JSON.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write no plan; only check that this one has exactly the series that are declared now.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["shards", "out", "from"])]
    check: Option<PathBuf>,
}

pub(crate) fn execute(root: &Root, args: &Args) -> anyhow::Result<Outcome> {
    let project = &root.project()?;
    if let Some(file) = &args.check {
        return check(project, file);
    }
    let selection = SelectionArgs::whole(args.profile.clone());
    let variants = args.baseline_expected.then_some(Variant::Baseline).into_iter();
    let Scope { name, profile, rounds } = selection.scope(project, variants, None)?;
    let series = plan::series(project, profile, &selection.selection())?;
    let shards = args
        .shards
        .ok_or_else(|| UsageError("--shards N: how many machines measure?".into()))?;
    if shards as usize > series.len() {
        let message = format!(
            "--shards {shards}: there are only {} series in profile {name}; give at most that many",
            series.len()
        );
        return Err(UsageError(message).into());
    }
    let known = match &args.from {
        Some(run) => Experience::of(&runs::read_at(&project.folder, Some(run))?),
        None => Experience::default(),
    };
    let (timed, counted) = match args.baseline_expected {
        true => (2 + u32::from(project.config.compare.reference.is_some()), 2),
        false => (1, 1),
    };
    let repeats = Repeats { rounds, timed, counted };
    let items: Vec<Item> = series
        .iter()
        .map(|one| Item {
            id: &one.id,
            scenario: &one.scenario.name,
            driver: &one.driver.name,
            expected_ns: known.expected_ns(&one.id, &one.load, repeats),
        })
        .collect();
    let plan = ShardPlan {
        schema: SCHEMA.into(),
        profile: name.to_owned(),
        shards: split(&items, shards),
    };
    show(&plan);
    if let Some(file) = &args.out {
        let text = serde_json::to_string_pretty(&plan)? + "\n";
        fs::write(file, text).with_context(|| format!("{}: cannot be written", file.display()))?;
        log::info!("plan  {}", file.display());
    }
    Ok(Outcome::Done)
}

fn show(plan: &ShardPlan) {
    for shard in &plan.shards {
        let seconds = shard.expected_ns.div_ceil(1_000_000_000);
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        println!(
            "shard {}: about {minutes}:{seconds:02} of measuring, {} series",
            shard.number,
            shard.series.len()
        );
        for id in &shard.series {
            println!("  {id}");
        }
    }
}

/// Checks a plan against the current declarations.
fn check(project: &Project, file: &Path) -> anyhow::Result<Outcome> {
    let plan = shards::read(file)?;
    let again = shards::plan_command(file, &plan);
    let name = plan.profile.clone();
    let Some(profile) = project.config.profiles.get(&name) else {
        println!(
            "{}: profile {name} is no more in wirebench.toml; make it anew with: {again}",
            file.display()
        );
        return Ok(Outcome::Failed);
    };
    let selection = SelectionArgs::whole(Some(name)).selection();
    let series = plan::series(project, profile, &selection)?;
    if let Some(why) = shards::describe_difference(&plan, series.iter()) {
        println!("{}: {why}; make it anew with: {again}", file.display());
        return Ok(Outcome::Failed);
    }
    println!(
        "{}: every one of {} series, in {} shards",
        file.display(),
        series.len(),
        plan.shards.len()
    );
    Ok(Outcome::Done)
}
