//! Joins the runs of several machines, each with different series of the same code, into one run. Pure.

use std::collections::BTreeMap;

use crate::measure::digest;
use crate::session::recorder::of_run;
use wirebench_declare::plan::shards::Shard;
use wirebench_record::run::{self, Run, RunStatus, Series, Spent, Stage, ToolVersion, Variant};

/// The flag of `wirebench run` by which each machine measures its part; a run's command has it.
const SHARD_FLAG: &str = "--shard";

/// Joins runs. Their common fields must be equal, and each series must be in exactly one of them.
///
/// # Errors
/// When they are not parts of one measurement; the message names the difference and the run.
pub fn join_shards<'a>(runs: impl Iterator<Item = &'a Run>) -> Result<Run, String> {
    let runs: Vec<&Run> = runs.collect();
    let Some(first) = runs.first() else {
        return Err("no shards were given".into());
    };
    for run in &runs {
        compatible(first, run)?;
    }
    let mut series: Vec<Series> = Vec::new();
    for run in &runs {
        for one in &run.series {
            fits(&series, one).map_err(|why| format!("run {}: {why}", run.id))?;
            series.push(one.clone());
        }
    }
    check_complete(&runs)?;
    series.sort_by(|one, other| order(one).cmp(&order(other)));
    let (status, reason) = ended(&runs, &series);
    let started_at = runs.iter().map(|run| run.started_at.clone()).min();
    let finished_at = runs.iter().map(|run| run.finished_at.clone()).max();
    Ok(Run {
        id: id(&runs),
        status,
        reason,
        started_at: started_at.unwrap_or_default(),
        finished_at: finished_at.unwrap_or_default(),
        spent: spent(&runs),
        repeat: on_one_machine(&first.repeat).0,
        stages: stages(&runs, &series),
        shards: runs.iter().map(|run| shard(run)).collect(),
        tools: tools(&runs),
        series,
        ..(*first).clone()
    })
}

/// Checks that a run belongs to the same measurement as the first.
fn compatible(first: &Run, run: &Run) -> Result<(), String> {
    let revision = |run: &Run, variant| {
        run.revision(variant).map_or("none".to_owned(), |one| {
            let commit = one.commit.as_deref().or(one.name.as_deref()).unwrap_or("unknown");
            let modified = if one.modified == Some(true) { ", modified" } else { "" };
            format!("{commit}{modified}")
        })
    };
    let facts = |run: &Run| {
        let revisions = [Variant::Baseline, Variant::Candidate, Variant::Reference];
        let revisions = revisions.map(|variant| (variant.name(), revision(run, variant)));
        let rest = [
            ("profile", run.profile.clone()),
            ("number of rounds", run.rounds_planned.to_string()),
            ("schema", run.schema.clone()),
            ("accepted.toml", format!("{} new entries", run.accepted.len())),
        ];
        revisions.into_iter().chain(rest)
    };
    for ((what, one), (_, other)) in facts(first).zip(facts(run)) {
        if one != other {
            return Err(format!(
                "the shards are not of one measurement: {what} is {one} in run {} and {other} in run {}",
                first.id, run.id
            ));
        }
    }
    if first.accepted != run.accepted {
        return Err(format!(
            "run {}: accepted.toml has other entries than in run {}",
            run.id, first.id
        ));
    }
    if !run.shards.is_empty() {
        return Err(format!(
            "run {}: is joined already; give the shards that it was made of",
            run.id
        ));
    }
    Ok(())
}

/// Checks that a series can be added to those that are joined already.
fn fits(known: &[Series], series: &Series) -> Result<(), String> {
    if known.iter().any(|one| one.id == series.id) {
        return Err(format!(
            "another shard has {} too; each series is measured once",
            series.id
        ));
    }
    let other = known
        .iter()
        .filter(|one| one.scenario == series.scenario && one.missing_in == series.missing_in)
        .find(|one| one.load.as_declared() != series.load.as_declared());
    other.map_or(Ok(()), |other| {
        Err(format!(
            "{} and {} offer different loads: they are of different declarations",
            series.id, other.id
        ))
    })
}

/// Checks that no machine is left out, if the runs were made with --shard.
fn check_complete(runs: &[&Run]) -> Result<(), String> {
    let given: Vec<Shard> = runs.iter().filter_map(|run| on_one_machine(&run.repeat).1).collect();
    let Some(count) = given.first().map(|shard| shard.count) else {
        return Ok(());
    };
    let missing = (1..=count)
        .map(|number| Shard { number, count })
        .find(|shard| !given.contains(shard));
    missing.map_or(Ok(()), |shard| {
        Err(format!("no run is of shard {shard}; give the folder of every shard"))
    })
}

