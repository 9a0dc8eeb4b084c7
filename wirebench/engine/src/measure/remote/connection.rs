//! The system's ssh: its command line, and advice for its errors.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::measure::process::tail;
use crate::measure::remote::address::Address;

/// Names another command for ssh, in words as a shell reads them, such as `ssh -F other-config`.
pub(super) const VARIABLE: &str = "WIREBENCH_SSH";

/// Why a host cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// There is no ssh.
    #[error("ssh cannot be started: {0}; install it, or name its command in {VARIABLE}")]
    Ssh(io::Error),
    /// The command that the user names cannot be parsed.
    #[error("{VARIABLE}: expected a command in words, such as 'ssh -F config': {0}")]
    Words(shell_words::ParseError),
    /// ssh cannot connect.
    #[error("{address}: {why}; {advice}")]
    Unreachable {
        /// The host.
        address: Address,
        /// ssh's own message.
        why: String,
        /// What to do.
        advice: &'static str,
    },
    /// The host lacks a program or something else that is needed.
    #[error("{address}: the host lacks {what}; {advice}")]
    Lacks {
        /// The host.
        address: Address,
        /// What.
        what: String,
        /// What to do.
        advice: &'static str,
    },
    /// A temporary folder on this machine cannot be made.
    #[error("a folder for temporary files cannot be made: {0}; free some space, or set TMPDIR")]
    Own(io::Error),
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
}

/// An ssh to one host, which shares one connection among all its commands (ControlMaster).
#[derive(Debug)]
pub(super) struct Ssh<'a> {
    pub(super) address: &'a Address,
    /// The folder for the connection's socket and ssh's errors.
    pub(super) folder: &'a Path,
}

impl Ssh<'_> {
    /// The command that holds the connection, and runs a shell.
    pub(super) fn master(&self) -> Result<Command, HostError> {
        let mut command = self.command("yes", "exec sh")?;
        let errors = File::create(self.folder.join("errors")).map_err(HostError::Own)?;
        command.stderr(errors);
        Ok(command)
    }

    /// Another command over the same connection, its output and errors piped.
    pub(super) fn command_over_connection(&self, script: &str) -> Result<Command, HostError> {
        let mut command = self.command("no", script)?;
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }

    fn command(&self, is_master: &str, script: &str) -> Result<Command, HostError> {
        let given = wirebench_spawn::variable(VARIABLE).unwrap_or_else(|| "ssh".into());
        let words = shell_words::split(&given).map_err(HostError::Words)?;
        let (program, args) = words
            .split_first()
            .ok_or_else(|| HostError::Ssh(io::Error::other(format!("{VARIABLE} is empty"))))?;
        let mut command = wirebench_spawn::command(program);
        command.args(args).arg("-T");
        // ssh never prompts, and checks the host's key as the user's configuration says.
        let control = format!("ControlPath={}", self.folder.join("control").display());
        let options = [
            "BatchMode=yes",
            "ConnectTimeout=10",
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
            "ControlPersist=no",
            &format!("ControlMaster={is_master}"),
            &control,
        ];
        for option in options {
            command.args(["-o", option]);
        }
        command.args(["--", self.address.as_str(), script]);
        Ok(command)
    }

    /// The error of a connection that ended, from ssh's own messages.
    pub(super) fn unreachable(&self) -> HostError {
        let why = tail(&self.folder.join("errors"));
        HostError::Unreachable {
            address: self.address.clone(),
            advice: advice(&why),
            why: if why.is_empty() {
                "ssh ended without a word".into()
            } else {
                why
            },
        }
    }
}

/// What to do about an error of ssh. Checks of host keys are never switched off.
fn advice(why: &str) -> &'static str {
    let contains = |words: &[&str]| words.iter().any(|word| why.contains(word));
    if contains(&["REMOTE HOST IDENTIFICATION HAS CHANGED"]) {
        "the host shows another key than before: find out why, and only then remove the old one with ssh-keygen -R"
    } else if contains(&["Host key verification failed"]) {
        "its key is not known here: connect once by hand with ssh and compare the key's fingerprint, or add the key to known_hosts"
    } else if contains(&["Permission denied", "Too many authentication failures"]) {
        "no key of yours opens it without a question: add one with ssh-copy-id, and load it with ssh-add if it has a passphrase"
    } else if contains(&["Could not resolve hostname"]) {
        "no such name: check it for a typing error"
    } else if contains(&[
        "Connection refused",
        "timed out",
        "No route to host",
        "Network is unreachable",
    ]) {
        "nobody answers there: check that the host runs, that sshd listens on this port, and that no firewall is between"
    } else {
        "try the same with ssh by hand"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_error_of_ssh_has_its_advice() {
        let advised = [
            (
                "No ED25519 host key is known for [10.0.0.2]:22 / Host key verification failed.",
                "known_hosts",
            ),
            (
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @ / Host key verification failed.",
                "ssh-keygen -R",
            ),
            ("me@host: Permission denied (publickey).", "ssh-copy-id"),
            (
                "ssh: Could not resolve hostname nowhere: Name or service not known",
                "typing error",
            ),
            (
                "ssh: connect to host 10.0.0.2 port 22: Connection refused",
                "nobody answers",
            ),
            (
                "ssh: connect to host 10.0.0.2 port 22: Connection timed out",
                "nobody answers",
            ),
            ("kex_exchange_identification: read", "by hand"),
        ];
        for (why, word) in advised {
            assert!(advice(why).contains(word), "{why}: {}", advice(why));
        }
    }
}
