//! Still pictures of trends: one gnuplot draws many, because starting it takes longer than drawing.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::report::gnuplot::{self, ChartError};

/// A picture to draw.
#[derive(Debug)]
pub struct Still {
    /// The SVG file to write.
    pub file: PathBuf,
    /// Its title.
    pub title: String,
    /// The unit of its values, and whether lower or higher is better.
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
    let folder = gnuplot::folder_with(&[
        ("style.gnuplot", include_str!("../../../../scripts/plot/style.gnuplot")),
        ("trend.gnuplot", include_str!("../../../../scripts/plot/trend.gnuplot")),
    ])?;
    let path = |name: String| folder.path().join(name);
    let mut script = String::new();
    for (number, still) in stills.iter().enumerate() {
        gnuplot::write(&path(format!("{number}.tsv")), &still.data)?;
        let (title, unit) = (quotable(&still.title), quotable(&still.unit));
        // Settings of one picture must not affect the next one.
        let _ = writeln!(
            script,
            "colour = {}; least = {}; intervals = {}\n\
             call './trend.gnuplot' '{number}.tsv' '{number}.svg' '{title}' '{unit}'\nset output\nreset",
            still.colour,
            still.least,
            u8::from(still.intervals),
        );
    }
    gnuplot::write(&path("all.gnuplot".into()), &script)?;
    let mut command = wirebench_spawn::command(gnuplot);
    command.arg("all.gnuplot").current_dir(folder.path());
    gnuplot::run(command, folder.path())?;
    for (number, still) in stills.iter().enumerate() {
        let copied = fs::copy(path(format!("{number}.svg")), &still.file);
        copied.map_err(|source| ChartError::Write {
            file: still.file.clone(),
            source,
        })?;
    }
    Ok(())
}

/// A text that is safe between single quotes in a script. Names come from strangers: only characters are kept that can neither
/// end the quotes nor mean something to gnuplot.
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
