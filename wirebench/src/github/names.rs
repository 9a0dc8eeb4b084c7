//! What may be shown as it is: each kind of name by a list of what it may hold. Everything else is refused or rebuilt.

use crate::record::counts::Source;
pub use crate::record::names::{is_path, is_run, is_series};

fn is(text: &str, most: usize, allowed: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.len() <= most && text.chars().all(allowed)
}

/// 40 hex digits.
#[must_use]
pub fn is_commit(text: &str) -> bool {
    text.len() == 40 && is_hex(text)
}

/// Twelve hex digits: the fingerprint of a machine.
#[must_use]
pub fn is_fingerprint(text: &str) -> bool {
    text.len() == 12 && is_hex(text)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A login, also one of a company's own accounts.
#[must_use]
pub fn is_login(text: &str) -> bool {
    is(text, 64, |c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// What a program is called.
#[must_use]
pub fn is_tool(text: &str) -> bool {
    is(text, 32, |c| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || ".+-_".contains(c)
    })
}

/// What a processor, a kernel or a version says of itself: `AMD EPYC 7763 64-Core Processor`, `Intel Xeon @ 2.20GHz`. An `@`
/// before a letter would mention somebody.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    let mentions = |pair: &[u8]| pair[0] == b'@' && pair[1].is_ascii_alphabetic();
    is(text, 100, |c| c.is_ascii_alphanumeric() || " ().,+-_/@#".contains(c))
        && !text.contains("//")
        && !text.as_bytes().windows(2).any(mentions)
}

/// The workflow file that runs must be of.
#[must_use]
pub fn is_workflow(text: &str) -> bool {
    let name = text.strip_prefix(".github/workflows/").unwrap_or_default();
    let stem = name
        .strip_suffix(".yml")
        .or_else(|| name.strip_suffix(".yaml"))
        .unwrap_or_default();
    is(stem, 100, |c| c.is_ascii_alphanumeric() || c == '-' || c == '_') && !name.contains("--")
}

/// The name of an artifact.
#[must_use]
pub fn is_artifact(text: &str) -> bool {
    is(text, 100, |c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// A system call's name.
#[must_use]
pub fn syscall(text: &str) -> String {
    let known = is(text, 40, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if known { text.to_owned() } else { "a system call".into() }
}

/// A place in the repository; none when it could be anything else.
#[must_use]
pub fn source(source: Source) -> Option<Source> {
    (is_path(&source.file) && (1..=10_000_000).contains(&source.line)).then_some(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_none() {
        for bad in ["", "a@b", "a@b@c@d", "a@b@C", "a@@c", "a b@c@d", "a@b@c\n", "ä@b@c"] {
            assert!(!is_series(bad), "{bad:?}");
        }
        assert!(is_series("count-weather@http@hey"));
        for bad in [
            "/etc/passwd",
            "../x",
            "a/../b",
            "a//b",
            "a/./b",
            "a b",
            "a\\b",
            "a:b",
            "",
        ] {
            assert!(!is_path(bad), "{bad:?}");
        }
        assert!(is_path("servers/http/src/main.rs"));
        for bad in [
            "bench.yml",
            ".github/workflows/../x.yml",
            ".github/workflows/a/b.yml",
            ".github/workflows/.yml",
            ".github/workflows/a--b.yml",
        ] {
            assert!(!is_workflow(bad), "{bad:?}");
        }
        assert!(is_workflow(".github/workflows/bench.yml"));
        assert!(is_plain("Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz") && !is_plain("https://evil.example"));
    }
}
