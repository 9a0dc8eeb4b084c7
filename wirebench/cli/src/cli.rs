//! The command line: global flags, then a verb of the list.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches as _, Parser};
use clap_complete::CompleteEnv;

use crate::VERBS;
use crate::folders::Root;
use crate::outcome::Outcome;
use crate::output;
use crate::verb::{Verb, grouped};
use crate::version;

/// The environment variable by which a shell requests completions from this program.
pub(crate) const COMPLETE: &str = "COMPLETE";

/// Measures HTTP and gRPC servers with real load generators.
#[derive(Debug, Parser)]
#[command(
    version = version::TEXT.as_str(),
    about,
    long_about = "Measures HTTP and gRPC servers with real load generators, checks every round, and keeps all of it.",
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:
  wirebench init                    writes wirebench.toml and workflows for this repository
  wirebench list                    the declared series
  wirebench verify                  what is missing and how to install it; checks builds and responses, without load
  wirebench run --profile quick     every scenario, about a minute of load
  wirebench run --scenario 'weather-*' --driver h2load --rounds 5
  wirebench run --baseline main     the working tree against a revision
  wirebench count --baseline main   the counted cost of a request, and the functions that changed
  wirebench report                  the newest run again, as a table
  wirebench gate                    exit code 3 if the newest comparison regressed

Exit codes: 0 done, 1 something failed, 2 wrong usage or declaration, 3 regressed, 4 nothing was judged, 125 (with --bisect) can't tell, 130 interrupted."
)]
struct GlobalArgs {
    /// The project's folder, which holds wirebench.toml; without it, the current folder or the nearest above that does.
    #[arg(long, global = true, value_name = "DIR", display_order = 900)]
    root: Option<PathBuf>,
    /// Prints no progress and no remarks on standard error; results, warnings and failures are still printed.
    #[arg(long, short, global = true, display_order = 901)]
    quiet: bool,
}

/// The command line of these verbs.
fn command(verbs: &[Verb]) -> Command {
    let command = GlobalArgs::command().subcommands(verbs.iter().map(Verb::command));
    grouped(command, verbs)
}

/// Executes the verb that this process was started with; wrong usage, `--help` and `--version` end the process here.
///
/// # Errors
/// When it cannot be done, or its output cannot be written; [`crate::is_usage`] tells wrong usage from failure.
pub fn execute() -> anyhow::Result<Outcome> {
    // A shell requests completions by an environment variable; this prints them and ends the process.
    CompleteEnv::with_factory(|| command(VERBS)).var(COMPLETE).complete();
    run_with(VERBS, std::env::args_os())
}

/// The same with these arguments, the first of which is the program's name.
fn run_with(verbs: &[Verb], args: impl IntoIterator<Item = OsString>) -> anyhow::Result<Outcome> {
    let args: Vec<OsString> = args.into_iter().collect();
    let matches = command(verbs).try_get_matches_from(&args).unwrap_or_else(|error| {
        // `git bisect run` would take exit code 2 for a bad commit; from 128 on it stops.
        if error.use_stderr() && args.iter().any(|arg| arg == "--bisect") {
            let _ = error.print();
            std::process::exit(128);
        }
        error.exit()
    });
    let outcome = dispatch(verbs, &matches)?;
    output::flush()?;
    Ok(outcome)
}

fn dispatch(verbs: &[Verb], matches: &ArgMatches) -> anyhow::Result<Outcome> {
    let GlobalArgs { root, quiet } = GlobalArgs::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    output::log_to_stderr(if quiet {
        log::LevelFilter::Warn
    } else {
        log::LevelFilter::Info
    });
    let (name, matches) = matches.subcommand().expect("clap requires a verb");
    let verb = verbs.iter().find(|verb| verb.name == name);
    let verb = verb.expect("clap knows the verbs of the list only");
    (verb.execute)(&Root { given: root }, matches)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap_complete::engine::complete;

    use super::*;
    use crate::verb::Group;

    /// A verb that is not in the list: its file would look like this.
    mod greet {
        use super::{Outcome, Root};

        /// Greets somebody.
        #[derive(Debug, clap::Args)]
        pub(super) struct Args {
            /// Whom.
            #[arg(long)]
            name: String,
        }

        pub(super) fn execute(_: &Root, args: &Args) -> anyhow::Result<Outcome> {
            Ok(Outcome::of(args.name == "Ada"))
        }
    }

    /// The list with one more line.
    fn verbs() -> Vec<Verb> {
        VERBS.iter().copied().chain([verb!(greet, Measure)]).collect()
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn completions(line: &str) -> Vec<String> {
        let words = words(line);
        let last = words.len() - 1;
        let candidates = complete(&mut command(&verbs()), words, last, None).unwrap();
        let values = candidates.iter().map(|one| one.get_value().to_string_lossy());
        values.map(Into::into).collect()
    }

    #[test]
    fn a_line_in_the_list_makes_a_verb_that_runs_with_its_arguments() {
        let outcome = |line| run_with(&verbs(), words(line)).unwrap();
        assert_eq!(outcome("wirebench greet --name Ada"), Outcome::Done);
        assert_eq!(outcome("wirebench greet --name Bob --quiet"), Outcome::Failed);
        let refused = command(&verbs()).try_get_matches_from(["wirebench", "greet", "--nmae", "Ada"]);
        assert!(refused.unwrap_err().to_string().contains("--name"));
    }

    #[test]
    fn a_line_in_the_list_puts_the_verb_into_its_group_of_the_help() {
        let help = command(&verbs()).render_help().to_string();
        let (_, measure) = help.split_once("\nMeasure:\n").unwrap();
        let (measure, _) = measure.split_once("\n\n").unwrap();
        assert!(measure.ends_with("\n  greet        Greets somebody"), "{measure}");
        let own = command(&verbs()).try_get_matches_from(["wirebench", "greet", "--help"]);
        assert!(own.unwrap_err().to_string().contains("--name <NAME>"));
    }

    #[test]
    fn a_line_in_the_list_lets_shells_complete_the_verb_and_its_flags() {
        assert_eq!(completions("wirebench gre"), ["greet"]);
        assert_eq!(completions("wirebench greet --n"), ["--name"]);
        assert!(!completions("wirebench ").contains(&"first-answer".to_owned()));
    }

    #[test]
    fn every_command_that_is_shown_is_in_one_group() {
        let whole = command(VERBS);
        let shown = whole.get_subcommands().filter(|one| !one.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let listed = |verb: &&Verb| Group::LISTED.iter().any(|(group, _)| *group == verb.group);
        let grouped: Vec<&str> = VERBS.iter().filter(listed).map(|verb| verb.name).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), shown);
        assert_eq!(grouped.len(), shown.len(), "a command is in two groups");
    }
}
