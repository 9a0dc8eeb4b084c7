//! The command line of wirebench: a verb per file or folder, and the list of verbs.

#[macro_use]
mod output;
#[macro_use]
mod verb;

mod accept;
mod backfill;
mod candidates;
mod cli;
mod compare;
mod comparisons;
mod completions;
mod count;
mod export;
mod first_answer;
mod flags;
mod folders;
mod gate;
mod github;
mod histories;
mod history;
mod init;
#[cfg(test)]
mod judged_tests;
mod judging;
mod list;
mod merge;
mod messages;
mod normalise;
mod outcome;
mod report;
mod reports;
mod run;
mod runs;
mod selftest;
mod site;
mod verify;
mod version;

use crate::verb::Verb;
pub use cli::execute;
pub use outcome::{Outcome, describe_error, is_usage};
pub use output::printable;

/// Every verb with its group, in the order of the help.
const VERBS: &[Verb] = &[
    verb!(init, Start),
    verb!(list, Start),
    verb!(verify, Start),
    verb!(completions, Start),
    verb!(run, Measure),
    verb!(count, Measure),
    verb!(merge, Measure),
    verb!(compare, Judge),
    verb!(gate, Judge),
    verb!(report, Judge),
    verb!(accept, Judge),
    verb!(selftest, Judge),
    verb!(history, Keep),
    verb!(backfill, Keep),
    verb!(site, Keep),
    verb!(export, Keep),
    verb!(github, Workflow),
    verb!(first_answer as "first-answer", Hidden),
    verb!(messages, Hidden),
    verb!(normalise, Hidden),
];
