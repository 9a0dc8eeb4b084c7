//! What pages are made from, and what every page has around its content.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use askama::Template;
use jiff::Timestamp;

use crate::report::format::plural;
use crate::site::gather::{Source, seconds};
use crate::site::preview::{Previews, SITE};
use crate::site::shown::{is_id, name};
use wirebench_history::follow::{FollowedHistory, RUNS_SOURCE, SourceTimeline};
use wirebench_record::comparison::Comparison;
use wirebench_record::history::Released;
use wirebench_record::run::{Run, VariantRevision, short_commit};
use wirebench_record::trend::Push;

/// A page that the navigation of every page leads to: its name, and its file from the site's root.
pub(super) type NavEntry<'a> = (&'a str, &'a str);

/// What pages are made from, and what is the same on every page of one site.
#[derive(Debug)]
pub(super) struct Site<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) sources: &'a [Source<'a>],
    /// Ids of the runs that have a page.
    pub(super) with_page: HashSet<&'a str>,
    /// How fresh the newest run is, one sentence.
    pub(super) freshness: String,
    /// When the newest push was made.
    pub(super) newest: Option<Timestamp>,
    /// Names of the pages of the history's own series, without folder and ending, by series.
    pub(super) series: BTreeMap<&'a str, &'a str>,
    /// The pushes of the history's own runs, by commit.
    pub(super) commits: HashMap<&'a str, &'a Push>,
    /// The navigation.
    pub(super) nav: Vec<NavEntry<'a>>,
    /// The pictures of pasted links.
    pub(super) previews: Previews,
}

/// What `base.html` needs.
#[derive(Debug, Clone)]
pub(super) struct Frame<'a> {
    pub(super) title: String,
    pub(super) site: &'a Site<'a>,
    /// The path from the page to the site's root: empty or `../`.
    pub(super) root: &'static str,
    /// The absolute address of the picture that is shown where a link to the page is pasted.
    pub(super) image: Option<&'a String>,
    /// The path of the entry of the navigation that is marked as current; empty for none.
    pub(super) current: &'a str,
}

/// A newest run older than this is worth a warning, days.
pub(super) const STALE_DAYS: i64 = 7;
/// So are more commits than this without a run.
const STALE_COMMITS: usize = 20;

impl<'a> Site<'a> {
    /// The site of an input, with the navigation given.
    pub(super) fn of(input: &'a Input, sources: &'a [Source], nav: Vec<NavEntry<'a>>, previews: Previews) -> Self {
        let pushes: usize = sources.iter().map(|source| source.timeline.pushes).sum();
        let dated = sources
            .iter()
            .flat_map(|source| &source.line.pushes)
            .filter_map(seconds);
        let newest = dated.max().and_then(|newest| Timestamp::from_second(newest).ok());
        let freshness = match newest {
            Some(newest) => format!(
                "{}, the newest of {}.",
                plural(pushes, "run"),
                newest.strftime("%Y-%m-%d")
            ),
            None => "No run yet.".into(),
        };
        let own = || sources.iter().filter(|source| source.line.source == RUNS_SOURCE);
        let pushes = own().flat_map(|source| &source.line.pushes);
        let told = pushes.filter(|push| push.message.is_some());
        let series = own().flat_map(|source| &source.series);
        let ids = input.runs.iter().map(|paged| paged.run.id.as_str());
        Self {
            input,
            sources,
            with_page: ids.filter(|id| is_id(id)).collect(),
            freshness,
            newest,
            commits: told.map(|push| (push.commit.as_str(), push)).collect(),
            series: series.map(|series| (series.name, series.page.as_str())).collect(),
            nav,
            previews,
        }
    }

    /// Whether the history is made up.
    pub(super) fn is_synthetic(&self) -> bool {
        self.input.followed.facts.synthetic.is_some()
    }

    /// When the newest measured push was made; when the page was built, if no commit came after that push. `None` without a
    /// push, and for a history that is made up.
    pub(super) fn measured_until(&self) -> Option<Timestamp> {
        let newest = self.newest.filter(|_| !self.is_synthetic())?;
        Some(if self.input.untested == Some(0) {
            self.input.now
        } else {
            newest
        })
    }

