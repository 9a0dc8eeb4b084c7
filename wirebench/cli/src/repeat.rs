//! The command that repeats a run, as its record has it.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::run::{Args, Pin};
use wirebench_engine::session::{Purpose, SideRequest};

impl Args {
    /// Rounds, seed and budget as flags, for the command that repeats a run.
    pub(super) fn amount_as_flags(&self, rounds: u32, seed: u64) -> Vec<String> {
        let mut words = vec!["--rounds".into(), rounds.to_string(), "--seed".into(), seed.to_string()];
        if let Some(budget) = self.budget {
            words.extend(["--budget".into(), budget.as_flag()]);
        }
        words
    }
}

/// The command of a run on this machine.
pub(super) fn command(args: &Args, asked: &[SideRequest], purpose: Purpose, rounds: u32, seed: u64) -> String {
    let mut words = vec!["wirebench".to_owned()];
    match purpose {
        Purpose::Measure => {
            words.push("run".into());
            words.extend(asked.iter().flat_map(SideRequest::as_flags));
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
    words.extend(args.selection.as_flags());
    words.extend(args.shard.as_flags());
    words.extend(args.hosts.as_flags());
    if let Some(only) = &args.only {
        words.extend(["--only".into(), only.to_string()]);
    }
    words.extend(args.amount_as_flags(rounds, seed));
    if args.lock.no_lock {
        words.push("--no-lock".into());
    }
    if args.pin == Pin::Off {
        words.extend(["--pin".into(), "off".into()]);
    }
    shell_words::join(words)
}

/// A seed of the order of rounds, by the clock.
pub(super) fn new_seed() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.subsec_nanos() ^ u32::try_from(now.as_secs() & 0xffff_ffff).unwrap_or(0)
}
