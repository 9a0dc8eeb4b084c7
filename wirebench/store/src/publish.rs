//! Publishes a folder's history: its runs, imports and facts. No object is ever replaced.

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
    /// Adds the files of a folder's history that are not derived. Before the first file is written, all files are checked, and
    /// compared with the objects of the same names.
    ///
    /// # Errors
    /// If a file is no complete file of a history, or an object has other content: nothing is written then. If a write fails:
    /// files that were written before stay, and publishing again adds the rest.
    pub fn publish(&self, history: &Path) -> Result<Vec<Published>, StoreError> {
        let paths = originals(history)?;
        let stored = self.list()?;
        let (known, new): (Vec<String>, Vec<String>) = paths.into_iter().partition(|path| stored.contains_key(path));
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
