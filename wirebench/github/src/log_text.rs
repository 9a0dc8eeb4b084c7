//! Escapes foreign text for a line of a workflow's log.
//!
//! A runner takes a line that begins with `::` or holds `##[` for a command, and undoes `%0A`: the result has none of these.

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
