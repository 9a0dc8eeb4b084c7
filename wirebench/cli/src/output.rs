//! Everything that commands print: results on standard output, log lines on standard error, both through [`printable`].
//!
//! The macros here replace the standard ones. Verdicts are coloured on a terminal; not in a pipe, with NO_COLOR, or with TERM=dumb.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{LazyLock, OnceLock};

use anyhow::anyhow;
use regex::{Captures, Regex};

pub use wirebench_present::report::format::printable;

macro_rules! print {
    ($($words:tt)*) => { $crate::output::write(&format!($($words)*)) };
}
macro_rules! println {
    () => { $crate::output::write("\n") };
    ($($words:tt)*) => { $crate::output::write(&(format!($($words)*) + "\n")) };
}

/// The first error of writing to standard output.
static WRITE_ERROR: OnceLock<std::io::Error> = OnceLock::new();

/// Writes to standard output. The reader may close the pipe early, as `head` does. The command then continues, so that
/// no measurement is lost, and [`flush`] returns the error at the end.
pub(crate) fn write(text: &str) {
    let printable = printable(text);
    let text = for_stdout(&printable);
    if let Err(error) = std::io::stdout().write_all(text.as_bytes()) {
        let _ = WRITE_ERROR.set(error);
    }
}

/// Writes what is buffered.
///
/// # Errors
/// When this, or an earlier write to standard output, failed.
pub(crate) fn flush() -> anyhow::Result<()> {
    if let Err(error) = std::io::stdout().flush() {
        let _ = WRITE_ERROR.set(error);
    }
    match WRITE_ERROR.get() {
        Some(error) => Err(anyhow!("standard output cannot be written: {error}")),
        None => Ok(()),
    }
}

/// Writes log lines of this level and above to standard error. Only the first call in a process has an effect.
pub(crate) fn log_to_stderr(level: log::LevelFilter) {
    if log::set_logger(&Stderr).is_ok() {
        log::set_max_level(level);
    }
}

struct Stderr;

impl log::Log for Stderr {
    /// Only wirebench's own lines: its HTTP client logs too.
    fn enabled(&self, metadata: &log::Metadata) -> bool {
        metadata.target().starts_with("wirebench")
    }

    fn log(&self, record: &log::Record) {
        if self.enabled(record.metadata()) {
            std::eprintln!("{}", printable(&record.args().to_string()));
        }
    }

    fn flush(&self) {}
}

/// The words that are coloured: a verdict's sign and word, the first word of a line of `verify`, and a protocol in a column.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)(?<bad>✗ \*{0,2}[Rr]egressed|^FAILED\b)|(?<good>✓ \*{0,2}[Ii]mproved|= \*{0,2}[Uu]nchanged|^ok\b)|(?<doubt>\? \*{0,2}(?:[Ii]nconclusive|[Cc]an't tell)|! \*{0,2}[Ii]nvalid|~ \*{0,2}[Aa]ccepted|^warn\b)|(?<http>(?: {2}|^ )(?:https?|h2c?)  )|(?<grpc>(?: {2}|^ )grpc(?:s|-web)?  )",
    )
    .expect("a constant pattern")
});
/// HTTP is blue and gRPC rose, as in pictures and on the dashboard.
const COLOURS: [(&str, &str); 5] = [
    ("bad", "31"),
    ("good", "32"),
    ("doubt", "33"),
    ("http", "34"),
    ("grpc", "35"),
];

/// True if standard output shows colour.
static WANTED: LazyLock<bool> = LazyLock::new(|| {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    std::io::stdout().is_terminal() && !refused && !dumb
});

/// The text with colour if standard output shows it.
fn for_stdout(text: &str) -> Cow<'_, str> {
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
    fn a_protocol_has_its_colour_in_a_column_and_nowhere_else() {
        assert_eq!(
            coloured(" api  hey  http  20,512\n api  ghz  grpc  9,120"),
            " api  hey\u{1b}[34m  http  \u{1b}[0m20,512\n api  ghz\u{1b}[35m  grpc  \u{1b}[0m9,120"
        );
        assert_eq!(coloured("http and grpc: 2 servers"), "http and grpc: 2 servers");
    }

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
