//! The page of a comparison: is the candidate different from the baseline beyond noise? The verdict, every effect with its
//! interval, and the functions behind a counted change.

mod picture;

use std::collections::BTreeMap;

use askama::Template;

use crate::report::comparison::view::{Explained, View as Shared};
use crate::report::comparison::{facts, rows};
use crate::report::format::{change, size};
use crate::site::frame::{Frame, Revision, Site};
use crate::site::run_list;
use crate::site::shown::{HTML, is_id};
use crate::site::svg::Markup;
use wirebench_judge::summary::comparison::{Row, RowStatus};
use wirebench_record::comparison::Comparison;

#[derive(Template)]
#[template(path = "compare.html")]
struct Page<'a> {
    frame: Frame<'a>,
    compared: View<'a>,
    /// The run's id, where its page may be named by it.
    run: Option<String>,
}

/// The page `compare/<run id>.html`. `flames` leads from a comparison's `flame_graph` to where that picture was copied,
/// relative to this page; a graph that is not in it is not linked.
///
/// # Errors
/// When the template cannot be rendered.
pub(super) fn render(
    comparison: &Comparison,
    run_id: &str,
    site: &Site,
    flames: &BTreeMap<String, String>,
) -> Result<String, askama::Error> {
    let compared = View::of(comparison, Some(site), flames);
    Page {
        frame: site.frame(
            &format!("{}: {}", compared.sides(), compared.shared.verdict),
            "../",
            run_list::PAGE.path,
        ),
        compared,
        run: is_id(run_id).then(|| run_id.to_owned()),
    }
    .render()
}

// Comparison → its page: the shared view of the comparison, with links, colours and the picture of all effects.

/// Changed rows that are seen at once; the others are folded.
const OPEN: usize = 5;

/// Everything on the page but its frame.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// Its sentences and rows.
    pub(crate) shared: Shared<'a>,
    /// Baseline and candidate.
    pub(crate) sides: [Revision; 2],
    /// How many effects have each standing: number, standing and word.
    pub(crate) strip: Vec<(usize, RowStatus, &'static str)>,
    /// Every effect in one picture.
    pub(crate) picture: Option<Markup>,
    /// Effects that changed or may have changed, the worst first.
    pub(crate) changed: Vec<Line<'a>>,
    /// Effects that did not change.
    pub(crate) unchanged: Vec<Line<'a>>,
    /// Where the flame graphs were copied to.
    flames: &'a BTreeMap<String, String>,
}

/// One effect.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) shared: rows::Line<'a>,
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

