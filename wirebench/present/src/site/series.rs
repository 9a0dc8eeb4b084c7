//! The files of a source: its pushes, and for each of its series a page and the columns it is drawn from.

use std::path::Path;

use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Serialize;

use crate::site::columns::column;
use crate::site::error::SiteError;
use crate::site::gather::{Drawn, Series, Source};
use crate::site::page::Context;
use crate::site::series_page;
use crate::site::stills;
use crate::site::timeline::pushes;
use crate::site::write::Writer;
use wirebench_record::site::{ColumnHead, Pushes};

/// What was written of a source.
pub(super) struct Written {
    /// The manifest's entries for its columns.
    pub(super) heads: Vec<ColumnHead>,
    /// Still pictures that are new or changed.
    pub(super) drawn: usize,
}

/// The files of one series.
struct SeriesFiles {
    page: Result<String, askama::Error>,
    metrics: Vec<MetricFiles>,
}

/// The files of one metric: names and contents.
struct MetricFiles {
    data: Vec<(String, serde_json::Result<Vec<u8>>)>,
    stills: Vec<(String, String)>,
}

/// Writes the files of a source.
///
/// # Errors
/// When a page cannot be made, or a file cannot be written.
pub(super) fn write(writer: &mut Writer, context: &Context, source: &Source) -> Result<Written, SiteError> {
    let pushes = pushes(source.line, context.with_page);
    for (number, part) in pushes.iter().enumerate() {
        writer.json(&format!("data/pushes/{}.{number}.json", source.timeline.id), part)?;
    }
    let rendered = source.series.par_iter().map(|series| SeriesFiles {
        page: series_page::render(context, source, series),
        metrics: (series.metrics.iter())
            .map(|drawn| metric(context, source, &pushes, series, drawn))
            .collect(),
    });
    let mut drawn = 0;
    for (series, files) in source.series.iter().zip(rendered.collect::<Vec<_>>()) {
        writer.page(&format!("series/{}.html", series.page), files.page)?;
        for metric in files.metrics {
            for (name, content) in metric.data {
                let content = content.map_err(|error| SiteError::unwritable(Path::new(&name), error.into()))?;
                writer.text(&name, &content)?;
            }
            for (name, picture) in metric.stills {
                drawn += usize::from(writer.changed(&name, picture.as_bytes())?);
            }
        }
    }
    let heads = source
        .series
        .iter()
        .flat_map(|series| series.metrics.iter().map(|drawn| head(source, series, drawn)));
    Ok(Written {
        heads: heads.collect(),
        drawn,
    })
}

/// The files that a metric is drawn from, and its still pictures.
fn metric(context: &Context, source: &Source, pushes: &[Pushes], series: &Series, drawn: &Drawn) -> MetricFiles {
    let (column, points) = column(source, series, drawn);
    let stills = if context.input.stills {
        stills::files(&drawn.column, &column, &source.timeline.releases, pushes)
    } else {
        Vec::new()
    };
    let mut data = vec![file(&drawn.column, "json", &column)];
    data.extend(points.map(|points| file(&drawn.column, "points.json", &points)));
    MetricFiles { data, stills }
}

fn file<T: Serialize>(column: &str, ending: &str, content: &T) -> (String, serde_json::Result<Vec<u8>>) {
    (format!("data/columns/{column}.{ending}"), serde_json::to_vec(content))
}

fn head(source: &Source, series: &Series, drawn: &Drawn) -> ColumnHead {
    ColumnHead {
        column: drawn.column.clone(),
        page: series.page.clone(),
        series: series.name.to_owned(),
        server: series.server.to_owned(),
        label: drawn.label.to_owned(),
        timeline: source.timeline.id.clone(),
        points: drawn.trace.points,
    }
}
