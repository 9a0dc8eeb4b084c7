//! The code of a variant as pages show it: its commit with a link, its name, and whether files were modified.

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
}

impl Revision {
    pub(super) fn of(revision: Option<&VariantRevision>, commit_url: &dyn Fn(&str) -> Option<String>) -> Self {
        let commit = revision.and_then(|revision| revision.commit.as_deref());
        Self {
            name: revision.and_then(|revision| revision.name.as_deref()).map(name),
            commit: commit.map_or("no commit".into(), |commit| name(short_commit(commit))),
            url: commit.and_then(commit_url),
            modified: revision.is_some_and(|revision| revision.modified == Some(true)),
        }
    }

    /// Its name, or else its commit.
    pub(super) fn called(&self) -> &str {
        self.name.as_ref().unwrap_or(&self.commit)
    }
}
