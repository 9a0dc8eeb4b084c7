//! What a verb is to the command line, and `wirebench --help`: the verbs in groups.

use std::fmt::Write as _;

use clap::{ArgMatches, Command};

use crate::folders::Root;
use crate::outcome::Outcome;

/// A verb. Its file has its arguments, `Args`, and its function, `execute`.
#[derive(Clone, Copy)]
pub(crate) struct Verb {
    /// The word on the command line.
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    /// Adds help text and arguments to the verb's command.
    pub(crate) add_args: fn(Command) -> Command,
    pub(crate) execute: fn(&Root, &ArgMatches) -> anyhow::Result<Outcome>,
}

/// The group of `wirebench --help` that a verb is listed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Start,
    Measure,
    Judge,
    Keep,
    Workflow,
    /// Not listed: other programs run the verb.
    Hidden,
}

impl Group {
    /// The listed groups with their headings, in order.
    pub(crate) const LISTED: [(Self, &str); 5] = [
        (Self::Start, "Start"),
        (Self::Measure, "Measure"),
        (Self::Judge, "Judge"),
        (Self::Keep, "Keep"),
        (Self::Workflow, "In a workflow (CI)"),
    ];
}

impl Verb {
    /// The command by which clap knows it.
    pub(crate) fn command(&self) -> Command {
        let command = Command::default().name(self.name);
        (self.add_args)(command).hide(self.group == Group::Hidden)
    }
}

/// The command line with its verbs in groups.
pub(crate) fn grouped(command: Command, verbs: &[Verb]) -> Command {
    let listed = verbs.iter().filter(|verb| verb.group != Group::Hidden);
    let width = listed.map(|verb| verb.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (group, title) in Group::LISTED {
        let _ = writeln!(text, "{title}:");
        for verb in verbs.iter().filter(|verb| verb.group == group) {
            let about = verb.command().get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:width$}  {about}", verb.name);
        }
        text.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}{{after-help}}"
    ))
}

/// The verb of a module, which is called as the module is unless a name is given.
macro_rules! verb {
    ($module:ident, $group:ident) => {
        verb!($module as stringify!($module), $group)
    };
    ($module:ident as $name:expr, $group:ident) => {
        $crate::verb::Verb {
            name: $name,
            group: $crate::verb::Group::$group,
            add_args: <$module::Args as clap::Args>::augment_args,
            execute: |root, matches| {
                let args = <$module::Args as clap::FromArgMatches>::from_arg_matches(matches);
                $module::execute(root, &args.unwrap_or_else(|error| error.exit()))
            },
        }
    };
}
