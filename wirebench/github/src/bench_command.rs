//! Parses `/bench GLOB…` in a comment. Only the first line is read.

use globset::Glob;

use crate::{Refusal, refuse};

/// Globs of one comment, at most.
pub const MOST: usize = 10;
/// Characters of one glob, at most.
const LONGEST: usize = 100;

/// The globs of a /bench comment, empty for every scenario; `None` if it is no /bench comment.
///
/// # Errors
/// When it asks for something that no scenario can be called.
pub fn globs(comment: &str) -> Option<Result<Vec<String>, Refusal>> {
    let line = comment.lines().next().unwrap_or_default();
    let mut words = line.split_ascii_whitespace();
    (line.starts_with("/bench") && words.next() == Some("/bench")).then(|| parse(words))
}

fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Result<Vec<String>, Refusal> {
    let globs: Vec<String> = words.map(str::to_owned).collect();
    if globs.len() > MOST {
        refuse!("/bench takes at most {MOST} globs");
    }
    for (place, glob) in globs.iter().enumerate() {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-*?[]{},".contains(c);
        let readable = glob.len() <= LONGEST && !glob.starts_with('-') && glob.chars().all(allowed);
        if !readable || Glob::new(glob).is_err() {
            refuse!(
                "/bench: {} is no glob: it may hold lower-case letters, digits, hyphens (not first) and * ? [] {{}} ,",
                place + 1
            );
        }
    }
    Ok(globs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;

    #[test]
    fn the_first_line_asks_and_nothing_else_does() {
        let globs = |text: &str| globs(text).map(Result::unwrap);
        assert_eq!(globs("/bench"), Some(vec![]));
        assert_eq!(
            globs("/bench weather-* count-{a,b}\r\nrm -rf /"),
            Some(vec!["weather-*".into(), "count-{a,b}".into()])
        );
        for not in [
            "",
            "bench",
            "/benchmark",
            " /bench",
            "> /bench",
            "please /bench",
            "\n/bench",
            "/Bench",
            "/bench\u{a0}x",
        ] {
            assert_eq!(globs(not), None, "{not:?}");
        }
    }

    #[test]
    fn what_could_be_more_than_a_glob_is_refused() {
        for nasty in [
            "--help",
            "-x",
            "a;b",
            "$(id)",
            "`id`",
            "a|b",
            "../x",
            "a\u{202e}b",
            "'a'",
            "a\"",
            "${{x}}",
            "a\\b",
            "{a",
            "[a",
            "A",
            &"a".repeat(101),
        ] {
            assert!(globs(&format!("/bench {nasty}")).unwrap().is_err(), "{nasty}");
        }
        assert!(globs(&format!("/bench{}", " a".repeat(11))).unwrap().is_err());
        assert!(globs(&format!("/bench{}", " a".repeat(10))).unwrap().is_ok());
    }

    proptest! {
        #[test]
        fn a_glob_that_is_taken_is_one_harmless_word(text in any::<String>(), word in "[-a-c*?{}\\[\\],;$ ]{0,12}") {
            for comment in [format!("/bench {text}"), format!("/bench {word}")] {
                for glob in globs(&comment).into_iter().flatten().flatten() {
                    prop_assert!(!glob.starts_with('-') && glob.is_ascii() && !glob.contains([' ', ';', '$', '\n', '`', '\'', '"', '/']));
                }
            }
        }
    }
}
