//! Why a site could not be built.

use std::path::{Path, PathBuf};

use crate::report::gnuplot::ChartError;

/// Why a site could not be built.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The folder holds something else.
    #[error("{}: is not empty and holds no dashboard (no data/manifest.json); give a new or empty folder", out.display())]
    NoSite {
        /// The folder.
        out: PathBuf,
    },
    /// A file or folder that cannot be written.
    #[error("{}: cannot be written", file.display())]
    Unwritable {
        /// The file or folder.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A picture that cannot be drawn.
    #[error(transparent)]
    Picture(#[from] ChartError),
    /// A page that cannot be rendered.
    #[error("{page}: cannot be made: {source}")]
    Page {
        /// The page.
        page: String,
        /// The template engine's reason.
        source: askama::Error,
    },
}

impl SiteError {
    pub(super) fn unwritable(file: &Path, source: std::io::Error) -> Self {
        Self::Unwritable {
            file: file.to_path_buf(),
            source,
        }
    }
}
