//! Where another host is: `ssh://user@host:port`, in the form that ssh itself takes.

use std::fmt;
use std::net::Ipv6Addr;
use std::num::NonZeroU16;
use std::str::FromStr;
use std::sync::LazyLock;

use regex::{Match, Regex};

/// The address of a host for ssh; user and port may be left out, and are then those of ssh's own configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// The address as ssh takes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if is_host_address(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "expected ssh://USER@HOST:PORT, where USER@ and :PORT may be left out, found {text:?}"
            ))
        }
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

fn is_host_address(text: &str) -> bool {
    HOST.captures(text).is_some_and(|parts| {
        let is_ip = |ip: Match| ip.as_str().parse::<Ipv6Addr>().is_ok();
        let is_port = |port: Match| port.as_str().parse::<NonZeroU16>().is_ok();
        parts.get(1).is_none_or(is_ip) && parts.get(2).is_none_or(is_port)
    })
}

#[cfg(test)]
mod tests {
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
                prop_assert!(address.as_str()[6..].chars().all(plain));
                prop_assert!(!address.as_str()[6..].starts_with('-'));
            }
        }
    }
}
