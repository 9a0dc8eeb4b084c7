//! The one place where other programs are begun: none gets what belongs to the workflow around us, tokens and the files by which
//! a step speaks to later ones.

use std::ffi::OsStr;
use std::process::Command;

/// Variables that no child gets.
const OURS: [&str; 9] = [
    "GITHUB_TOKEN",
    "GITHUB_ENV",
    "GITHUB_PATH",
    "GITHUB_OUTPUT",
    "GITHUB_STATE",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_TOKEN",
    "GH_ENTERPRISE_TOKEN",
];
/// Nor any that begins like this: addresses and tokens of the runner's own services.
const RUNNER: &str = "ACTIONS_";

/// A program to be started: measured servers, builds, drivers, filters, and tools.
#[must_use]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if is_kept_back(&name) {
            command.env_remove(name);
        }
    }
    command
}

fn is_kept_back(name: &OsStr) -> bool {
    OURS.iter().any(|ours| name == *ours) || name.as_encoded_bytes().starts_with(RUNNER.as_bytes())
}

/// The value of an environment variable that a child may have; `None` where it is not set, is no text, or is kept back.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|_| !is_kept_back(OsStr::new(name)))
}
