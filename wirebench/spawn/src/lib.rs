//! The only place that starts other programs. It removes the surrounding workflow's tokens and command files (such as
//! GITHUB_ENV) from their environment.

use std::ffi::OsStr;
use std::process::Command;

/// Environment variables that no child process gets.
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
/// The prefix of further such variables: URLs and tokens of the runner's services.
const RUNNER: &str = "ACTIONS_";

/// A program to be started: measured servers, builds, drivers, filters, and tools.
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

/// The value of an environment variable that a child process may have; `None` if it is not set, is not UTF-8, or is
/// removed.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|_| !is_kept_back(OsStr::new(name)))
}
