//! Runs gnuplot.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::PresentError;

/// The plot scripts, included so that charts can be drawn in any project.
const SCRIPTS: [(&str, &str); 4] = [
    ("style.gnuplot", include_str!("../../../../scripts/plot/style.gnuplot")),
    ("bars.gnuplot", include_str!("../../../../scripts/plot/bars.gnuplot")),
    (
        "latency.gnuplot",
        include_str!("../../../../scripts/plot/latency.gnuplot"),
    ),
    ("step.gnuplot", include_str!("../../../../scripts/plot/step.gnuplot")),
];

/// Writes a file.
pub(crate) fn write(file: &Path, text: &str) -> Result<(), PresentError> {
    fs::write(file, text).map_err(PresentError::unwritable(file))
}

/// A temporary folder with the plot scripts.
pub(crate) fn scripts() -> Result<TempDir, PresentError> {
    let folder = tempfile::tempdir().map_err(PresentError::unwritable(&std::env::temp_dir()))?;
    for (name, text) in SCRIPTS {
        write(&folder.path().join(name), text)?;
    }
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
