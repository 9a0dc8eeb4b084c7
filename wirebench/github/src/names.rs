//! Allow-lists for each kind of name that may be shown unchanged. Everything else is refused or rebuilt.

use wirebench_record::counts::Source;
use wirebench_record::names;
pub use wirebench_record::names::{is_path, is_run};

/// Words without a digit in the names of processors and kernels, parted by blanks.
const MAKERS: &str = "@ AMD ARM Altra Altra(R) Ampere Ampere(R) Apple Atom(TM) Bronze CPU Celeron(R) Common Core Core(TM) \
    Cortex Darwin EPYC Gold Graphics Intel Intel(R) KVM Linux Max Neoverse Opteron(tm) PRO Pentium(R) \
    Platinum Pro Processor QEMU Radeon Ryzen Silver Threadripper Virtual Xeon(R) processor";

fn is(text: &str, most: usize, allowed: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.len() <= most && text.chars().all(allowed)
}

/// 40 hex digits.
pub fn is_commit(text: &str) -> bool {
    text.len() == 40 && is_hex(text)
}

/// Twelve hex digits: the fingerprint of a machine.
pub fn is_fingerprint(text: &str) -> bool {
    text.len() == 12 && is_hex(text)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A login, also one of a company's own accounts.
pub fn is_login(text: &str) -> bool {
    is(text, 64, |c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// `scenario@server@driver`, of names that may be declared.
pub fn is_series(id: &str) -> bool {
    names::is_series(id) && id.split('@').all(names::is_declarable)
}

/// What a program is called.
pub fn is_tool(text: &str) -> bool {
    is(text, 32, |c| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || ".+-_".contains(c)
    })
}

/// The name of a processor, a kernel or an image: `AMD EPYC 7763 64-Core Processor`, `Linux 6.8.0-1021-azure x86_64`.
/// Each of its words has a digit or is a maker's: no sentence can be made of them.
pub fn is_machine(text: &str) -> bool {
    words(text, 10, MAKERS)
}

/// The version that a program prints: `v0.1.5`, `5.4 patchlevel 4`.
pub fn is_version(text: &str) -> bool {
    words(text, 4, "patchlevel version release")
}

/// True if a list of words, parted by blanks, has this one.
pub(super) fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Few words, each known or with a digit, and no address.
fn words(text: &str, most: usize, known: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || "().,+-_#~".contains(c);
    // A part between dots that is all letters could be a part of an address.
    let address = |word: &str| {
        let is_word = |part: &str| part.len() > 1 && part.chars().all(|c| c.is_ascii_alphabetic());
        word.split('.').skip(1).any(is_word)
    };
    let numbered = |word: &str| word.contains(|c: char| c.is_ascii_digit()) && word.chars().all(sign) && !address(word);
    let fits = |word: &str| has_word(known, word) || numbered(word);
    (1..=100).contains(&text.len()) && text.split(' ').count() <= most && text.split(' ').all(fits)
}

/// The workflow file that runs must be of.
pub fn is_workflow(text: &str) -> bool {
    let name = text.strip_prefix(".github/workflows/").unwrap_or_default();
    let stem = name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml"));
    is(stem.unwrap_or_default(), 100, |c| {
        c.is_ascii_alphanumeric() || c == '-' || c == '_'
    }) && !name.contains("--")
}

/// The name of an artifact.
pub fn is_artifact(text: &str) -> bool {
    is(text, 100, |c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// A system call's name.
pub fn syscall(text: &str) -> String {
    let known = is(text, 40, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if known { text.to_owned() } else { "a system call".into() }
}

/// A path in the repository; `None` if it is not clearly one.
pub fn source(source: Source) -> Option<Source> {
    let last = source.last_line.unwrap_or(source.line);
    (is_path(&source.file) && (1..=10_000_000).contains(&last) && (1..=last).contains(&source.line)).then_some(source)
}

// Escapes foreign text for a line of a workflow's log.
//
// A runner takes a line that begins with `::` or holds `##[` for a command, and undoes `%0A`: the result has none of these.

/// Characters that are shown.
const MOST: usize = 200;

/// One line that no runner takes for a command: letters, digits and few signs; `?` in place of every other one.
pub fn log_safe(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim().chars().take(MOST) {
        out.push(match c {
            c if c.is_ascii_alphanumeric() || " .,;'\"()_/=@+-!".contains(c) => c,
            ':' if !out.ends_with(':') && !out.is_empty() => ':',
            c if c.is_whitespace() => ' ',
            _ => '?',
        });
    }
    if text.trim().chars().count() > MOST {
        out.push_str("...");
    }
    out
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
    }

    #[test]
    fn machines_and_versions_are_no_sentences() {
        for machine in [
            "AMD EPYC",
            "AMD EPYC 7763 64-Core Processor",
            "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz",
            "Linux 6.8.0-1021-azure x86_64",
            "Linux 5.15.0-1.el8~2+b1 x86_64",
            "ubuntu24 20261108.1",
            "Neoverse-N1",
        ] {
            assert!(is_machine(machine), "{machine}");
        }
        for version in ["1.52", "v0.121.0", "5.4 patchlevel 4"] {
            assert!(is_version(version), "{version}");
        }
        for text in [
            "",
            "Your token has leaked visit us",
            "Linux 6.8 please visit",
            "https://evil.example",
            "evil.example/login1",
            "evil1.example",
            "@octo 1",
            "1 @octo1",
            "AMD  EPYC",
            "a\u{202e}1",
        ] {
            assert!(!is_machine(text) && !is_version(text), "{text}");
        }
    }
}

#[cfg(test)]
mod log_text_tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;

    #[test]
    fn ordinary_words_stay_and_commands_do_not() {
        assert_eq!(
            log_safe("Resource not accessible by integration"),
            "Resource not accessible by integration"
        );
        assert_eq!(log_safe("::set-output name=a::b"), "?:set-output name=a:?b");
        assert_eq!(log_safe("a\n::error::b\r%0A##[group]"), "a :?error:?b ?0A???group?");
    }

    proptest! {
        #[test]
        fn no_text_becomes_a_command(text in any::<String>(), tail in "[:%#\\[\r\n a]{0,20}") {
            let shown = log_safe(&(text + &tail));
            prop_assert!(!shown.contains("::") && !shown.contains("##") && !shown.contains('%'));
            prop_assert!(shown.chars().all(|c| c.is_ascii() && !c.is_control()));
        }
    }
}
