//! The page of one series: when did it change, and by how much?

use askama::Template;

use crate::report::format::{change, plural, three_digits};
use crate::report::trend::{TOO_NOISY, kinds};
use crate::site::frame::{Frame, Site, commit_url, pull_url};
use crate::site::gather::{Drawn, Series, Source, day};
use crate::site::preview::SITE;
use wirebench_record::run::short_commit;
use wirebench_record::trend::Push;

/// Rows of the table of commits.
const NEWEST: usize = 20;

#[derive(Template)]
#[template(path = "series.html")]
struct Page<'a> {
    frame: Frame<'a>,
    source: &'a Source<'a>,
    series: &'a Series<'a>,
    first: &'a Drawn<'a>,
    others: &'a [Drawn<'a>],
    /// What the page says of the first metric.
    fact: String,
    /// Whether the messages of commits are known.
    messages: bool,
}

struct Commit<'a> {
    push: &'a Push,
    url: Option<String>,
    /// Where the pull request is shown that the message names.
    pull: Option<String>,
    value: String,
    ratio: String,
    failure: &'a str,
    provisional: bool,
}

/// The page `series/<page>.html`.
///
/// # Errors
/// When the template cannot be rendered.
pub(super) fn render(site: &Site, source: &Source, series: &Series) -> Result<String, askama::Error> {
    let Some((first, others)) = series.metrics.split_first() else {
        return Ok(String::new());
    };
    Page {
        frame: Frame {
            image: (site.previews.get(&series.page)).or(site.previews.get(SITE)),
            ..site.frame(series.name, "../", "")
        },
        source,
        series,
        first,
        others,
        fact: fact(source, first),
        messages: source.line.pushes.iter().any(|push| push.message.is_some()),
    }
    .render()
}

/// Unit, direction, and what a point is.
fn caption(source: &Source, drawn: &Drawn) -> String {
    let unit = match (drawn.trace.metric, drawn.trace.unit.as_str()) {
        (None, "") => "No unit given".to_owned(),
        (_, unit) => unit.to_owned(),
    };
    let direction = match drawn.direction() {
        "" => "nothing says which way is better".to_owned(),
        direction => direction.to_owned(),
    };
    let point = match (drawn.trace.metric, &drawn.reference) {
        (None, _) => "A point is one run's value.".to_owned(),
        (Some(metric), _) if metric.is_counted() => {
            "A point is what was counted in one run; whiskers are its spread.".to_owned()
        }
        (Some(_), Some(reference)) => format!(
            "A point is the median over one run's rounds, as a ratio to {reference} measured beside it; whiskers are its 95 % interval."
        ),
        (Some(_), None) => {
            "A point is the median over one run's good rounds; whiskers are its 95 % interval.".to_owned()
        }
    };
    let runs = format!("{}.", plural(source.timeline.pushes, "run"));
    match drawn.trace.metric {
        Some(_) => format!("{}, {unit} ({direction}). {point} {runs}", drawn.label),
        None => format!("{unit} ({direction}). {point} {runs}"),
    }
}

/// The page's fact, one or two sentences.
fn fact(source: &Source, drawn: &Drawn) -> String {
    let value = drawn.newest();
    let verdict = drawn.verdict();
    let since = since(source, drawn);
    let change = match drawn.stands.change {
        Some(_) => format!(
            "{verdict}: {}{} since {since}, now {value}.",
            drawn.what(),
            drawn.change()
        ),
        None => format!("{verdict}: {}{value}, no step since {since}.", drawn.what()),
    };
    let noise = drawn.trace.segments.last().and_then(|segment| segment.noise.as_ref());
    let noise = match noise.map(kinds).unwrap_or_default().join(", ") {
        kinds if kinds.is_empty() => kinds,
        kinds => format!(" Its noise: {kinds}."),
    };
    let seen = match drawn.resolvable() {
        Some(percent) if percent > TOO_NOISY => " It is too noisy to judge.".to_owned(),
        Some(percent) => format!(
            " Steps from {} % on would be seen within five pushes.",
            three_digits(percent)
        ),
        None => String::new(),
    };
    let remark = match drawn.remark() {
        text if text.is_empty() => text,
        text => format!(" {text}."),
    };
    format!("{change}{remark}{seen}{noise}")
}

/// Since when the newest level holds: since the oldest open regression, as on the overview, else since the mark.
fn since(source: &Source, drawn: &Drawn) -> String {
    let oldest = drawn.trace.change_points().find(|step| step.open);
    oldest.map_or_else(|| source.mark.name.clone(), |step| commit_and_day(&step.first_after))
}

fn commit_and_day(push: &Push) -> String {
    format!("{} ({})", short_commit(&push.commit), day(push))
}

fn breaks(drawn: &Drawn) -> Vec<(String, String)> {
    let broken = drawn.trace.segments.iter().filter_map(|segment| {
        let why = segment.broken_by.clone()?;
        Some((commit_and_day(&segment.first), why))
    });
    broken.collect()
}

fn commits<'a>(site: &Site, source: &'a Source, drawn: &'a Drawn) -> Vec<Commit<'a>> {
    let places = (0..source.line.pushes.len()).rev();
    let repository = site.repository_of(source.line);
    let row = |place: usize| {
        let push = &source.line.pushes[place];
        let number = |row: &[f64]| row.get(place).copied().filter(|value| value.is_finite());
        let failure = drawn.values.failures.iter().find(|(at, _)| *at == place);
        let value = number(&drawn.values.values);
        (value.is_some() || failure.is_some()).then(|| Commit {
            push,
            url: repository.and_then(|repository| commit_url(repository, &push.commit)),
            pull: repository.and_then(|repository| pull_url(repository, push.message.as_deref()?)),
            value: value.map_or_else(|| "–".into(), |value| with_half(drawn, place, drawn.text(value))),
            ratio: number(&drawn.values.ratios).map_or_else(|| "–".into(), |ratio| change(100.0 * (ratio - 1.0))),
            failure: failure.map_or("", |(_, why)| why),
            provisional: source.line.provisional.contains(&place),
        })
    };
    places.filter_map(row).take(NEWEST).collect()
}

fn with_half(drawn: &Drawn, place: usize, text: String) -> String {
    match drawn.values.half_permille.get(place).filter(|half| half.is_finite()) {
        Some(half) if *half > 0.0 => format!("{text} ± {} %", three_digits(half / 10.0)),
        _ => text,
    }
}

/// How many values of an imported series cannot be measurements.
fn unsound(series: &Series) -> Option<String> {
    let imported = series.metrics.iter().filter(|drawn| drawn.trace.metric.is_none());
    let count: usize = imported.map(|drawn| drawn.values.failures.len()).sum();
    (count > 0).then(|| {
        format!(
            "{} of this series no measurement can be read from, or far off and alone: kept, marked in the chart, and not judged.",
            plural(count, "value")
        )
    })
}
