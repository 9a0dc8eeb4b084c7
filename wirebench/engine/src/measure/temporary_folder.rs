//! A folder for temporary files, which is removed also if wirebench is killed.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::measure::kill_on_exit;

/// A folder with a name of its own in the system's folder for temporary files; removed with this value.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes an empty folder whose name begins with `prefix`.
    ///
    /// # Errors
    /// When the folder for temporary files cannot be written.
    pub fn make(prefix: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir()?.keep();
        kill_on_exit::register_folder(&folder);
        Ok(Self(folder))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        kill_on_exit::unregister_folder(&self.0);
    }
}
