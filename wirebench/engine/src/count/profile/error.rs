//! Errors in a file that valgrind or strace wrote.

use std::fs;
use std::path::Path;

/// The file's text; bytes that are not UTF-8 (paths may have any bytes) are replaced.
pub(super) fn text_of(file: &Path) -> Result<String, String> {
    let bytes = fs::read(file).map_err(|error| {
        let why = "the tool writes it when the server ends: stop the server with SIGINT or SIGTERM and wait for it";
        format!("{}: cannot be read: {error}; {why}", file.display())
    })?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The beginning of a line, quoted for an error.
pub(super) fn quoted(line: &str) -> String {
    const SHOWN: usize = 60;
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &line[..end]),
        None => format!("{line:?}"),
    }
}

/// The error of a line of a file.
pub(super) fn line_error(file: &Path, line: usize, wrong: &str) -> String {
    format!(
        "{}:{line}: {wrong}; count anew, and let nothing else write this file",
        file.display()
    )
}
