//! `wirebench --help`: the verbs in groups, each with the line that describes it.

use std::fmt::Write as _;

use clap::Command;

use crate::verb::{Group, Verb};

/// The command line with its verbs in groups.
pub(crate) fn grouped(command: Command, verbs: &[Verb]) -> Command {
    let listed = verbs.iter().filter(|verb| verb.group != Group::Hidden);
    let width = listed.map(|verb| verb.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for group in Group::LISTED {
        let _ = writeln!(text, "{}:", group.title());
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
