//! A run's page: can this measurement be trusted? Every round as a mark, and everything that is needed to repeat the run.

mod counts;
mod report;
mod rounds;

use std::collections::BTreeSet;

use askama::Template;

pub use self::report::report;
use crate::report::format::{count, plural, time};
use crate::report::pacing::offered;
use crate::report::{cells, status};
use crate::site::frame::{Frame, Revision, Site};
use crate::site::run_list;
use crate::site::run_page::counts::Counted;
use crate::site::shown::{is_id, name, sentence};
use crate::site::trust::{Trust, reasons, trust};
use wirebench_judge::summary::quality::{Tally, errors_by_kind, outcome};
use wirebench_judge::summary::{Row, Section, counted, sections};
use wirebench_record::metric::Metric;
use wirebench_record::run::{RoundStatus, Run, Series, Variant};

#[derive(Template)]
#[template(path = "run.html")]
struct Page<'a> {
    frame: Frame<'a>,
    view: View<'a>,
    /// The id, where files and pages may be named by it.
    file: Option<String>,
    compared: bool,
}

/// The page `run/<id>.html`; `compared` says that `compare/<id>.html` exists too.
///
/// # Errors
/// When the template cannot be rendered.
pub(super) fn render(run: &Run, site: &Site, compared: bool) -> Result<String, askama::Error> {
    let view = View::of(run, Some(site));
    Page {
        frame: site.frame(&format!("Run {}", view.id), "../", run_list::PAGE.path),
        file: is_id(&run.id).then(|| run.id.clone()),
        view,
        compared,
    }
    .render()
}

/// Everything on the page but its frame.
#[derive(Debug)]
struct View<'a> {
    run: &'a Run,
    id: String,
    trust: Trust,
    status: &'static str,
    /// Of each variant its name and code.
    revisions: Vec<(&'static str, Revision)>,
    /// Why rounds are not good: how often, and the reason.
    reasons: Vec<(String, String)>,
    sections: Vec<SectionView<'a>>,
    counted: Vec<Counted>,
    /// The variant of each shape of mark.
    legend: Vec<(&'static str, &'static str)>,
}

/// The timed series of one scenario.
#[derive(Debug)]
struct SectionView<'a> {
    scenario: String,
    about: String,
    series: Vec<SeriesView<'a>>,
}

