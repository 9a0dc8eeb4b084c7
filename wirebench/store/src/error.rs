//! Errors of object storage: address, cause, and what to do.

use wirebench_history::error::HistoryError;

/// Why a history in object storage could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No credentials, or an endpoint that cannot be used. Nothing was sent.
    #[error("{address}: {why}")]
    Unusable {
        /// The history's address.
        address: String,
        /// What is missing or wrong, and what to do.
        why: String,
    },
    /// A request that failed.
    #[error("{address}: cannot be {verb}: {why}")]
    Failed {
        /// The object's address, or the history's.
        address: String,
        /// `read`, `written` or `listed`.
        verb: &'static str,
        /// The server's or the client's reason, and what to do where that is known.
        why: String,
    },
    /// An object of this name with other content.
    #[error(
        "{address}: is there with other content than {path}; stored files are never changed, and nothing was published after it. \
         If both are the same run, one of the records was edited since: publish the original"
    )]
    Differs {
        /// The object's address.
        address: String,
        /// The file's path below the history's folder.
        path: String,
    },
    /// No objects of a history.
    #[error(
        "{address}: holds no history: no objects runs/…, months/… or imported/… under this prefix; add a run with: wirebench \
         history append --to {address}"
    )]
    Empty {
        /// The history's address.
        address: String,
    },
    /// Summaries that others wrote at the same time, again and again.
    #[error("{address}: others wrote the summaries of {months} at the same time, {tries} times; try again later")]
    Contended {
        /// The history's address.
        address: String,
        /// The months, separated by commas.
        months: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The local copy.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A temporary folder that cannot be made.
    #[error("no temporary folder: {0}; set TMPDIR to a folder that can be written")]
    Temporary(#[source] std::io::Error),
}
