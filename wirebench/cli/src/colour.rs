//! Colours verdicts on a terminal; not in a pipe, with NO_COLOR, or with TERM=dumb.

use std::borrow::Cow;
use std::io::IsTerminal as _;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The words that are coloured: a verdict's sign and word, and the first word of a line of `verify`.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)(?<bad>✗ \*{0,2}[Rr]egressed|^FAILED\b)|(?<good>✓ \*{0,2}[Ii]mproved|= \*{0,2}[Uu]nchanged|^ok\b)|(?<doubt>\? \*{0,2}(?:[Ii]nconclusive|[Cc]an't tell)|! \*{0,2}[Ii]nvalid|~ \*{0,2}[Aa]ccepted|^warn\b)",
    )
    .expect("a constant pattern")
});
const COLOURS: [(&str, &str); 3] = [("bad", "31"), ("good", "32"), ("doubt", "33")];

/// True if standard output shows colour.
static WANTED: LazyLock<bool> = LazyLock::new(|| {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    std::io::stdout().is_terminal() && !refused && !dumb
});

/// The text with colour if standard output shows it.
pub(crate) fn for_stdout(text: &str) -> Cow<'_, str> {
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
