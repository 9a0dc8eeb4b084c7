//! Comparison → its page: the shared view of the comparison, with links, colours and the picture of all effects.

use std::collections::BTreeMap;

use crate::report::comparison::rows;
use crate::report::comparison::view::{Explained, View as Shared};
use crate::report::comparison::{facts, headline, markdown};
use crate::report::percent::{change, size};
use crate::site::compare::colour::class;
use crate::site::compare::picture;
use crate::site::frame::Site;
use crate::site::revision::Revision;
use crate::site::shown::HTML;
use crate::site::svg::Picture;
use wirebench_judge::summary::comparison::{Row, RowStatus};
use wirebench_record::comparison::Comparison;

/// Changed rows that are seen at once; the others are folded.
const OPEN: usize = 5;

/// Everything on the page but its frame.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// Its sentences and rows.
    pub(crate) shared: Shared<'a>,
    pub(crate) class: &'static str,
    /// Baseline and candidate.
    pub(crate) sides: [Revision; 2],
    pub(crate) one_run: bool,
    /// How many effects have each standing: class, number and word.
    pub(crate) strip: Vec<(&'static str, usize, &'static str)>,
    /// Every effect in one picture.
    pub(crate) picture: Option<Picture>,
    /// Effects that changed or may have changed, the worst first.
    pub(crate) changed: Vec<Line<'a>>,
    /// Effects that did not change.
    pub(crate) unchanged: Vec<Line<'a>>,
    /// Where the flame graphs were copied to.
    flames: &'a BTreeMap<String, String>,
    pub(crate) markdown: String,
}

/// One effect.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) shared: rows::Line<'a>,
    pub(crate) class: &'static str,
    /// The reason, where verdict and numbers do not show it already and the row above has another one.
    pub(crate) remark: String,
    /// The page of its series.
    pub(crate) href: Option<String>,
}

impl Line<'_> {
    fn effect(&self) -> Option<f64> {
        self.shared.row.metric?.effect_percent
    }

    /// Its change without the interval.
    pub(crate) fn number(&self) -> String {
        self.effect().map_or_else(String::new, change)
    }
}

/// Where commits and series are shown.
#[derive(Clone, Copy)]
pub(crate) struct Links<'a> {
    /// The site whose commits are linked; none for a page that stands alone.
    pub(crate) site: Option<&'a Site>,
    /// The page of a series, from the comparison's page.
    pub(crate) series: &'a dyn Fn(&str) -> Option<String>,
}

impl Links<'_> {
    /// No links, for a page that stands alone.
    pub(crate) const NONE: Self = Self {
        site: None,
        series: &|_| None,
    };
}

impl<'a> View<'a> {
    pub(crate) fn of(comparison: &'a Comparison, links: Links, flames: &'a BTreeMap<String, String>) -> Self {
        let mut shared = Shared::of(comparison, HTML);
        let lines: Vec<rows::Line> = shared.gating.drain(..).chain(shared.informative.drain(..)).collect();
        let all: Vec<&Row> = lines.iter().map(|line| &line.row).collect();
        let mut sorted: Vec<Row> = lines.iter().map(|line| line.row).collect();
        sorted.sort_by_key(|row| row.status);
        let alt = format!(
            "Every effect with its 95 % interval, a row for each metric: {}.",
            facts::tally(&sorted)
        );
        let picture = picture::draw(&all, &alt);
        let (unchanged, changed) =
            (lines.into_iter()).partition(|line: &rows::Line| line.row.status == RowStatus::Unchanged);
        Self {
            class: class(headline::status(comparison)),
            sides: [&comparison.baseline, &comparison.candidate]
                .map(|side| Revision::of(Some(&side.revision), links.site)),
            one_run: comparison.paired,
            strip: (facts::counts(&sorted).into_iter())
                .map(|(number, standing, word)| (class(standing), number, word))
                .collect(),
            picture,
            changed: with_links(changed, links),
            unchanged: with_links(unchanged, links),
            flames,
            markdown: markdown::render(comparison),
            shared,
        }
    }

    /// The differential flame graphs that were copied, each with the counted change that it explains.
    pub(crate) fn flame_graphs(&self) -> Vec<(&String, &Explained<'a>)> {
        let explained = self.shared.explained.iter();
        let graph = |part: &Explained| self.flames.get(part.flame_graph?);
        explained.filter_map(|part| Some((graph(part)?, part))).collect()
    }

    /// The change that the page leads with: the worst one, if any is certain.
    pub(crate) fn worst(&self) -> Option<&Line<'a>> {
        let is_certain = |line: &&Line| matches!(line.shared.row.status, RowStatus::Regressed | RowStatus::Improved);
        self.changed
            .iter()
            .filter(is_certain)
            .find(|line| line.effect().is_some())
    }

    /// The function that causes most of a counted worst change.
    pub(crate) fn function(&self) -> Option<&String> {
        self.worst().filter(|line| line.shared.row.is_counted())?;
        Some(&self.shared.explained.first()?.functions.first()?[0])
    }

    /// The largest change among the unchanged effects; none if one of them has no estimate.
    pub(crate) fn unchanged_within(&self) -> Option<String> {
        let effects: Option<Vec<f64>> = self.unchanged.iter().map(Line::effect).collect();
        let most = effects?.into_iter().map(f64::abs).reduce(f64::max)?;
        Some(size(most))
    }

    /// The changed rows that are seen at once.
    pub(crate) fn first_changed(&self) -> &[Line<'a>] {
        &self.changed[..self.changed.len().min(OPEN)]
    }

    /// The changed rows that are folded.
    pub(crate) fn more_changed(&self) -> &[Line<'a>] {
        &self.changed[self.changed.len().min(OPEN)..]
    }

    /// How it was judged, each fact under its name.
    pub(crate) fn method(&self) -> Vec<(&'static str, &String)> {
        let shared = &self.shared;
        let facts = [
            ("machine", Some(&shared.machine)),
            ("programs", shared.tools.as_ref()),
            ("spread c", shared.spreads.as_ref()),
            ("pairs left out", shared.dropped.as_ref()),
            ("check", shared.check.as_ref()),
            ("method", shared.method.as_ref()),
            ("gates", shared.gates.as_ref()),
        ];
        facts
            .into_iter()
            .filter_map(|(name, fact)| Some((name, fact?)))
            .collect()
    }

    /// `main → HEAD`.
    pub(super) fn sides(&self) -> String {
        let [baseline, candidate] = &self.sides;
        format!("{} → {}", baseline.called(), candidate.called())
    }
}

/// The rows with their links. A remark that several rows in a row share is shown once.
fn with_links<'a>(lines: Vec<rows::Line<'a>>, links: Links) -> Vec<Line<'a>> {
    let mut before = String::new();
    let line = |shared: rows::Line<'a>| {
        let row = shared.row;
        let is_said = matches!(row.status, RowStatus::Regressed | RowStatus::Improved) && row.metric.is_some();
        let remark = if is_said { String::new() } else { shared.reason.clone() };
        let href = (links.series)(&row.series.id).map(|page| match row.metric {
            Some(metric) => format!("{page}?metric={}", metric.metric.name()),
            None => page,
        });
        let is_new = std::mem::replace(&mut before, remark.clone()) != remark;
        Line {
            class: class(row.status),
            remark: if is_new { remark } else { String::new() },
            href,
            shared,
        }
    };
    lines.into_iter().map(line).collect()
}
