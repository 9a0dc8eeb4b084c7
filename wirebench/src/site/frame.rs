//! What every page has around its content.

/// The pages that every page leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Overview,
    Compare,
    Runs,
    HeadToHead,
    Changes,
    Health,
    About,
    /// A page that no entry of the navigation stands for, such as that of a series.
    Other,
}

/// An entry of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) href: &'static str,
    pub(super) current: bool,
}

const ENTRIES: [(Place, &str, &str); 7] = [
    (Place::Overview, "Overview", "index.html"),
    (Place::Compare, "Compare", "compare/index.html"),
    (Place::Runs, "Runs", "run/index.html"),
    (Place::HeadToHead, "Head to head", "head-to-head.html"),
    (Place::Changes, "Changes", "changes.html"),
    (Place::Health, "Health", "health.html"),
    (Place::About, "About", "about.html"),
];

/// What is the same on every page of one site.
#[derive(Debug, Clone)]
pub(super) struct Site {
    /// The site's name: the repository's, or "wirebench".
    pub(super) name: String,
    /// `owner/name` on GitHub.
    pub(super) repository: Option<String>,
    /// Whether the history is made up.
    pub(super) synthetic: bool,
    /// When the site was built: `2026-11-21 17:24 UTC`.
    pub(super) made: String,
    /// How fresh the newest run is, one sentence.
    pub(super) freshness: String,
}

/// What `base.html` needs.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) title: String,
    pub(super) site: String,
    /// The way from the page to the site's root: empty or `../`.
    pub(super) root: &'static str,
    pub(super) synthetic: bool,
    pub(super) made: String,
    pub(super) freshness: String,
    pub(super) version: &'static str,
    place: Place,
}

impl Site {
    /// The frame of a page at the site's root.
    pub(super) fn frame(&self, title: &str, place: Place) -> Frame {
        Frame {
            title: title.to_owned(),
            site: self.name.clone(),
            root: "",
            synthetic: self.synthetic,
            made: self.made.clone(),
            freshness: self.freshness.clone(),
            version: env!("CARGO_PKG_VERSION"),
            place,
        }
    }

    /// The frame of a page one folder below it.
    pub(super) fn frame_below(&self, title: &str, place: Place) -> Frame {
        Frame {
            root: "../",
            ..self.frame(title, place)
        }
    }

    /// Where a commit is shown; none without a repository, or for what is no commit.
    pub(super) fn commit_url(&self, commit: &str) -> Option<String> {
        let repository = self.repository.as_deref()?;
        let sound = commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        sound.then(|| format!("https://github.com/{repository}/commit/{commit}"))
    }

    /// Where all between two commits is shown.
    pub(super) fn range_url(&self, before: &str, after: &str) -> Option<String> {
        let repository = self.repository.as_deref()?;
        self.commit_url(before).and(self.commit_url(after))?;
        Some(format!("https://github.com/{repository}/compare/{before}...{after}"))
    }
}

impl Frame {
    /// The navigation.
    pub(super) fn nav(&self) -> [Entry; 7] {
        ENTRIES.map(|(place, name, href)| Entry {
            name,
            href,
            current: place == self.place,
        })
    }
}
