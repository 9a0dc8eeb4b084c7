//! `wirebench --help`: the commands in groups, each with the line that describes it.

use std::fmt::Write as _;

use clap::Command;

/// The groups and their commands. A command in no group is missing from `--help`.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start", &["init", "doctor", "list", "verify", "completions"]),
    ("Measure", &["run", "count", "soak", "plan", "merge"]),
    (
        "Judge",
        &[
            "compare", "gate", "report", "bisect", "accept", "claims", "selftest", "truth",
        ],
    ),
    ("Keep", &["history", "backfill", "site", "export", "normalise"]),
    ("In a workflow (CI)", &["summary", "comment", "rerun", "alert"]),
];

/// The command line with its commands in groups.
pub(super) fn grouped(command: Command) -> Command {
    let mut text = String::new();
    let width = GROUPS
        .iter()
        .flat_map(|(_, names)| *names)
        .map(|name| name.len())
        .max()
        .unwrap_or(0);
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:width$}  {about}");
        }
        text.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    #[test]
    fn every_command_that_is_shown_is_in_one_group() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), shown);
        assert_eq!(grouped.len(), shown.len(), "a command is in two groups");
    }
}