    /// Why the newest run may be too old to go by, when it was when the site was built.
    pub(super) fn stale(&self) -> Option<String> {
        let newest = self.measured_until()?;
        let days = (self.input.now.as_second() - newest.as_second()) / 86_400;
        let untested = self.input.untested.unwrap_or(0);
        if days <= STALE_DAYS && untested <= STALE_COMMITS {
            return None;
        }
        let days = (days > 0).then(|| plural(usize::try_from(days).unwrap_or(0), "day"));
        let commits = (untested > 0).then(|| plural(untested, "commit"));
        let ago: Vec<String> = days.into_iter().chain(commits).collect();
        Some(format!(
            "Stale: the newest run is of {}, {} before this page was built. What came after it was not measured.",
            newest.strftime("%Y-%m-%d"),
            ago.join(" and ")
        ))
    }

    /// The frame of a page. `root` is the path from the page to the site's root, `current` the path of its entry of the
    /// navigation, empty without one.
    pub(super) fn frame(&'a self, title: &str, root: &'static str, current: &'a str) -> Frame<'a> {
        Frame {
            title: title.to_owned(),
            site: self,
            root,
            image: self.previews.get(SITE),
            current,
        }
    }

    /// The page of one of the history's own series, from the site's root.
    pub(super) fn series_page(&self, series: &str) -> Option<String> {
        self.series.get(series).map(|page| format!("series/{page}.html"))
    }

    /// The repository that the commits of a source are in: an imported history may name another one.
    pub(super) fn repository_of<'b>(&'b self, line: &'b SourceTimeline) -> Option<&'b str> {
        line.repository.as_deref().or(self.input.repository.as_deref())
    }

    /// Where all between two commits is shown.
    pub(super) fn range_url(&self, line: &SourceTimeline, before: &str, after: &str) -> Option<String> {
        let repository = self.repository_of(line)?;
        commit_url(repository, before).and(commit_url(repository, after))?;
        Some(format!("https://github.com/{repository}/compare/{before}...{after}"))
    }
}

/// Where a commit of a repository is shown; none for what is no commit.
pub(super) fn commit_url(repository: &str, commit: &str) -> Option<String> {
    let sound = commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    sound.then(|| format!("https://github.com/{repository}/commit/{commit}"))
}

/// Where the pull request is shown that a message ends with, as in `Cache answers (#123)`.
pub(super) fn pull_url(repository: &str, message: &str) -> Option<String> {
    pull_number(message).map(|number| format!("https://github.com/{repository}/pull/{number}"))
}

/// The number of the pull request that a message ends with.
fn pull_number(message: &str) -> Option<&str> {
    let number = message.trim_end().strip_suffix(')')?.rsplit_once("(#")?.1;
    let sound = (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    sound.then_some(number)
}

/// Since when a change holds: the pull request that its message names, else the commit.
pub(super) fn since(message: &str, commit: &str) -> String {
    pull_number(message).map_or_else(|| commit.to_owned(), |number| format!("#{number}"))
}

// A page that a site has once: its file, its name in the navigation, and how it is rendered.

/// A page that a site has once. `site::PAGES` lists them all.
#[derive(Clone, Copy)]
pub(crate) struct SitePage {
    /// Its file, from the site's root.
    pub(super) path: &'static str,
    /// Its title, and its name in the navigation.
    pub(super) title: &'static str,
    /// Whether it is in the navigation.
    pub(super) in_nav: bool,
    /// Whether a site of this input has the page.
    pub(super) applies: fn(&Input, &[Source]) -> bool,
    /// Renders it into the frame, which has its title.
    pub(super) render: Render,
}

/// Content that was made elsewhere, in the frame of the site.
#[derive(Template)]
#[template(
    source = "{% extends \"base.html\" %}{% block content %}{{ html|safe }}{% endblock %}",
    ext = "html"
)]
pub(super) struct Framed<'a> {
    pub(super) frame: Frame<'a>,
    pub(super) html: &'a str,
}

type Render = fn(Frame) -> Result<String, askama::Error>;

