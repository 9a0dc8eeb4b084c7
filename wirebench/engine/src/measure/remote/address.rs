//! Where another host is: `ssh://user@host:port`, in the form that ssh itself takes.

use std::fmt;
use std::str::FromStr;

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
        if text.strip_prefix("ssh://").is_some_and(is_host_address) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "expected ssh://USER@HOST:PORT, where USER@ and :PORT may be left out, found {text:?}"
            ))
        }
    }
}

/// Whether a text is `[USER@]HOST[:PORT]`; no part of it could be taken for an option or by a shell.
fn is_host_address(text: &str) -> bool {
    let (user, rest) = text
        .rsplit_once('@')
        .map_or((None, text), |(user, rest)| (Some(user), rest));
    let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) if host.parse::<std::net::Ipv6Addr>().is_ok() => (None, port),
        Some(_) => return false,
        None => {
            let end = rest.find(':').unwrap_or(rest.len());
            (Some(&rest[..end]), &rest[end..])
        }
    };
    let is_port = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.parse() != Ok(0_u16) && port.parse::<u16>().is_ok());
    user.is_none_or(is_word) && host.is_none_or(is_word) && is_port
}

fn is_word(word: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(is_letter)
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