/// One timed series.
#[derive(Debug)]
struct SeriesView<'a> {
    row: Row<'a>,
    /// The place that links lead to.
    anchor: String,
    id: String,
    status: &'static str,
    /// Its check mark: class, shape and word.
    check: (&'static str, &'static str),
    reason: String,
    /// `3 of 3`.
    good: String,
    /// Its cells in the table at the top: label and value, empty where there is none.
    figures: [(&'static str, String); 5],
    note: String,
    command: String,
}

impl<'a> View<'a> {
    fn of(run: &'a Run, site: Option<&Site>) -> Self {
        let rounds = run.series.iter().flat_map(|series| &series.rounds);
        let variants: BTreeSet<Variant> = rounds.map(|round| round.variant).collect();
        let mut number = 0;
        let mut sections: Vec<SectionView> = Vec::new();
        for section in self::sections(run) {
            sections.push(SectionView::of(&section, &mut number));
        }
        Self {
            run,
            id: name(&run.id),
            trust: trust(run),
            status: status::of_run(run.status),
            revisions: run
                .variants
                .iter()
                .map(|one| (one.variant.name(), Revision::of(Some(one), site)))
                .collect(),
            reasons: reasons(&Tally::of(&[run]), 10),
            sections,
            counted: counted(run)
                .enumerate()
                .map(|(place, series)| Counted::of(series, place))
                .collect(),
            legend: variants.into_iter().map(mark).collect(),
        }
    }

    fn rounds(&self) -> String {
        plural(self.run.rounds_planned as usize, "round")
    }
}

/// A variant's name and the shape of its marks.
const fn mark(variant: Variant) -> (&'static str, &'static str) {
    let shape = match variant {
        Variant::Baseline => "■",
        Variant::Candidate => "●",
        Variant::Reference => "◆",
        Variant::Null => "□",
    };
    (variant.name(), shape)
}

impl<'a> SectionView<'a> {
    fn of(section: &Section<'a>, number: &mut usize) -> Self {
        let start_up = !section.rows.iter().any(Row::has_load);
        let about = (section.rows.first()).map_or(String::new(), |row| offered(&row.series.load));
        let series = (section.rows.iter())
            .map(|row| {
                *number += 1;
                SeriesView::of(row, *number, start_up)
            })
            .collect();
        Self {
            scenario: name(section.scenario),
            about,
            series,
        }
    }
}

impl<'a> SeriesView<'a> {
    fn of(row: &Row<'a>, number: usize, start_up: bool) -> Self {
        let series = row.series;
        let rounds = &series.rounds;
        let passed = rounds.iter().filter(|round| round.status == RoundStatus::Ok).count();
        let dropped = rounds.iter().filter(|round| outcome(round) == "dropped").count();
        let (status, check) = status::of_series(series.status);
        let mut note = vec![row.note()];
        if dropped > 0 {
            note.push(format!("{dropped} dropped"));
        }
        note.retain(|word| !word.is_empty());
        Self {
            row: row.clone(),
            anchor: format!("series-{number}"),
            id: name(&series.id),
            status,
            check,
            reason: series.reason.as_deref().map(sentence).unwrap_or_default(),
            good: format!("{passed} of {}", rounds.len()),
            figures: figures_of(row, start_up),
            note: note.join(", "),
            command: name(&shell_words::join(&series.command)),
        }
    }
}

/// The cells of a series in the table at the top.
fn figures_of(row: &Row, start_up: bool) -> [(&'static str, String); 5] {
    let median = |metric| cells::median(row, metric);
    let figures = [
        ("good answers/s", median(Metric::Throughput)),
        ("± %", cells::half_range(row)),
        ("p50", median(Metric::LatencyP50)),
        ("p99", median(Metric::LatencyP99)),
        ("server CPU/req", median(Metric::ServerCpu)),
    ];
    figures.map(|(label, cell)| match cell.as_str() {
        "–" => (label, String::new()),
        // Nothing loads the server: only the time of a start, or of an iteration, has a meaning.
        _ if start_up && label != "p50" => (label, String::new()),
        _ => (label, cell),
    })
}

/// The most frequent errors of all rounds: how often, and the kind.
fn errors(series: &Series) -> Vec<(String, String)> {
    let all = errors_by_kind(series).into_iter().take(10);
    all.map(|(kind, number)| (count(number as f64), sentence(kind)))
        .collect()
}

/// The CPU time that a self-test burnt in each request of the candidate.
fn burnt(series: &Series) -> Option<String> {
    series.injected_burn_ns.map(|ns| time(ns as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;

    #[test]
    fn the_reference_run_has_its_figures_on_its_page() {
        let run = samples::reference();
        let page = render(&run, &samples::site(), false).unwrap();
        crate::site::well_formed::check(&page).unwrap();
        assert_eq!(page.matches("class=\"panel\"").count(), 26);
        for said in [
            "Yes",
            "All 78 rounds of 26 series passed every check.",
            "wirebench run --rounds 3 --seed 20261121",
            "2 × AMD EPYC",
            "aae83024f209",
            "server on core 1, driver on core 0",
            "hey v0.1.5",
            "../data/runs/20261121T051047Z-352901.json",
            "https://github.com/octo/weather/commit/146317b1de71f6af1a108ab616c579a85fb95d9c",
        ] {
            assert!(page.contains(said), "{said}");
        }
        assert!(!page.contains("compare/20261121T051047Z-352901.html"));
        assert!(
            render(&run, &samples::site(), true)
                .unwrap()
                .contains("compare/20261121T051047Z-352901.html")
        );
    }

    #[test]
    fn a_run_with_a_baseline_and_counts_shows_both_sides_and_the_functions() {
        let mut run = samples::reference();
        samples::with_baseline(&mut run);
        samples::with_counts(&mut run);
        let page = render(&run, &samples::site(), false).unwrap();
        for said in [
            "dots baseline",
            "16,148 ± 12.1",
            "spread 3 % is above 0.5 %",
            "recvfrom",
            "part_9",
            "no symbols",
        ] {
            assert!(page.contains(said), "{said}");
        }
        assert!(!page.contains("part_10"), "the ten costliest functions");
    }

    #[test]
    fn hostile_names_stay_names() {
        let mut run = samples::reference();
        samples::with_baseline(&mut run);
        samples::with_counts(&mut run);
        samples::poison(&mut run);
        samples::assert_inert(&render(&run, &samples::site(), true).unwrap());
        run.id = samples::NASTY.into();
        let page = render(&run, &samples::site(), true).unwrap();
        samples::assert_inert(&page);
        assert!(!page.contains("../data/runs/"), "no link is made of what is no id");
    }

    #[test]
    fn a_run_of_nothing_says_so() {
        let mut run = samples::reference();
        run.series.clear();
        let page = render(&run, &samples::site(), false).unwrap();
        assert!(page.contains("Nothing was measured."), "{page}");
    }
}
