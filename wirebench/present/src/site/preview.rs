//! The pictures that are shown where a link to a page is pasted: the step, drawn by gnuplot. Sites that show them ask for absolute
//! addresses, so they are drawn only where it is known where the site is published.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;

use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::PresentError;
use crate::report::cause::{Moved, answer, moved, sentence};
use crate::report::format::change;
use crate::report::gnuplot;
use crate::site::badges::published;
use crate::site::frame::{Input, since};
use crate::site::gather::{Drawn, Series, Source, seconds};
use crate::site::shown::name;
use crate::site::write::Writer;
use wirebench_record::run::short_commit;
use wirebench_record::trend::{ChangePoint, Direction, Group};
use wirebench_stats::quantile::median;

/// Pictures of series; the pages of others have the site's.
const MOST: usize = 40;
/// Values before and after the step.
const AROUND: (usize, usize) = (60, 30);
/// Absolute addresses of the pictures, by page of series; that of the site is [`SITE`].
pub(super) type Previews = HashMap<String, String>;

/// A picture to draw: its name, its words and its data.
struct Picture {
    name: String,
    title: String,
    unit: String,
    data: String,
}

/// Draws the picture of the site and those of series that stepped in their newest segment.
///
/// # Errors
/// When gnuplot fails, or a file cannot be written.
pub(super) fn draw(writer: &mut Writer, input: &Input, sources: &[Source]) -> Result<Previews, PresentError> {
    let address = input.repository.as_deref().and_then(published);
    let (Some(gnuplot), Some(address)) = (&input.gnuplot, address) else {
        return Ok(Previews::default());
    };
    let site = of_site(&input.followed.trend.groups, sources);
    let series = sources.iter().flat_map(|source| &source.series);
    let wanted: Vec<Picture> = site
        .into_iter()
        .chain(series.filter_map(of_series).take(MOST))
        .collect();
    let folder = gnuplot::scripts()?;
    let script = folder.path().join("step.gnuplot");
    let place = |picture: &Picture, ending: &str| format!("previews/{}.{ending}", picture.name);
    let drawn = wanted.par_iter().map(|picture| {
        let (data, png) = (writer.path(&place(picture, "tsv")), writer.path(&place(picture, "png")));
        // The data name the picture's words too: what is the same was drawn by an earlier build.
        if png.is_file() && fs::read(&data).is_ok_and(|before| before == picture.data.as_bytes()) {
            return Ok(());
        }
        gnuplot::write(&data, &picture.data)?;
        gnuplot::draw(gnuplot, &script, [&data, &png], [&picture.title, &picture.unit])
    });
    drawn.collect::<Result<Vec<()>, _>>()?;
    let mut previews = Previews::default();
    for picture in &wanted {
        writer.keep(&place(picture, "tsv"));
        writer.keep(&place(picture, "png"));
        previews.insert(picture.name.clone(), format!("{address}{}", place(picture, "png")));
    }
    Ok(previews)
}

/// The name of the site's picture, which no page of a series has: it has a capital. The picture shows the newest open regression,
/// else the newest change.
pub(super) const SITE: &str = "Site";

/// The largest step of the newest open regression, else of the newest change.
fn of_site(groups: &[Group], sources: &[Source]) -> Option<Picture> {
    let newest = groups
        .iter()
        .max_by_key(|group| (group.open, seconds(&group.first_after)))?;
    let source = sources.iter().find(|source| source.line.source == newest.source)?;
    let first = newest.steps.first()?;
    let is_first = |drawn: &&Drawn| (&drawn.trace.series, drawn.trace.metric) == (&first.series, first.metric);
    let drawn = source.metrics().find(is_first)?;
    let moved: Vec<Moved> = moved(newest);
    let last = &newest.first_after;
    let since = since(last.message.as_deref().unwrap_or_default(), short_commit(&last.commit));
    let title = match answer(&moved, &since) {
        text if text.is_empty() => sentence(&moved),
        text => text,
    };
    picture(SITE, &name(&title), drawn, |point| {
        point.first_after.commit == newest.first_after.commit
    })
}

/// The newest step of the series' first metric that stepped in its newest segment.
fn of_series(series: &Series) -> Option<Picture> {
    let segments = series.metrics.iter().map(|drawn| (drawn, drawn.trace.segments.last()));
    let mut steps = segments.filter_map(|(drawn, newest)| Some((drawn, newest?.change_points.last()?)));
    let (drawn, newest) = steps.next()?;
    let title = format!(
        "{}: {}{}",
        series.name.replace('@', " · "),
        drawn.what(),
        change(newest.change_percent)
    );
    picture(&series.page, &name(&title), drawn, |point| point == newest)
}

fn picture(file: &str, title: &str, drawn: &Drawn, wanted: impl Fn(&ChangePoint) -> bool) -> Option<Picture> {
    let segments = drawn.trace.segments.iter();
    let mut steps = segments.flat_map(|segment| segment.change_points.iter().map(move |point| (segment, point)));
    let (segment, point) = steps.rfind(|(_, point)| wanted(point))?;
    let (step, (first, last)) = (point.places.first_after, segment.places);
    let values = drawn.values.judged();
    let from = step.saturating_sub(AROUND.0).max(first);
    let end = (step + AROUND.1).min(last + 1).min(values.len());
    let before = level(values.get(from..step)?)?;
    let percent = |value: f64| (value / before - 1.0) * 100.0;
    let after = percent(level(values.get(step..end)?)?);
    let phase = match point.direction {
        Direction::Worse => 1,
        Direction::Better => 2,
        Direction::Unknown => 3,
    };
    let direction = match drawn.direction() {
        "" => String::new(),
        direction => format!(" ({direction})"),
    };
    let series = name(&drawn.trace.series).replace('@', " · ");
    let unit = format!("{}{series}: change in %{direction}", drawn.what());
    let mut data = format!("place\tchange\tphase\tlevel of: {title}; {unit}\n");
    for (place, value) in values.iter().enumerate().take(end).skip(from) {
        let (phase, level) = if place < step { (0, 0.0) } else { (phase, after) };
        let _ = writeln!(data, "{place}\t{:.4}\t{phase}\t{level:.4}", percent(*value));
    }
    Some(Picture {
        name: file.to_owned(),
        title: title.to_owned(),
        unit,
        data,
    })
}

/// The median of those that are values.
fn level(values: &[f64]) -> Option<f64> {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    median(&known)
}
