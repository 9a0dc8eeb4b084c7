//! The system's ssh: where another host is (`ssh://user@host:port`, in the form that ssh itself takes), its command line, and advice
//! for its errors.

use std::fs::File;
use std::net::Ipv6Addr;
use std::num::NonZeroU16;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::LazyLock;
use std::{fmt, io};

use anyhow::anyhow;
use regex::{Match, Regex};

use crate::measure::kill_on_exit::TemporaryFolder;
use crate::measure::process::tail;

/// Names another command for ssh, in words as a shell reads them, such as `ssh -F other-config`.
pub(super) const VARIABLE: &str = "WIREBENCH_SSH";

/// An ssh to one host, which shares one connection among all its commands (ControlMaster).
#[derive(Debug)]
pub(super) struct Ssh {
    pub(super) address: Address,
    /// The folder for the connection's socket and ssh's errors.
    pub(super) folder: TemporaryFolder,
}

impl Ssh {
    /// The command that holds the connection, and runs a shell.
    pub(super) fn master(&self) -> anyhow::Result<Command> {
        let mut command = self.command("yes", "exec sh")?;
        let errors = File::create(self.folder.path().join("errors")).map_err(|error| no_folder(&error))?;
        command.stderr(errors);
        Ok(command)
    }

    /// Another command over the same connection, its output and errors piped.
    pub(super) fn command_over_connection(&self, script: &str) -> io::Result<Command> {
        let mut command = self.command("no", script).map_err(io::Error::other)?;
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }

    fn command(&self, is_master: &str, script: &str) -> anyhow::Result<Command> {
        let given = wirebench_spawn::variable(VARIABLE).unwrap_or_else(|| "ssh".into());
        let words = shell_words::split(&given)
            .map_err(|error| anyhow!("{VARIABLE}: expected a command in words, such as 'ssh -F config': {error}"))?;
        let (program, args) = words
            .split_first()
            .ok_or_else(|| no_ssh(&io::Error::other(format!("{VARIABLE} is empty"))))?;
        let mut command = wirebench_spawn::command(program);
        command.args(args).arg("-T");
        // ssh never prompts, and checks the host's key as the user's configuration says.
        let control = format!("ControlPath={}", self.folder.path().join("control").display());
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
        command.args(["--", &self.address.0, script]);
        Ok(command)
    }

    /// The error of a connection that ended, from ssh's own messages.
    pub(super) fn unreachable(&self) -> anyhow::Error {
        let why = tail(&self.folder.path().join("errors"));
        let advice = advice(&why);
        let why = if why.is_empty() {
            "ssh ended without a word"
        } else {
            &why
        };
        anyhow!("{}: {why}; {advice}", self.address)
    }
}

/// The error of an ssh that cannot be started.
pub(super) fn no_ssh(error: &io::Error) -> anyhow::Error {
    anyhow!("ssh cannot be started: {error}; install it, or name its command in {VARIABLE}")
}

/// The error of temporary files that cannot be made on this machine.
pub(super) fn no_folder(error: &io::Error) -> anyhow::Error {
    anyhow!("a folder for temporary files cannot be made: {error}; free some space, or set TMPDIR")
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

/// The address of a host for ssh; user and port may be left out, and are then those of ssh's own configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

impl fmt::Display for Address {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_address = HOST.captures(text).is_some_and(|parts| {
            let is_ip = |ip: Match| ip.as_str().parse::<Ipv6Addr>().is_ok();
            let is_port = |port: Match| port.as_str().parse::<NonZeroU16>().is_ok();
            parts.get(1).is_none_or(is_ip) && parts.get(2).is_none_or(is_port)
        });
        is_address.then(|| Self(text.to_owned())).ok_or_else(|| {
            format!("expected ssh://USER@HOST:PORT, where USER@ and :PORT may be left out, found {text:?}")
        })
    }
}

/// `ssh://[USER@]HOST[:PORT]`; no part of it could be taken for an option or by a shell.
static HOST: LazyLock<Regex> = LazyLock::new(|| {
    let word = "[A-Za-z0-9._][A-Za-z0-9._-]*";
    Regex::new(&format!(
        r"^ssh://(?:{word}@)?(?:{word}|\[([0-9A-Fa-f:.]+)\])(?::([0-9]+))?$"
    ))
    .expect("a constant pattern")
});

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

#[cfg(test)]
mod address_tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn user_and_port_may_be_left_out() {
        for text in [
            "ssh://host",
            "ssh://me@host.example:22",
            "ssh://10.0.0.2:2222",
            "ssh://me@[fd00::2]:22",
            "ssh://[::1]",
        ] {
            assert_eq!(
                text.parse::<Address>().map(|address| address.to_string()).as_deref(),
                Ok(text)
            );
        }
    }

    #[test]
    fn what_ssh_could_take_for_something_else_is_refused() {
        for text in [
            "host",
            "ssh://",
            "ssh://@host",
            "ssh://-oProxyCommand=x",
            "ssh://a@-host",
            "ssh://host:",
            "ssh://host:0",
            "ssh://host:65536",
            "ssh://host/path",
            "ssh://a b",
            "ssh://host:22x",
            "ssh://[host]",
            "ssh://$(id)",
            "http://host",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_address_never_holds_what_a_shell_reads(text in "ssh://.{0,20}") {
            if let Ok(address) = text.parse::<Address>() {
                let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-:@[]".contains(letter);
                prop_assert!(address.0[6..].chars().all(plain));
                prop_assert!(!address.0[6..].starts_with('-'));
            }
        }
    }
}
