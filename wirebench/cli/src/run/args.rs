//! The arguments of `wirebench run`, which other verbs that measure fill in themselves.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use super::cluster::ClusterArgs;
use crate::flags::{HostArgs, LockArgs, Only, Pin, SelectionArgs, SideArgs, with_flag};
use crate::folders::results;
use wirebench_declare::Project;
use wirebench_declare::plan::shards::Shard;
use wirebench_declare::span::Span;

/// Builds servers, measures every series, and reports; with a baseline, judges the change.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:
  wirebench run --profile quick
  wirebench run --baseline main --profile quick   the working tree against a revision
  wirebench run --baseline v1 --candidate v2
  wirebench run --baseline http='./old-server --fast' --scenario 'weather-*'
  git bisect run wirebench run --baseline v1 --bisect --driver hey   which commit since v1 is worse
  wirebench run --scenario weather-multiplexed --rounds 10 --seed 7
  wirebench run --server http --driver 'h*' --pin off --keep-raw
  wirebench run --cluster --overlay http,grpc --load-image wirebench-load:0.1.0 --load-pods 2
  wirebench run --server-host ssh://me@server.example --server http --driver hey")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) sides: SideArgs,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// Measure only the counts, or only rounds of load.
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) only: Option<Only>,
    /// Measure only the first (1/2), second (2/2), … part of the selected series: one on each of several machines. Join their runs
    /// with `wirebench merge`.
    #[arg(long, value_name = "N/COUNT")]
    pub(crate) shard: Option<Shard>,
    /// Rounds of each series and variant; without it, the profile's, or with a baseline `compare.rounds`. A second
    /// stage adds rounds. With fewer than 8 there is no second stage, and no verdict.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// With a baseline: wall time for rounds of load, such as 10m; without it, `compare.budget` of wirebench.toml.
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<Span>,
    /// Seed of the order of rounds; without it, a random one. The record keeps it.
    #[arg(long)]
    pub(crate) seed: Option<u32>,
    /// Whether server and driver get separate cores.
    #[arg(long, value_enum, default_value_t = Pin::Auto)]
    pub(crate) pin: Pin,
    /// The folder that takes the run's folder; without it, results/ in the project.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Keep every driver's raw output (hundreds of MB); without it, only that of rounds that are not good.
    #[arg(long)]
    pub(crate) keep_raw: bool,
    /// Prints the run's record as one line of JSON instead of a table, and a second line with the comparison if there is one.
    #[arg(long)]
    pub(crate) json: bool,
    /// With a baseline: whose functions are sampled with perf, in rounds of their own.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Sampling::Worse)]
    pub(crate) sample_functions: Sampling,
    /// Exit as `git bisect run` expects: 0 not worse than the baseline, 3 worse, 125 (skip this commit) can't tell or failed.
    #[arg(long, requires = "baseline")]
    pub(crate) bisect: bool,
    #[command(flatten)]
    pub(crate) cluster: Box<ClusterArgs>,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
}

/// The series whose functions are sampled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sampling {
    /// Series whose CPU time got worse, or may have, and no count names the function; and series that got slower without more CPU
    /// time, to name the call in which they wait.
    #[default]
    Worse,
    /// Every compared series.
    Always,
    /// None.
    Never,
}

impl Args {
    /// The folder that takes the run's folder.
    pub(super) fn out(&self, project: &Project) -> PathBuf {
        self.out.clone().unwrap_or_else(|| results(&project.folder))
    }

    /// The seed; a new one, by the clock, if none is given.
    pub(super) fn seed(&self) -> u64 {
        let new_seed = || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            now.subsec_nanos() ^ u32::try_from(now.as_secs() & 0xffff_ffff).unwrap_or(0)
        };
        u64::from(self.seed.unwrap_or_else(new_seed))
    }

    /// Rounds, seed and budget as flags, for the command that repeats a run.
    pub(super) fn amount_as_flags(&self, rounds: u32, seed: u64) -> Vec<String> {
        let budget = with_flag("--budget", self.budget.map(Span::as_flag));
        with_flag("--rounds", [rounds])
            .chain(with_flag("--seed", [seed]))
            .chain(budget)
            .collect()
    }
}
