//! The page of a comparison: is the candidate different from the baseline beyond noise? The verdict, every effect with its
//! interval, and the functions behind a counted change.

pub(super) mod colour;
mod effects;
mod picture;
mod view;

use std::collections::BTreeMap;

use askama::Template;

pub(super) use self::view::{Links, View};
use crate::site::frame::{Frame, Site};
use crate::site::run_list;
use crate::site::shown::is_id;
use wirebench_record::comparison::Comparison;

#[derive(Template)]
#[template(path = "compare.html")]
struct Page<'a> {
    frame: Frame,
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
    let links = Links {
        site: Some(site),
        series: &|series| site.series_page(series).map(|page| format!("../{page}")),
    };
    let compared = View::of(comparison, links, flames);
    Page {
        frame: site.frame_below(
            &format!("{}: {}", compared.sides(), compared.shared.verdict),
            run_list::PAGE.path,
        ),
        compared,
        run: is_id(run_id).then(|| run_id.to_owned()),
    }
    .render()
}

#[cfg(test)]
mod tests {
    use super::*;
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
            let headline = crate::report::comparison::headline::verdict(&comparison);
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
                function.source = Some(Source { file: nasty(), line: 7 });
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
