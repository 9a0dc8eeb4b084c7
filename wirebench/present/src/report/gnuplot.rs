//! Runs gnuplot.

use std::fs;
use std::path::Path;

use include_dir::{Dir, include_dir};
use tempfile::TempDir;

use crate::PresentError;

/// The plot scripts, included so that charts can be drawn in any project.
static SCRIPTS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../scripts/plot");

/// Writes a file.
pub(crate) fn write(file: &Path, text: &str) -> Result<(), PresentError> {
    fs::write(file, text).map_err(PresentError::unwritable(file))
}

/// A temporary folder with the plot scripts.
pub(crate) fn scripts() -> Result<TempDir, PresentError> {
    let parent = std::env::temp_dir();
    let unwritable = PresentError::unwritable(&parent);
    let folder = tempfile::tempdir().map_err(&unwritable)?;
    SCRIPTS.extract(&folder).map_err(unwritable)?;
    Ok(folder)
}

/// Draws a picture from a file of data; the extension of the picture's file selects the format. `words` are its title and unit.
pub(crate) fn draw(
    gnuplot: &Path,
    script: &Path,
    [data, picture]: [&Path; 2],
    words: [&str; 2],
) -> Result<(), PresentError> {
    let mut command = wirebench_spawn::command(gnuplot);
    command.arg("-c").arg(script).args([data, picture]).args(words);
    let unstarted = |error| PresentError(format!("gnuplot cannot be started: {error}; reinstall it"));
    let output = command.output().map_err(unstarted)?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
    Err(PresentError(format!(
        "gnuplot could not draw {}: {message}",
        picture.display()
    )))
}
