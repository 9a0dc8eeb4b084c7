//! Still pictures of columns, for print and for readers without scripts, drawn by one gnuplot for all of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};
use sha2::{Digest as _, Sha256};

use crate::report::stills::{self, Still};
use crate::site::buckets::stretches;
use crate::site::error::SiteError;
use crate::site::gather::{Drawn, Series, Source};
use crate::site::write::Writer;
use wirebench_record::site::MOST_POINTS;
use wirebench_stats::quantile::median;

/// Which data each picture was drawn from, by its digest: a picture is drawn again only when they changed.
const DRAWN: &str = "charts/drawn.json";

/// Draws what is not current; gives how many that were.
pub(super) fn draw(writer: &mut Writer, gnuplot: Option<&Path>, sources: &[Source]) -> Result<usize, SiteError> {
    let Some(gnuplot) = gnuplot else {
        return Ok(0);
    };
    let before: BTreeMap<String, String> = fs::read(writer.path(DRAWN))
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    let figures: Vec<(&Series, &Drawn)> = sources
        .iter()
        .flat_map(|source| &source.series)
        .flat_map(|series| series.metrics.iter().map(move |drawn| (series, drawn)))
        .collect();
    let made = figures
        .par_iter()
        .map(|(series, drawn)| still(writer, series, drawn))
        .collect::<Vec<_>>();
    let (mut now, mut wanted) = (BTreeMap::new(), Vec::new());
    for ((_, drawn), still) in figures.iter().zip(made) {
        let name = format!("charts/{}.svg", drawn.column);
        let look = format!("{} {} {}", still.colour, still.least, still.intervals);
        let digest = digest(&[&still.title, &still.unit, &still.data, &look]);
        let current = before.get(&drawn.column) == Some(&digest) && still.file.is_file();
        if !current {
            wanted.push(still);
        }
        writer.keep(&name);
        now.insert(drawn.column.clone(), digest);
    }
    stills::draw(gnuplot, &wanted).map_err(|error| SiteError::Stills(error.to_string()))?;
    writer.json(DRAWN, &now)?;
    Ok(wanted.len())
}

fn still(writer: &Writer, series: &Series, drawn: &Drawn) -> Still {
    let unit = Unit::of(drawn);
    let (data, intervals) = data(drawn, &unit);
    Still {
        file: writer.path(&format!("charts/{}.svg", drawn.column)),
        title: match drawn.trace.metric {
            Some(_) => format!("{}: {}", series.name, drawn.label),
            None => series.name.to_owned(),
        },
        unit: match drawn.direction() {
            "" => unit.name.clone(),
            direction => format!("{} ({direction})", unit.name),
        },
        data,
        colour: colour(series.server),
        least: unit.least,
        intervals,
    }
}

/// The colour of a server, 1 to 4, as in the moving chart: `look` in `site/assets/chart/draw.js`.
fn colour(server: &str) -> u32 {
    let hash = server.chars().fold(29_942_u32, |hash, letter| {
        (hash ^ u32::from(letter)).wrapping_mul(16_777_619)
    });
    1 + ((hash ^ (hash >> 15)) & 3)
}

/// The unit of an axis, as in the moving chart: ratios are percent against the reference, and 19,412 ns are 19.4 µs.
struct Unit {
    name: String,
    /// The value that stands at 0.
    zero: f64,
    /// What 1 on the axis is worth.
    one: f64,
    /// The smallest height of the axis; 0 for the default.
    least: f64,
}

impl Unit {
    fn of(drawn: &Drawn) -> Self {
        if !drawn.values.ratios.is_empty() {
            let reference = drawn.reference.as_deref().unwrap_or("the reference");
            return Self {
                name: format!("% against {reference}"),
                zero: 1.0,
                one: 0.01,
                least: 4.0,
            };
        }
        let unit = drawn.trace.unit.as_str();
        let steps: &[(f64, &str)] = match unit {
            "ns" => &[(1e9, "s"), (1e6, "ms"), (1e3, "µs")],
            "bytes" => &[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB")],
            _ => &[],
        };
        let known: Vec<f64> = (drawn.judged().iter().copied())
            .filter(|value| value.is_finite())
            .collect();
        let middle = median(&known).unwrap_or(0.0);
        let fits = steps.iter().copied().find(|(size, _)| middle >= *size);
        let (one, name) = fits.unwrap_or((1.0, unit));
        Self {
            name: name.to_owned(),
            zero: 0.0,
            one,
            least: 0.0,
        }
    }
}

/// A line for each point, or for each whole stretch of many: place, smallest, middle, largest; and whether these are the 95 %
/// intervals of single points. Empty lines where nothing is compared across. The last stretch is left out while it fills up, so
/// that a picture of a long row changes rarely.
fn data(drawn: &Drawn, unit: &Unit) -> (String, bool) {
    let values = drawn.judged();
    let known = |value: &f64| value.is_finite();
    let from = values.iter().position(known).unwrap_or(0);
    let end = values.iter().rposition(known).map_or(from, |last| last + 1);
    let mut breaks: Vec<usize> = (drawn.values.segments.iter().skip(1))
        .map(|segment| segment.first)
        .collect();
    breaks.sort_unstable();
    let mut edges = stretches(from, end, &breaks);
    let single = end - from <= MOST_POINTS;
    if single {
        edges.push(end);
    }
    let mut text = String::from("# place\tsmallest\tmiddle\tlargest\n");
    for pair in edges.windows(2) {
        if breaks.contains(&pair[0]) {
            text.push('\n');
        }
        let mut stretch: Vec<f64> = values[pair[0]..pair[1]].iter().copied().filter(known).collect();
        stretch.sort_by(f64::total_cmp);
        let (Some(low), Some(middle), Some(high)) = (stretch.first(), median(&stretch), stretch.last()) else {
            text.push('\n');
            continue;
        };
        let half = drawn.values.half_permille.get(pair[0]).copied().filter(known);
        let share = half.filter(|_| single).unwrap_or(0.0) / 1000.0;
        let [low, middle, high] =
            [low * (1.0 - share), middle, high * (1.0 + share)].map(|value| (value - unit.zero) / unit.one);
        let _ = writeln!(text, "{}\t{low:.6e}\t{middle:.6e}\t{high:.6e}", pair[0]);
    }
    (text, single)
}

fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hash.finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_the_colours_of_the_moving_charts() {
        // The unit test of `look` expects the same of the first four.
        let servers = ["http", "http-multi", "grpc", "grpc-multi", "http-tls", "Parse <b>", "ü"];
        assert_eq!(servers.map(colour), [1, 3, 2, 4, 4, 3, 4]);
    }
}
