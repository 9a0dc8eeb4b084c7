//! What a verb is to the command line.

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
    /// The listed groups, in order.
    pub(crate) const LISTED: [Self; 5] = [Self::Start, Self::Measure, Self::Judge, Self::Keep, Self::Workflow];

    /// The heading.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Start => "Start",
            Self::Measure => "Measure",
            Self::Judge => "Judge",
            Self::Keep => "Keep",
            Self::Workflow => "In a workflow (CI)",
            Self::Hidden => "",
        }
    }
}

impl Verb {
    /// The command by which clap knows it.
    pub(crate) fn command(&self) -> Command {
        let command = Command::default().name(self.name);
        (self.add_args)(command).hide(self.group == Group::Hidden)
    }
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
