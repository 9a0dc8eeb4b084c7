//! The list of runs that have a page, newest first.

use std::cmp::Reverse;

use askama::Template;

use crate::report::comparison::headline;
use crate::report::comparison::verdict::class;
use crate::report::format::plural;
use crate::site::frame::{Frame, Revision, Site, SitePage};
use crate::site::shown::is_id;
use wirebench_history::follow::RUNS_SOURCE;
use wirebench_judge::summary::comparison::RowStatus;
use wirebench_record::comparison::Comparison;
use wirebench_record::run::{Run, Variant};

pub(super) const PAGE: SitePage = SitePage {
    // Imported histories have no runs.
    applies: |_, sources| sources.is_empty() || sources.iter().any(|source| source.line.source == RUNS_SOURCE),
    ..SitePage::new("run/index.html", "Runs", |frame| {
        let site = frame.site;
        let runs = site.input.runs.iter();
        let listed = runs.filter_map(|paged| ListedRun::of(&paged.run, paged.comparison.as_ref(), site));
        render(frame, &listed.collect::<Vec<_>>())
    })
};

/// A run in a list.
#[derive(Debug, Clone)]
pub(super) struct ListedRun<'a> {
    pub(super) run: &'a Run,
    pub(super) code: Revision,
    /// What it says of its baseline: words and their class.
    pub(super) verdict: Option<(String, &'static str)>,
}

impl<'a> ListedRun<'a> {
    /// `None` for a run whose id cannot name a page.
    pub(super) fn of(run: &'a Run, comparison: Option<&Comparison>, site: &Site) -> Option<Self> {
        is_id(&run.id).then(|| Self {
            run,
            code: Revision::of(run.revision(Variant::Candidate), Some(site)),
            verdict: comparison.map(|comparison| (headline::verdict(comparison), class(headline::status(comparison)))),
        })
    }
}

#[derive(Template)]
#[template(path = "run_list.html")]
struct Page<'a> {
    frame: Frame<'a>,
    /// How many runs there are, and how many regressed against their baselines.
    headline: String,
    /// The newest first.
    runs: Vec<&'a ListedRun<'a>>,
}

fn render(frame: Frame, runs: &[ListedRun]) -> Result<String, askama::Error> {
    let mut runs: Vec<&ListedRun> = runs.iter().collect();
    runs.sort_by_key(|one| Reverse((&one.run.started_at, &one.run.id)));
    let verdicts = || runs.iter().filter_map(|run| run.verdict.as_ref());
    let worse = class(RowStatus::Regressed);
    let regressed = verdicts().filter(|(_, class)| *class == worse).count();
    let headline = match (runs.len(), verdicts().count()) {
        (0, _) => "No run yet".to_owned(),
        (all, 0) => format!("{}, none beside a baseline", plural(all, "run")),
        (all, judged) => format!(
            "{}: {regressed} of {judged} that measured a baseline regressed",
            plural(all, "run")
        ),
    };
    Page { frame, headline, runs }.render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;
    use wirebench_testing::golden;

    #[test]
    fn the_newest_run_stands_first_and_leads_to_its_pages() {
        let (site, newest, mut older) = (samples::site(), samples::reference(), samples::reference());
        let newer = ListedRun::of(&newest, Some(&golden("regressed")), &site).unwrap();
        (older.id, older.started_at) = ("20260101T000000Z-000001".into(), "2026-01-01T00:00:00Z".into());
        let page = render(PAGE.frame(&site), &[ListedRun::of(&older, None, &site).unwrap(), newer]).unwrap();
        crate::site::well_formed::check(&page).unwrap();
        let (new, old) = (
            page.find("20261121T051047Z-352901.html"),
            page.find("20260101T000000Z-000001.html"),
        );
        assert!(new.unwrap() < old.unwrap() && page.contains("2 runs"));
        assert!(page.contains("../compare/20261121T051047Z-352901.html") && page.contains("✗ Regressed"));
        assert!(!page.contains("../compare/20260101T000000Z-000001.html"));
    }

    #[test]
    fn no_run_and_hostile_runs_do_no_harm() {
        let site = samples::site();
        assert!(
            render(PAGE.frame(&site), &[])
                .unwrap()
                .contains("wirebench run --profile quick")
        );
        let mut run = samples::reference();
        samples::poison(&mut run);
        let listed = [ListedRun::of(&run, None, &site).unwrap()];
        samples::assert_inert(&render(PAGE.frame(&site), &listed).unwrap());
        run.id = "javascript:alert(1)".into();
        assert!(ListedRun::of(&run, None, &site).is_none());
    }
}
