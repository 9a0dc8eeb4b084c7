//! The code of a variant as pages show it: its commit with a link, its message and author, its name, and whether files were modified.

use crate::site::frame::{Site, pull_url};
use crate::site::shown::name;
use wirebench_record::run::{VariantRevision, short_commit};

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
        let message = told.map(|told| told.message.as_str()).unwrap_or_default();
        let repository = site.and_then(|site| site.repository.as_deref());
        Self {
            name: revision.and_then(|revision| revision.name.as_deref()).map(name),
            commit: commit.map_or("no commit".into(), |commit| name(short_commit(commit))),
            url: commit.and_then(|commit| site?.commit_url(commit)),
            modified: revision.is_some_and(|revision| revision.modified == Some(true)),
            message: name(message),
            author: told.map_or_else(String::new, |told| name(&told.author)),
            pull: repository.and_then(|repository| pull_url(repository, message)),
        }
    }

    /// Its name, or else its commit.
    pub(super) fn called(&self) -> &str {
        self.name.as_ref().unwrap_or(&self.commit)
    }
}
