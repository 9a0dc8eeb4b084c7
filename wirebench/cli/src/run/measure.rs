//! Measures on this machine, and on hosts that it reaches by ssh.

use clap::ValueEnum as _;
use clap::builder::PossibleValue;

use super::args::{Args, Sampling};
use crate::flags::{Only, Pin, with_flag};
use wirebench_declare::Project;
use wirebench_declare::plan;
use wirebench_engine::session::{self, Part, Purpose, Recorded, RunSpec, SecondStage, SideRequest};
use wirebench_judge::compare;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, Series, Variant};

/// Measures the selected series and writes the record into the run's folder.
///
/// # Errors
/// When nothing can be measured. A series that fails is no error: it is in the record.
pub(crate) fn measure(project: &Project, args: &Args, purpose: Purpose) -> anyhow::Result<Recorded> {
    let sides = args.sides.sides(project, &std::env::current_dir()?)?;
    let variants = sides.iter().map(|side| side.variant);
    let (profile, rounds) = args.selection.scope(project, variants, args.rounds)?;
    let selection = args.selection.selection();
    let series = plan::series(project, profile, &selection)?;
    let own = args.shard.map(|shard| {
        let named = series.iter().map(|one| (one.scenario.name.as_str(), one.id.as_str()));
        (shard, shard.part(named))
    });
    let only = args.only;
    if only.is_none() && project.config.count.enabled && !series.iter().any(|one| one.load.is_counted()) {
        let drivers = project.config.count.drivers.join(", ");
        log::info!(
            "nothing is counted: that needs a request over one connection, a server without tiers, and a driver that [count] \
             names ({drivers}) and that --driver and the profile choose"
        );
    }
    let seed = args.seed();
    let rules = &project.config;
    session::measure(&RunSpec {
        project,
        profile: (&profile.name, profile),
        selection: &selection,
        series,
        counted: only.map(|only| only == Only::Counts),
        part: own.as_ref().map(|(shard, series)| Part {
            series,
            records_removed: shard.number == 1,
        }),
        rounds,
        seed,
        cores: args.hosts.cores(args.pin),
        server_host: args.hosts.server_host.as_ref(),
        driver_host: args.hosts.driver_host.as_ref(),
        purpose,
        out: &args.out(project),
        repeat: repeat_command(args, &sides, purpose, rounds, seed),
        sides: &sides,
        keep_raw: args.keep_raw,
        measure_identical: args.sides.measure_identical,
        lock: !args.lock.no_lock,
        budget: args.budget.unwrap_or(rules.compare.budget).0,
        second_stage: SecondStage {
            plan: &|run, left| compare::next_stage(run, rules, left, &compare::pair_costs(run)),
            lacks_pairs: &|run, series| compare::lacks_pairs(run, rules, series),
            lacks_null_pairs: &|run, series| compare::lacks_null_pairs(run, rules, series),
        },
        sampled: &|run| match args.sample_functions {
            Sampling::Worse => compare::worth_sampling(run, rules),
            Sampling::Always => compared(run),
            Sampling::Never => Vec::new(),
        },
    })
}

/// The series, by index, of which both sides were loaded.
fn compared(run: &Run) -> Vec<(usize, Metric)> {
    let has = |series: &Series, variant| series.rounds.iter().any(|round| round.variant == variant);
    let both = |series: &Series| has(series, Variant::Baseline) && has(series, Variant::Candidate);
    let all = run.series.iter().enumerate();
    all.filter(|(_, series)| both(series))
        .map(|(index, _)| (index, Metric::ServerCpu))
        .collect()
}

/// The command that repeats a run, for its record.
fn repeat_command(args: &Args, sides: &[SideRequest], purpose: Purpose, rounds: u32, seed: u64) -> String {
    let mut words = vec!["wirebench".to_owned()];
    match purpose {
        Purpose::Measure => {
            words.push("run".into());
            words.extend(sides.iter().flat_map(SideRequest::as_flags));
        }
        Purpose::SelfTest(worse) => {
            words.push("selftest".into());
            if worse.share() > 0.0 {
                words.extend(["--inject".into(), worse.to_string()]);
            }
        }
    }
    if args.sides.measure_identical && purpose == Purpose::Measure {
        words.push("--measure-identical".into());
    }
    let sampling = args.sample_functions.to_possible_value();
    let sampling = sampling.filter(|_| args.sample_functions != Sampling::default());
    words.extend(with_flag(
        "--sample-functions",
        sampling.as_ref().map(PossibleValue::get_name),
    ));
    words.extend(args.selection.as_flags());
    words.extend(with_flag("--shard", args.shard));
    words.extend(args.hosts.as_flags());
    let only = args.only.and_then(|only| only.to_possible_value());
    words.extend(with_flag("--only", only.as_ref().map(PossibleValue::get_name)));
    words.extend(args.amount_as_flags(rounds, seed));
    if args.lock.no_lock {
        words.push("--no-lock".into());
    }
    if args.pin == Pin::Off {
        words.extend(["--pin".into(), "off".into()]);
    }
    shell_words::join(words)
}