impl<'a> View<'a> {
    pub(crate) fn of(comparison: &'a Comparison, site: Option<&Site>, flames: &'a BTreeMap<String, String>) -> Self {
        let mut shared = Shared::of(comparison, HTML);
        let lines: Vec<rows::Line> = shared.gating.drain(..).chain(shared.informative.drain(..)).collect();
        let mut sorted: Vec<Row> = lines.iter().map(|line| line.row).collect();
        sorted.sort_by_key(|row| row.status);
        let alt = format!(
            "Every effect with its 95 % interval, a row for each metric: {}.",
            facts::tally(&sorted)
        );
        let picture = picture::draw(&sorted, &alt);
        let (unchanged, changed) =
            (lines.into_iter()).partition(|line: &rows::Line| line.row.status == RowStatus::Unchanged);
        Self {
            sides: [&comparison.baseline, &comparison.candidate].map(|side| Revision::of(Some(&side.revision), site)),
            strip: facts::counts(&sorted),
            picture,
            changed: with_links(changed, site),
            unchanged: with_links(unchanged, site),
            flames,
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

    /// The changed rows that are seen at once, and those that are folded.
    pub(crate) fn open_and_folded(&self) -> (&[Line<'a>], &[Line<'a>]) {
        self.changed.split_at(self.changed.len().min(OPEN))
    }

    /// `main → HEAD`.
    pub(super) fn sides(&self) -> String {
        let [baseline, candidate] = &self.sides;
        format!("{} → {}", baseline.called(), candidate.called())
    }
}

/// The rows with their links. A remark that several rows in a row share is shown once.
fn with_links<'a>(lines: Vec<rows::Line<'a>>, site: Option<&Site>) -> Vec<Line<'a>> {
    let mut before = String::new();
    let line = |shared: rows::Line<'a>| {
        let row = shared.row;
        let is_said = matches!(row.status, RowStatus::Regressed | RowStatus::Improved) && row.metric.is_some();
        let remark = if is_said { String::new() } else { shared.reason.clone() };
        let href = site
            .and_then(|site| site.series_page(&row.series.id))
            .map(|page| match row.metric {
                Some(metric) => format!("../{page}?metric={}", metric.metric.name()),
                None => format!("../{page}"),
            });
        let is_new = std::mem::replace(&mut before, remark.clone()) != remark;
        Line {
            remark: if is_new { remark } else { String::new() },
            href,
            shared,
        }
    };
    lines.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::comparison::headline;
    use crate::site::samples;
    use wirebench_record::counts::Source;
    use wirebench_record::reason::{MetricReason, Note, SeriesReason};
    use wirebench_testing::golden;

    const ALL: [&str; 16] = [
        "accepted",
        "added-removed",
        "counted-refused",
        "counted-regressed",
        "counted-unchanged",
        "improved",
        "inconclusive",
        "invalid",
        "mixed",
        "regressed",
        "unchanged",
        "unpaired",
        "not-judged",
        "same-program",
        "improved-but-worse",
        "new-call",
    ];

    fn page(name: &str) -> String {
        render(
            &golden(name),
            "20261121T051047Z-352901",
            &samples::site(),
            &BTreeMap::new(),
        )
        .unwrap()
    }

    #[test]
    fn every_kind_of_comparison_has_its_page() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/golden/comparison");
        let files = std::fs::read_dir(folder).unwrap().flatten();
        let reviewed = files
            .filter(|file| file.path().extension().is_some_and(|end| end == "json"))
            .count();
        assert_eq!(reviewed, ALL.len(), "each is tried here");
        for name in ALL {
            let comparison = golden(name);
            let page = page(name);
            crate::site::well_formed::check(&page).unwrap();
            let metrics: usize = (comparison.series.iter())
                .filter(|series| series.presence == wirebench_record::comparison::Presence::Both)
                .map(|series| series.metrics.len())
                .sum();
            let rows = page.matches("class=\"effect\"").count();
            assert!(rows >= metrics, "{name}: {rows} of {metrics} metrics");
            let headline = headline::verdict(&comparison);
            assert!(page.contains(&headline), "{name}: {headline}");
        }
    }

    #[test]
    fn verdicts_read_as_in_the_comment_and_their_numbers_too() {
        let page = page("mixed");
        for said in [
            "✗ Regressed",
            "✗ regressed",
            "? inconclusive",
            "~ accepted",
            "✓ improved",
            "! invalid",
            "× 2.4",
            "37.5 µs",
        ] {
            assert!(page.contains(said), "{said}");
        }
        assert!(page.find("Before trusting it").unwrap() < page.find("class=\"effect\"").unwrap());
        assert!(
            page.contains("### wirebench: ✗ Regressed"),
            "the Markdown that is copied"
        );
    }

    #[test]
    fn a_flame_graph_is_linked_only_where_it_was_copied_to() {
        let comparison = golden("counted-regressed");
        let path = "flames/count-weather@http@hey/instructions-difference.svg";
        let with = |flames: &BTreeMap<String, String>| render(&comparison, "x", &samples::site(), flames).unwrap();
        assert!(!with(&BTreeMap::new()).contains("href=\"../data/flames/a.svg\""));
        let copied = BTreeMap::from([(path.to_owned(), "../data/flames/a.svg".to_owned())]);
        assert!(with(&copied).contains("href=\"../data/flames/a.svg\""));
        assert!(with(&copied).contains("server_runtime::waste::spin"));
    }

    #[test]
    fn hostile_text_stays_text() {
        let mut comparison = golden("counted-regressed");
        let nasty = || samples::NASTY.to_owned();
        comparison.notes = vec![Note::Text { text: nasty() }];
        comparison.baseline.revision.name = Some(nasty());
        comparison.candidate.revision.commit = Some(nasty());
        comparison.candidate.run = nasty();
        comparison.host.cpu_model = Some(nasty());
        comparison.repeat = nasty();
        comparison.method.gates = Some(nasty());
        for series in &mut comparison.series {
            (series.id, series.scenario, series.reason) =
                (nasty(), nasty(), Some(SeriesReason::Text { text: nasty() }));
            series.functions.iter_mut().for_each(|function| {
                function.function = nasty();
                function.caller = Some(nasty());
                function.source = Some(Source::at(nasty(), 7));
            });
            for metric in &mut series.metrics {
                (metric.reason, metric.unit) = (MetricReason::Text { text: nasty() }, nasty());
                metric.accepted = Some(nasty());
                metric.flame_graph = Some(nasty());
                metric.effect_percent = Some(f64::MAX);
            }
        }
        let page = render(&comparison, &nasty(), &samples::site(), &BTreeMap::new()).unwrap();
        samples::assert_inert(&page);
        assert!(!page.contains("run/&#60;"), "no link is made of what is no id");
    }
}