/// Sorts series as in an undivided run: timed, counted, then those that only the baseline has.
fn order(series: &Series) -> (bool, bool, &str, &str, &str) {
    (
        series.missing_in == Some(Variant::Candidate),
        series.is_counted(),
        &series.scenario,
        &series.server,
        &series.driver,
    )
}

/// The id of the joined run: the earliest start, and a hash over all ids. The same shards always give the same id.
fn id(runs: &[&Run]) -> String {
    let mut ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    ids.sort_unstable();
    let start = ids.first().and_then(|id| id.split('-').next()).unwrap_or_default();
    format!("{start}-{}", digest::first_bytes(&ids.join("\n"), 3))
}

/// Incomplete if any shard is, otherwise derived from the series.
fn ended(runs: &[&Run], series: &[Series]) -> (RunStatus, Option<String>) {
    let broken = (1..).zip(runs).find(|(_, run)| run.status == RunStatus::Incomplete);
    match broken {
        Some((number, run)) => {
            let why = run.reason.as_deref().unwrap_or("no reason recorded");
            (
                RunStatus::Incomplete,
                Some(format!("shard {number} of {}: {why}", runs.len())),
            )
        }
        None => of_run(series, false),
    }
}

/// Time of all machines together.
fn spent(runs: &[&Run]) -> Spent {
    let sum = |of: fn(&Spent) -> u64| runs.iter().map(|run| of(&run.spent)).sum();
    Spent {
        build_ns: sum(|spent| spent.build_ns),
        measure_ns: sum(|spent| spent.measure_ns),
        calibrate_ns: sum(|spent| spent.calibrate_ns),
        load_ns: sum(|spent| spent.load_ns),
        start_ns: sum(|spent| spent.start_ns),
        normalise_ns: sum(|spent| spent.normalise_ns),
        count_ns: sum(|spent| spent.count_ns),
        sample_ns: sum(|spent| spent.sample_ns),
    }
}

/// Joins stages that have the same number and the same rounds; second stages differ in rounds between machines.
fn stages(runs: &[&Run], series: &[Series]) -> Vec<Stage> {
    let mut found: Vec<Stage> = Vec::new();
    for stage in runs.iter().flat_map(|run| &run.stages) {
        match found
            .iter_mut()
            .find(|one| (one.number, one.rounds) == (stage.number, stage.rounds))
        {
            None => found.push(stage.clone()),
            Some(one) => {
                one.series.extend(stage.series.iter().cloned());
                if !one.why.split("; ").any(|why| why == stage.why) {
                    one.why = format!("{}; {}", one.why, stage.why);
                }
            }
        }
    }
    let places: BTreeMap<&str, usize> = series.iter().map(|one| one.id.as_str()).zip(0..).collect();
    for stage in &mut found {
        stage.series.sort_by_key(|id| places.get(id.as_str()));
    }
    found.sort_by_key(|stage| stage.number);
    found
}

/// All tools in all their versions.
fn tools(runs: &[&Run]) -> Vec<ToolVersion> {
    let mut found: Vec<ToolVersion> = Vec::new();
    for tool in runs.iter().flat_map(|run| &run.tools) {
        if !found.contains(tool) {
            found.push(tool.clone());
        }
    }
    found
}

fn shard(run: &Run) -> run::Shard {
    run::Shard {
        run: run.id.clone(),
        status: run.status,
        reason: run.reason.clone(),
        started_at: run.started_at.clone(),
        finished_at: run.finished_at.clone(),
        spent: run.spent,
        seed: run.seed,
        host: run.host.clone(),
        pinning: run.pinning.clone(),
        tools: run.tools.clone(),
        series: run.series.iter().map(|series| series.id.clone()).collect(),
    }
}

/// A run's command without its --shard, and the shard that it names.
fn on_one_machine(repeat: &str) -> (String, Option<Shard>) {
    let Ok(mut words) = shell_words::split(repeat) else {
        return (repeat.to_owned(), None);
    };
    let flag = words.iter().position(|word| word == SHARD_FLAG);
    let removed: Vec<String> = flag.map_or_else(Vec::new, |at| words.drain(at..words.len().min(at + 2)).collect());
    let shard = removed.get(1).and_then(|shard| shard.parse().ok());
    (shell_words::join(words), shard)
}
