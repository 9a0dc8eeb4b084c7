//! Text from records as it may stand on a page: nothing hidden, nothing endless. Escaping is the template's.

use crate::report::escape::Escape;
use crate::report::format::{is_unseen, shortened};

/// Escapes for pages, whose templates escape HTML themselves.
pub const HTML: Escape = Escape::new(name, sentence);

/// Characters of a name that are shown.
const NAME: usize = 160;
/// Characters of a sentence that are shown.
const SENTENCE: usize = 600;

/// A name.
pub fn name(text: &str) -> String {
    cleaned(text, NAME)
}

/// A sentence.
pub fn sentence(text: &str) -> String {
    cleaned(text, SENTENCE)
}

fn cleaned(text: &str, characters: usize) -> String {
    let seen = text.replace(char::is_control, " ").replace(is_unseen, "\u{fffd}");
    shortened(seen.trim(), characters)
}

/// Whether a run's id may name a file and stand in a link; every id that this program makes does.
pub fn is_id(id: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !id.is_empty() && id.len() <= 100 && id.chars().all(fits)
}

/// An instant as people read it: `2026-11-21 17:24 UTC`; what is none as it stands.
pub fn instant(text: &str) -> String {
    match text.parse::<jiff::Timestamp>() {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => name(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_shown_and_what_is_endless_is_cut() {
        assert_eq!(name("a\u{202e}b\u{7}c|`d`"), "a\u{fffd}b c|`d`");
        assert_eq!(sentence(&"x".repeat(5000)).chars().count(), SENTENCE);
    }

    #[test]
    fn only_what_is_a_plain_word_names_a_file() {
        assert!(is_id("20261121T051047Z-352901"));
        for nasty in [
            "",
            "../x",
            "a/b",
            "javascript:alert(1)",
            "a b",
            "a.b",
            "ü",
            &"a".repeat(101),
        ] {
            assert!(!is_id(nasty), "{nasty}");
        }
    }

    #[test]
    fn instants_are_short() {
        assert_eq!(instant("2026-11-21T05:10:48.268214818Z"), "2026-11-21 05:10 UTC");
        assert_eq!(instant("<b>"), "<b>");
    }
}