impl SitePage {
    /// A page in the navigation that every site has.
    pub(super) const fn new(path: &'static str, title: &'static str, render: Render) -> Self {
        Self {
            path,
            title,
            in_nav: true,
            applies: |_, _| true,
            render,
        }
    }

    /// The frame of this page.
    pub(super) fn frame<'a>(&self, site: &'a Site<'a>) -> Frame<'a> {
        let root = if self.path.contains('/') { "../" } else { "" };
        site.frame(self.title, root, self.path)
    }
}

// What a site is built from.

/// A run that gets a page.
#[derive(Debug)]
pub struct PagedRun {
    /// The record.
    pub run: Run,
    /// Its comparison with its baseline, if it measured one.
    pub comparison: Option<Comparison>,
    /// The run's own folder, which holds its flame graphs; `None` for a run of a history, which keeps none.
    pub folder: Option<PathBuf>,
}

/// A page that was made elsewhere and gets the site's frame and an entry in its navigation.
#[derive(Debug)]
pub struct MorePage {
    /// Its title.
    pub title: String,
    /// Its file, at the site's root.
    pub path: String,
    /// Its content: HTML of the author's own, not changed.
    pub html: String,
}

/// What a site is built from.
#[derive(Debug)]
pub struct Input<'a> {
    /// The history with every value.
    pub followed: &'a FollowedHistory,
    /// The runs that get pages of their own, the newest last.
    pub runs: &'a [PagedRun],
    /// Pages that were made elsewhere.
    pub more: &'a [MorePage],
    /// Commits that were released.
    pub releases: &'a [Released],
    /// The site's name.
    pub title: String,
    /// `owner/name` on GitHub.
    pub repository: Option<String>,
    /// When it is built.
    pub now: Timestamp,
    /// How many commits after the newest run's commit were not measured, where that is known.
    pub untested: Option<usize>,
    /// gnuplot, which draws the pictures of pasted links; without it the pages name none.
    pub gnuplot: Option<PathBuf>,
}

// The code of a variant as pages show it: its commit with a link, its message and author, its name, and whether files were modified.

/// The code of one variant.
#[derive(Debug, Clone)]
pub(crate) struct Revision {
    /// The user's name for it.
    pub(crate) name: Option<String>,
    /// Its short commit, or `no commit`.
    pub(crate) commit: String,
    /// The address of its commit.
    pub(crate) url: Option<String>,
    pub(crate) modified: bool,
    /// First line of the commit's message; empty when it is not known.
    pub(crate) message: String,
    pub(crate) author: String,
    /// Where the pull request is shown that the message names.
    pub(crate) pull: Option<String>,
}

impl Revision {
    /// Without a site, as in a report that stands alone, nothing is linked and no message is known.
    pub(super) fn of(revision: Option<&VariantRevision>, site: Option<&Site>) -> Self {
        let commit = revision.and_then(|revision| revision.commit.as_deref());
        let told = commit.and_then(|commit| site?.commits.get(commit));
        let message = told.and_then(|told| told.message.as_deref()).unwrap_or_default();
        let author = told.and_then(|told| told.author.as_deref()).unwrap_or_default();
        let repository = site.and_then(|site| site.input.repository.as_deref());
        Self {
            name: revision.and_then(|revision| revision.name.as_deref()).map(name),
            commit: commit.map_or("no commit".into(), |commit| name(short_commit(commit))),
            url: commit.and_then(|commit| commit_url(repository?, commit)),
            modified: revision.is_some_and(|revision| revision.modified == Some(true)),
            message: name(message),
            author: name(author),
            pull: repository.and_then(|repository| pull_url(repository, message)),
        }
    }

    /// Its name, or else its commit.
    pub(super) fn called(&self) -> &str {
        self.name.as_ref().unwrap_or(&self.commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_number_at_the_end_of_a_message_is_a_pull_request() {
        let url = |message| pull_url("owner/name", message);
        assert_eq!(
            url("Cache (#12)").as_deref(),
            Some("https://github.com/owner/name/pull/12")
        );
        for other in [
            "Cache #12",
            "(#12) cache",
            "Cache (#)",
            "Cache (#1a)",
            "Cache (#1234567890)",
            "",
        ] {
            assert_eq!(url(other), None, "{other}");
        }
    }
}
