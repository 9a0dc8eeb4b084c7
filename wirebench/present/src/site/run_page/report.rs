//! `report.html`: a run, and what it says of its baseline, in one file that needs no network.

use std::collections::BTreeMap;

use askama::Template;

use crate::site::compare;
use crate::site::run_page::View;
use crate::site::shown::name;
use wirebench_record::comparison::Comparison;
use wirebench_record::run::Run;

/// The look of the site's pages, carried along.
const STYLE: &str = concat!(
    include_str!("../../../../../site/assets/base.css"),
    include_str!("../../../../../site/assets/run.css"),
    include_str!("../../../../../site/assets/compare.css"),
);

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: String,
    view: View<'a>,
    compared: Option<compare::View<'a>>,
}

/// The report of a run; its comparison, when it has one, comes first.
///
/// # Errors
/// When the template cannot be rendered.
pub fn report(run: &Run, comparison: Option<&Comparison>) -> Result<String, askama::Error> {
    let view = View::of(run, None);
    let no_flames = BTreeMap::new();
    let compared = comparison.map(|comparison| compare::View::of(comparison, None, &no_flames));
    let id = name(&run.id);
    let title = match &compared {
        Some(compared) => format!("{}, run {id}", compared.shared.verdict),
        None => format!("Run {id}"),
    };
    Page { title, view, compared }.render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;
    use wirebench_testing::golden;

    #[test]
    fn a_report_is_one_file_with_the_comparison_first() {
        let run = samples::reference();
        let page = report(&run, Some(&golden("mixed"))).unwrap();
        crate::site::well_formed::check(&page).unwrap();
        assert!(page.find("✗ Regressed").unwrap() < page.find("Can I trust this measurement").unwrap());
        for outside in [
            "src=\"",
            "<link",
            "<script",
            "url(",
            "@import",
            "href=\"http",
            "href=\"../",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"));
        assert!(page.contains("--ground:") && page.contains("All 78 rounds of 26 series passed every check."));
    }

    #[test]
    fn every_golden_comparison_fits_into_a_report() {
        for name in [
            "accepted",
            "added-removed",
            "counted-refused",
            "counted-regressed",
            "invalid",
            "unpaired",
        ] {
            crate::site::well_formed::check(&report(&samples::reference(), Some(&golden(name))).unwrap()).unwrap();
        }
    }

    #[test]
    fn hostile_names_stay_names() {
        let mut run = samples::reference();
        samples::with_counts(&mut run);
        samples::poison(&mut run);
        run.id = samples::NASTY.into();
        samples::assert_inert(&report(&run, None).unwrap());
    }
}
