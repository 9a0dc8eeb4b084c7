//! A history → the dashboard: real pages with facts, tables and pictures in them, and the data from which their scripts draw.
//! Judges nothing: the history says what is worse, and a run's comparison says what it found.

mod about;
mod badges;
mod causes;
mod changes;
mod columns;
mod compare;
mod frame;
mod gather;
mod head_to_head;
mod health;
#[cfg(test)]
mod metrics_tests;
mod names;
mod overview;
mod preview;
mod run_list;
mod run_page;
mod runs;
#[cfg(test)]
mod samples;
pub mod scale;
mod series;
mod series_page;
mod series_view;
pub mod shown;
mod spark;
pub mod svg;
mod trust;
#[cfg(test)]
mod well_formed;
mod write;

use std::path::Path;

use askama::Template as _;
pub use frame::{Input, MorePage, PagedRun};
pub use run_page::report;

use self::frame::{Framed, Site, SitePage};
use self::gather::gather;
use self::write::Writer;
use crate::{PresentError, VERSION};
use wirebench_record::site::{MANIFEST, Manifest};

/// Every page that a site has once, in the order of the navigation. Each is one file beside this one, and its template.
const PAGES: &[SitePage] = &[
    overview::PAGE,
    run_list::PAGE,
    head_to_head::PAGE,
    changes::PAGE,
    changes::FEED,
    health::PAGE,
    about::PAGE,
];

/// What was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Built {
    /// Pages of series.
    pub series: usize,
    /// Columns: metrics of series.
    pub columns: usize,
    /// Bytes written.
    pub bytes: u64,
}

/// Builds the site into `out`, over an earlier one if there is one.
///
/// # Errors
/// When the folder holds something else, or cannot be written.
pub fn build(input: &Input, out: &Path) -> Result<Built, PresentError> {
    build_with(PAGES, input, out)
}

fn build_with(pages: &[SitePage], input: &Input, out: &Path) -> Result<Built, PresentError> {
    let mut writer = Writer::open(out)?;
    writer.assets()?;
    let sources = gather(input.followed, input.releases);
    let pages: Vec<&SitePage> = (pages.iter()).filter(|page| (page.applies)(input, &sources)).collect();
    let previews = preview::draw(&mut writer, input, &sources)?;
    let own = pages
        .iter()
        .filter(|page| page.in_nav)
        .map(|page| (page.title, page.path));
    let more = input.more.iter().map(|page| (&*page.title, &*page.path));
    let site = Site::of(input, &sources, own.chain(more).collect(), previews);
    let mut heads = Vec::new();
    for source in &sources {
        heads.extend(series::write(&mut writer, &site, source)?);
    }
    runs::write(&mut writer, &site)?;
    badges::write(&mut writer, &site)?;
    for page in pages {
        writer.page(page.path, (page.render)(page.frame(&site)))?;
    }
    for page in input.more {
        let framed = Framed {
            frame: site.frame(&page.title, "", &page.path),
            html: &page.html,
        };
        writer.page(&page.path, framed.render())?;
    }
    let columns = heads.len();
    let manifest = Manifest {
        schema: MANIFEST.into(),
        made_at: input.now.to_string(),
        wirebench: VERSION.into(),
        repository: input.repository.clone(),
        synthetic: site.is_synthetic(),
        timelines: sources.iter().map(|source| source.timeline.clone()).collect(),
        columns: heads,
    };
    writer.json("data/manifest.json", &manifest)?;
    writer.finish()?;
    Ok(Built {
        series: sources.iter().map(|source| source.series.len()).sum(),
        columns,
        bytes: writer.bytes,
    })
}

/// Whether a site has a page of this name itself.
pub fn is_own_page(path: &str) -> bool {
    PAGES.iter().any(|page| page.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::frame::Frame;
    use askama::Template;
    use wirebench_history::follow::FollowedHistory;
    use wirebench_record::history::Facts;

    #[derive(Template)]
    #[template(
        source = "{% extends \"base.html\" %}{% block content %}<h1>{{ runs }} runs</h1>{% endblock %}",
        ext = "html"
    )]
    struct Extra<'a> {
        frame: Frame<'a>,
        runs: usize,
    }

    const EXTRA: SitePage = SitePage::new("extra.html", "Extra", |frame| {
        let runs = frame.site.input.runs.len();
        Extra { frame, runs }.render()
    });

    /// A site of one run with these pages.
    struct BuiltSite(tempfile::TempDir);

    impl BuiltSite {
        fn with(pages: &[SitePage]) -> Self {
            let followed = FollowedHistory {
                not_indexed: 0,
                facts: Facts::default(),
                trend: samples::trend(),
                timelines: Vec::new(),
                values: Vec::new(),
            };
            let run = PagedRun {
                run: samples::reference(),
                comparison: None,
                folder: None,
            };
            let input = Input {
                followed: &followed,
                runs: &[run],
                more: &[],
                releases: &[],
                title: "octo/weather".into(),
                repository: None,
                now: jiff::Timestamp::UNIX_EPOCH,
                untested: None,
                gnuplot: None,
            };
            let out = tempfile::tempdir().unwrap();
            build_with(pages, &input, out.path()).unwrap();
            Self(out)
        }

        fn text(&self, file: &str) -> String {
            std::fs::read_to_string(self.0.path().join(file)).unwrap()
        }
    }

    #[test]
    fn a_page_that_is_added_to_the_list_is_written_framed_and_in_the_navigation_of_all() {
        let pages: Vec<SitePage> = PAGES.iter().copied().chain([EXTRA]).collect();
        let site = BuiltSite::with(&pages);
        let extra = site.text("extra.html");
        well_formed::check(&extra).unwrap();
        assert!(extra.contains("<h1>1 runs</h1>") && extra.contains("<title>Extra · octo/weather</title>"));
        assert!(extra.contains("href=\"extra.html\" aria-current=\"page\">Extra</a>"));
        assert!(extra.contains("href=\"index.html\">Overview</a>") && extra.contains("Built 1970-01-01 00:00 UTC"));
        assert!(site.text("index.html").contains("<a href=\"extra.html\">Extra</a>"));
        let run = site.text("run/20261121T051047Z-352901.html");
        assert!(run.contains("<a href=\"../extra.html\">Extra</a>"));
    }

    #[test]
    fn the_pages_that_apply_are_written_and_in_the_navigation_in_the_order_of_the_list() {
        let site = BuiltSite::with(PAGES);
        let about = site.text("about.html");
        let (_, nav) = about.split_once("<nav").unwrap();
        let (nav, _) = nav.split_once("</nav>").unwrap();
        let mut before = 0;
        for page in PAGES {
            let text = site.text(page.path);
            if !page.in_nav {
                assert!(!nav.contains(page.path), "{}", page.path);
                continue;
            }
            well_formed::check(&text).unwrap();
            let current = format!("aria-current=\"page\">{}</a>", page.title);
            assert_eq!(text.matches("aria-current=").count(), 1, "{}", page.path);
            assert!(text.contains(&current), "{}", page.path);
            let place = nav.find(&format!(">{}</a>", page.title)).unwrap();
            assert!(place > before, "{nav}");
            before = place;
        }
    }
}
