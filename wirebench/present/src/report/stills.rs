//! Still pictures of trends: one gnuplot draws many, because starting it takes longer than drawing.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::report::charts::ChartError;

/// A picture to draw.
#[derive(Debug)]
pub struct Still {
    /// The file that takes it, an SVG.
    pub file: PathBuf,
    /// What it shows.
    pub title: String,
    /// The unit of its values, and which way is better.
    pub unit: String,
    /// Rows of place, smallest, middle and largest, tab-separated; an empty line lifts the pen.
    pub data: String,
    /// The colour, 1 to 4: of `style.gnuplot` and of the site's moving charts.
    pub colour: u32,
    /// The smallest height of the axis in its unit; 0 for 4 % of the value.
    pub least: f64,
    /// Whether smallest and largest are the ends of each point's 95 % interval, instead of the range of several points.
    pub intervals: bool,
}

/// Draws pictures with the gnuplot at `gnuplot`.
///
/// # Errors
/// When a file cannot be written or gnuplot fails.
pub fn draw(gnuplot: &Path, stills: &[Still]) -> Result<(), ChartError> {
    if stills.is_empty() {
        return Ok(());
    }
    let folder = tempfile::tempdir().map_err(|source| ChartError::Write {
        file: std::env::temp_dir(),
        source,
    })?;
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).map_err(|source| ChartError::Write { file, source })
    };
    write("style.gnuplot", include_str!("../../../../scripts/plot/style.gnuplot"))?;
    write("trend.gnuplot", include_str!("../../../../scripts/plot/trend.gnuplot"))?;
    let mut script = String::new();
    for (number, still) in stills.iter().enumerate() {
        write(&format!("{number}.tsv"), &still.data)?;
        let (title, unit) = (quotable(&still.title), quotable(&still.unit));
        // What one picture sets must not reach the next one.
        let _ = writeln!(
            script,
            "colour = {}; least = {}; intervals = {}\n\
             call './trend.gnuplot' '{number}.tsv' '{number}.svg' '{title}' '{unit}'\nset output\nreset",
            still.colour,
            still.least,
            u8::from(still.intervals),
        );
    }
    write("all.gnuplot", &script)?;
    let output = wirebench_spawn::command(gnuplot)
        .arg("all.gnuplot")
        .current_dir(folder.path())
        .output()
        .map_err(ChartError::Start)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
        return Err(ChartError::Draw {
            file: folder.path().to_path_buf(),
            message,
        });
    }
    for (number, still) in stills.iter().enumerate() {
        let picture = folder.path().join(format!("{number}.svg"));
        let copied = fs::copy(&picture, &still.file);
        copied.map_err(|source| ChartError::Write {
            file: still.file.clone(),
            source,
        })?;
    }
    Ok(())
}

/// A text as it may stand between single quotes in a script: names come from strangers, so that only what cannot end the
/// quotes or mean something to gnuplot is kept.
fn quotable(text: &str) -> String {
    let kept = |c: char| {
        let fits = c.is_alphanumeric() || " .,:;@/%()[]+-–_=<>#*~|&!?µ".contains(c);
        if fits { c } else { ' ' }
    };
    text.chars().take(140).map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_title_stays_within_its_quotes() {
        let hostile = "a' ; system('id') `id` \"x\" \\ $x\n'";
        let kept = quotable(hostile);
        assert!(!kept.contains(['\'', '`', '"', '\\', '\n', '$']), "{kept}");
    }
}
