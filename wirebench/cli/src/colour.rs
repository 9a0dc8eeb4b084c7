//! Colour for verdicts on a terminal; none in a pipe, with NO_COLOR or on a terminal that says it is dumb.

use std::borrow::Cow;
use std::io::IsTerminal as _;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What is coloured: a verdict's sign and word, and how a line of `verify` or `doctor` begins.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)(?<bad>✗ \*{0,2}[Rr]egressed|^FAILED\b)|(?<good>✓ \*{0,2}[Ii]mproved|= \*{0,2}[Uu]nchanged|^ok\b)|(?<doubt>\? \*{0,2}(?:[Ii]nconclusive|[Cc]an't tell)|! \*{0,2}[Ii]nvalid|~ \*{0,2}[Aa]ccepted|^warning\b)",
    )
    .expect("a constant pattern")
});
const COLOURS: [(&str, &str); 3] = [("bad", "31"), ("good", "32"), ("doubt", "33")];

/// Whether standard output takes colour.
static WANTED: LazyLock<bool> = LazyLock::new(|| {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    std::io::stdout().is_terminal() && !refused && !dumb
});

/// A text as standard output takes it.
pub(super) fn for_stdout(text: &str) -> Cow<'_, str> {
    if *WANTED { coloured(text) } else { Cow::Borrowed(text) }
}

fn coloured(text: &str) -> Cow<'_, str> {
    WORDS.replace_all(text, |found: &Captures| {
        let colour = COLOURS.iter().find(|(group, _)| found.name(group).is_some());
        format!(
            "\u{1b}[{}m{}\u{1b}[0m",
            colour.map_or("0", |(_, colour)| colour),
            &found[0]
        )
    })
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn verdicts_are_coloured_and_nothing_else() {
        assert_eq!(coloured(" ✗ regressed  x"), " \u{1b}[31m✗ regressed\u{1b}[0m  x");
        assert_eq!(
            coloured("ok     a\nFAILED b"),
            "\u{1b}[32mok\u{1b}[0m     a\n\u{1b}[31mFAILED\u{1b}[0m b"
        );
        assert_eq!(coloured("? can't tell"), "\u{1b}[33m? can't tell\u{1b}[0m");
        assert_eq!(
            coloured("the ok word, 1 = 1, {\"verdict\":\"regressed\"}"),
            "the ok word, 1 = 1, {\"verdict\":\"regressed\"}"
        );
    }
}
