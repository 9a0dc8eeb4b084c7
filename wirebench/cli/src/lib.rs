//! The command line of wirebench: a verb per file, and the list of verbs.

#[macro_use]
mod output;
#[macro_use]
mod verb;

mod candidates;
mod cli;
mod colour;
mod comparisons;
mod flags;
mod flames;
mod folders;
mod help;
mod histories;
#[cfg(test)]
mod judged_tests;
mod judging;
mod location;
mod opened_history;
mod outcome;
mod reports;
mod runs;
mod version;

pub use outcome::{Outcome, describe_error, is_usage};
pub use output::printable;

// Each line declares the module of a verb, and lists the verb in a group of the help.
verbs! {
    init: Start,
    list: Start,
    verify: Start,
    completions: Start,
    run: Measure,
    count: Measure,
    merge: Measure,
    compare: Judge,
    gate: Judge,
    report: Judge,
    accept: Judge,
    claims: Judge,
    selftest: Judge,
    truth: Judge,
    history: Keep,
    backfill: Keep,
    site: Keep,
    export: Keep,
    github: Workflow,
    first_answer as "first-answer": Hidden,
    messages: Hidden,
    normalise: Hidden,
}

/// Executes the verb that this process was started with; wrong usage, `--help` and `--version` end the process here.
///
/// # Errors
/// When it cannot be done, or its output cannot be written; [`is_usage`] tells wrong usage from failure.
pub fn execute() -> anyhow::Result<Outcome> {
    cli::run(VERBS)
}
