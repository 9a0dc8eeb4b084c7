//! A run's page: can this measurement be trusted? Every round as a mark, and everything that is needed to repeat the run.

mod counts;
mod report;
mod rounds;

use std::collections::BTreeSet;

use askama::Template;

pub use self::report::report;
use crate::report::cells;
use crate::report::format::plural;
use crate::site::frame::{Frame, Site};
use crate::site::run_list;
use crate::site::shown::{is_id, name};
use crate::site::trust::{Trust, reasons, trust};
use wirebench_judge::summary::quality::{Tally, outcome};
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
        frame: site.frame(&format!("Run {}", name(&run.id)), "../", run_list::PAGE.path),
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
    site: Option<&'a Site<'a>>,
    trust: Trust,
    /// Why rounds are not good: how often, and the reason.
    reasons: Vec<(String, String)>,
    /// The timed series of each scenario, after the number of series before them.
    sections: Vec<(usize, Section<'a>)>,
    counted: Vec<&'a Series>,
    /// The variants that have rounds.
    variants: BTreeSet<Variant>,
}

impl<'a> View<'a> {
    fn of(run: &'a Run, site: Option<&'a Site<'a>>) -> Self {
        let rounds = run.series.iter().flat_map(|series| &series.rounds);
        let mut number = 0;
        let numbered = |section: Section<'a>| {
            let before = number;
            number += section.rows.len();
            (before, section)
        };
        Self {
            run,
            site,
            trust: trust(run),
            reasons: reasons(&Tally::of(&[run]), 10),
            sections: sections(run).into_iter().map(numbered).collect(),
            counted: counted(run).collect(),
            variants: rounds.map(|round| round.variant).collect(),
        }
    }

    fn rounds(&self) -> String {
        plural(self.run.rounds_planned as usize, "round")
    }
}

/// The shape of a variant's marks.
const fn shape(variant: Variant) -> &'static str {
    match variant {
        Variant::Baseline => "■",
        Variant::Candidate => "●",
        Variant::Reference => "◆",
        Variant::Null => "□",
    }
}

/// How many rounds of a series passed every check: `3 of 3`.
fn good(series: &Series) -> String {
    let passed = series.rounds.iter().filter(|round| round.status == RoundStatus::Ok);
    format!("{} of {}", passed.count(), series.rounds.len())
}

/// The note on a series, and how many of its rounds were dropped.
fn note(row: &Row) -> String {
    let note = row.note();
    match row
        .series
        .rounds
        .iter()
        .filter(|round| outcome(round) == "dropped")
        .count()
    {
        0 => note,
        dropped if note.is_empty() => format!("{dropped} dropped"),
        dropped => format!("{note}, {dropped} dropped"),
    }
}

/// The cells of a series of a section in the table at the top: label and value, empty where there is none.
fn figures(row: &Row, section: &Section) -> [(&'static str, String); 5] {
    let is_loaded = section.rows.iter().any(Row::has_load);
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
        _ if !is_loaded && label != "p50" => (label, String::new()),
        _ => (label, cell),
    })
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
