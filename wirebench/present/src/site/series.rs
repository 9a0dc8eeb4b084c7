//! The files of a source: its pushes, and for each of its series a page and the columns it is drawn from.

use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::PresentError;
use crate::site::columns::column;
use crate::site::frame::Site;
use crate::site::gather::{Drawn, Source, pushes};
use crate::site::series_page;
use crate::site::write::Writer;
use wirebench_record::site::ColumnHead;

/// A file that a metric is drawn from: name and content.
type DataFile = (String, serde_json::Result<Vec<u8>>);

/// Writes the files of a source. Returns the manifest's entries for its columns.
///
/// # Errors
/// When a page cannot be made, or a file cannot be written.
pub(super) fn write(writer: &mut Writer, site: &Site, source: &Source) -> Result<Vec<ColumnHead>, PresentError> {
    let pushes = pushes(source.line, &site.with_page);
    for (number, part) in pushes.iter().enumerate() {
        writer.json(&format!("data/pushes/{}.{number}.json", source.timeline.id), part)?;
    }
    let rendered = source.series.par_iter().map(|series| {
        let data = series.metrics.iter().flat_map(|drawn| metric(source, drawn));
        (
            series_page::render(site, source, series),
            data.collect::<Vec<DataFile>>(),
        )
    });
    for (series, (page, data)) in source.series.iter().zip(rendered.collect::<Vec<_>>()) {
        writer.page(&format!("series/{}.html", series.page), page)?;
        for (name, content) in data {
            writer.data(&name, content)?;
        }
    }
    Ok(source.metrics().map(|drawn| drawn.head(source)).collect())
}

/// The files that a metric is drawn from.
fn metric(source: &Source, drawn: &Drawn) -> Vec<DataFile> {
    let (column, points) = column(source, drawn);
    let file = |ending, content| (format!("data/columns/{}.{ending}", drawn.column), content);
    let points = points.map(|points| file("points.json", serde_json::to_vec(&points)));
    [file("json", serde_json::to_vec(&column))]
        .into_iter()
        .chain(points)
        .collect()
}
