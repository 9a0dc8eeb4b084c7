//! Where comparisons are chosen: runs that measured a baseline with what they say of it, and any two runs side by side.

use askama::Template;

use crate::site::frame::Frame;
use crate::site::page::SitePage;
use crate::site::run_list::{self, ListedRun, newest_first};

pub(crate) const PAGE: SitePage = SitePage {
    applies: run_list::PAGE.applies,
    ..SitePage::new("compare/index.html", "Compare", |frame, context| {
        render(frame, &ListedRun::all(context.input, context.site))
    })
};

#[derive(Template)]
#[template(path = "compare_choice.html")]
struct Page<'a> {
    frame: Frame,
    judged: Vec<&'a ListedRun>,
    runs: Vec<&'a ListedRun>,
}

/// Its script loads `data/runs/<id>.summary.json` of the two runs chosen.
fn render(frame: Frame, runs: &[ListedRun]) -> Result<String, askama::Error> {
    let runs = newest_first(runs);
    Page {
        frame,
        judged: runs.iter().copied().filter(|run| run.verdict.is_some()).collect(),
        runs,
    }
    .render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;
    use wirebench_testing::golden;

    #[test]
    fn runs_with_a_baseline_stand_with_their_verdict_and_all_can_be_chosen() {
        let (site, mut other) = (samples::site(), samples::reference());
        let judged = ListedRun::of(&other, Some(&golden("improved")), &site).unwrap();
        other.id = "20260101T000000Z-000001".into();
        let page = render(
            PAGE.frame(&site),
            &[ListedRun::of(&other, None, &site).unwrap(), judged],
        )
        .unwrap();
        crate::site::well_formed::check(&page).unwrap();
        assert!(page.contains("✓ Improved") && page.contains("href=\"20261121T051047Z-352901.html\""));
        assert_eq!(page.matches("data-run=\"").count(), 2);
    }

    #[test]
    fn without_a_run_or_a_baseline_it_says_how_to_make_one() {
        let site = samples::site();
        let none = render(PAGE.frame(&site), &[]).unwrap();
        assert!(none.contains("No run with a baseline yet") && none.contains("wirebench run --baseline main"));
        assert!(!none.contains("id=\"choose\""));
        let one = ListedRun::of(&samples::reference(), None, &site).unwrap();
        let alone = render(PAGE.frame(&site), &[one]).unwrap();
        assert!(alone.contains("One run has a page so far") && !alone.contains("id=\"choose\""));
    }
}
