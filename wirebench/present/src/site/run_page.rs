//! A run's page: can this measurement be trusted? Every round as a mark, and everything that is needed to repeat the run.

mod counts;
mod dots;
mod report;
mod rounds;
mod view;

use askama::Template;

pub use self::report::report;
use self::view::View;
use crate::site::frame::{Frame, Site};
use crate::site::run_list;
use crate::site::shown::is_id;
use wirebench_record::run::Run;

#[derive(Template)]
#[template(path = "run.html")]
struct Page {
    frame: Frame,
    view: View,
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
        frame: site.frame_below(&format!("Run {}", view.id), run_list::PAGE.path),
        file: is_id(&run.id).then(|| run.id.clone()),
        view,
        compared,
    }
    .render()
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
