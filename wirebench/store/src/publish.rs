//! Publishes a folder's history: every run, import and fact, none of which is ever replaced.

use std::fs;
use std::path::Path;

use bytes::Bytes;

use crate::bucket::Bucket;
use crate::error::StoreError;
use wirebench_history::append::Written;
use wirebench_history::copies::originals;
use wirebench_history::error::HistoryError;

/// A file that was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The object's address.
    pub address: String,
    /// Whether it is new there.
    pub written: Written,
}

impl Bucket {
    /// Adds every file of a folder's history that is not derived. Every file is checked, and compared with the object that has
    /// its name, before the first one is written.
    ///
    /// # Errors
    /// When a file is no whole file of a history, or one is there with other content: nothing is written then. When a write
    /// fails: files that were written before stay, and the same command again adds the rest.
    pub fn publish(&self, history: &Path) -> Result<Vec<Published>, StoreError> {
        let paths = originals(history)?;
        let there = self.list()?;
        let (known, new): (Vec<String>, Vec<String>) = paths.into_iter().partition(|path| there.contains_key(path));
        self.read(&known, |path, content| {
            if content.bytes == content_of(history, path)? {
                Ok(())
            } else {
                Err(self.differs(path))
            }
        })?;
        let mut done: Vec<(String, Written)> = known.into_iter().map(|path| (path, Written::AlreadyThere)).collect();
        done.extend(self.write_once(&new, |path| content_of(history, path))?);
        done.sort_by(|one, other| one.0.cmp(&other.0));
        let published = done.into_iter().map(|(path, written)| Published {
            address: self.address().of(&path),
            written,
        });
        Ok(published.collect())
    }
}

/// The content of a history's file, by its path below the folder.
pub(crate) fn content_of(history: &Path, path: &str) -> Result<Bytes, StoreError> {
    let file = history.join(path);
    let content = fs::read(&file).map_err(|source| HistoryError::Unreadable { file, source })?;
    Ok(content.into())
}
