//! Everything that commands print: results on standard output, log lines on standard error, both through [`printable`].
//!
//! The macros here replace the standard ones.

use std::io::Write as _;
use std::sync::OnceLock;

use anyhow::anyhow;

use crate::colour;
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
    let text = colour::for_stdout(&printable);
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
