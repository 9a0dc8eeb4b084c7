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
        let digest = digest(&[&still.title, &still.unit, &still.data]);
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
    let (scale, word) = readable(drawn);
    Still {
        file: writer.path(&format!("charts/{}.svg", drawn.column)),
        title: match drawn.trace.metric {
            Some(_) => format!("{}: {}", series.name, drawn.label),
            None => series.name.to_owned(),
        },
        unit: unit(drawn, &word),
        data: data(drawn, scale),
    }
}

/// What values are divided by so that they read well, and the unit they have then: 19,412 ns are 19.4 µs.
fn readable(drawn: &Drawn) -> (f64, String) {
    let unit = drawn.trace.unit.as_str();
    let known: Vec<f64> = drawn
        .judged()
        .iter()
        .copied()
        .filter(|value| value.is_finite())
        .collect();
    let steps: &[(f64, &str)] = match unit {
        _ if drawn.reference.is_some() => return (1.0, unit.to_owned()),
        "ns" => &[(1e9, "s"), (1e6, "ms"), (1e3, "µs")],
        "bytes" => &[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB")],
        _ => &[],
    };
    let middle = median(&known).unwrap_or(0.0);
    let fits = steps.iter().find(|(size, _)| middle >= *size);
    fits.map_or((1.0, unit.to_owned()), |(size, word)| (*size, (*word).to_owned()))
}

fn unit(drawn: &Drawn, word: &str) -> String {
    let unit = match &drawn.reference {
        Some(reference) => format!("ratio to {reference}"),
        None => word.to_owned(),
    };
    match drawn.direction() {
        "" => unit,
        direction => format!("{unit} ({direction})"),
    }
}

/// A line for each point, or for each whole stretch of many: place, smallest, middle, largest. Empty lines where nothing is
/// compared across. The last stretch is left out while it fills up, so that a picture of a long row changes rarely.
fn data(drawn: &Drawn, scale: f64) -> String {
    let values = drawn.judged();
    let known = |value: &f64| value.is_finite();
    let from = values.iter().position(known).unwrap_or(0);
    let end = values.iter().rposition(known).map_or(from, |last| last + 1);
    let mut breaks: Vec<usize> = drawn
        .values
        .segments
        .iter()
        .skip(1)
        .map(|segment| segment.first)
        .collect();
    breaks.sort_unstable();
    let mut edges = stretches(from, end, &breaks);
    if end - from <= MOST_POINTS {
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
        let [low, middle, high] = [*low, middle, *high].map(|value| value / scale);
        let _ = writeln!(text, "{}\t{low:.6e}\t{middle:.6e}\t{high:.6e}", pair[0]);
    }
    text
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
