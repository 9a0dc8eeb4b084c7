//! HTTP, gRPC or gRPC-web for this job? The servers of one run side by side, by work and load, each loaded by the same driver.

mod panel;
mod protocol;
mod quantity;
mod sweep;
mod table;

use askama::Template;

use self::sweep::{Sweep, sweeps};
use self::table::{Group, answer, groups};
use crate::report::format::machines;
use crate::site::frame::{Frame, Site};
use crate::site::page::SitePage;
use crate::site::revision::Revision;
use crate::site::run_list;
use crate::site::shown::{instant, is_id, name};
use wirebench_record::run::{Run, Variant};

pub(super) const PAGE: SitePage = SitePage {
    applies: run_list::PAGE.applies,
    ..SitePage::new("head-to-head.html", "Head to head", |frame, context| {
        let runs = context.input.runs.iter().map(|paged| &paged.run);
        render(frame, runs, context.site, &|id| context.with_page.contains(id))
    })
};

#[derive(Template)]
#[template(path = "head_to_head.html")]
struct Page {
    frame: Frame,
    shown: Option<Shown>,
}

/// The run that is shown.
struct Shown {
    answer: Vec<String>,
    run: String,
    /// The run's id, where it has a page.
    file: Option<String>,
    code: Revision,
    started: String,
    machine: String,
    groups: Vec<Group>,
    sweeps: Vec<Sweep>,
}

/// Shows the newest of these runs in which one driver loaded several servers. `paged` says whether a run has a page.
fn render<'a>(
    frame: Frame,
    runs: impl IntoIterator<Item = &'a Run>,
    site: &Site,
    paged: &dyn Fn(&str) -> bool,
) -> Result<String, askama::Error> {
    let newest =
        (runs.into_iter().filter(|run| !groups(run).is_empty())).max_by(|a, b| a.started_at.cmp(&b.started_at));
    Page {
        frame,
        shown: newest.map(|run| Shown::of(run, site, paged)),
    }
    .render()
}

impl Shown {
    /// Whether a group is a point of a sweep.
    fn is_swept(&self) -> bool {
        self.groups.iter().any(|group| group.swept)
    }

    fn of(run: &Run, site: &Site, paged: &dyn Fn(&str) -> bool) -> Self {
        Self {
            answer: answer(run),
            run: name(&run.id),
            file: (is_id(&run.id) && paged(&run.id)).then(|| run.id.clone()),
            code: Revision::of(run.revision(Variant::Candidate), &|commit| site.commit_url(commit)),
            started: instant(&run.started_at),
            machine: machines(run),
            groups: groups(run),
            sweeps: sweeps(run),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;

    fn page(run: &Run) -> String {
        let site = samples::site();
        render(PAGE.frame(&site), [run], &site, &|_| true).unwrap()
    }

    #[test]
    fn servers_stand_beside_each_other_by_scenario_and_driver() {
        let page = page(&samples::reference());
        crate::site::well_formed::check(&page).unwrap();
        for said in [
            "data-scenario=\"weather-fixed-count\" data-driver=\"h2load\"",
            "data-scenario=\"weather-multiplexed\" data-driver=\"ghz\"",
            "client-bound",
            "gRPC",
            "HTTP/1.1",
            "100 connections × 1 stream",
            "run/20261121T051047Z-352901.html",
        ] {
            assert!(page.contains(said), "{said}");
        }
    }

    #[test]
    fn of_several_runs_the_newest_that_can_answer_is_shown() {
        let (older, mut newer, mut alone) = (samples::reference(), samples::reference(), samples::reference());
        (newer.id, newer.started_at) = ("newer".into(), "2027-01-01T00:00:00Z".into());
        (alone.id, alone.started_at) = ("alone".into(), "2027-01-02T00:00:00Z".into());
        alone.series.retain(|series| series.server == "http");
        let site = samples::site();
        let runs = [&older, &newer, &alone];
        let page = render(PAGE.frame(&site), runs, &site, &|id| id == "alone").unwrap();
        assert!(page.contains("newer") && !page.contains("alone"));
        assert!(!page.contains("run/newer.html"), "only runs with a page are linked");
    }

    #[test]
    fn without_such_a_run_it_says_how_to_make_one() {
        let site = samples::site();
        let none = render(PAGE.frame(&site), std::iter::empty(), &site, &|_| true).unwrap();
        assert!(none.contains("No run asks several servers") && none.contains("wirebench run"));
    }

    #[test]
    fn hostile_names_stay_names() {
        let mut run = samples::reference();
        samples::with_counts(&mut run);
        samples::poison(&mut run);
        samples::assert_inert(&page(&run));
    }
}
