//! Errors of object storage, with the address, the cause and what to do.

use wirebench_history::error::HistoryError;

/// An error of reading or writing a history in object storage.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There are no credentials, or the endpoint cannot be used. Nothing was sent.
    #[error("{address}: {why}")]
    Unusable {
        /// The history's address.
        address: String,
        /// What is missing or wrong, and what to do.
        why: String,
    },
    /// A request failed.
    #[error("{address}: cannot be {verb}: {why}")]
    Failed {
        /// The object's address, or the history's.
        address: String,
        /// `read`, `written` or `listed`.
        verb: &'static str,
        /// The server's or the client's reason, and a remedy if one is known.
        why: String,
    },
    /// An object of the same name has other content.
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
    /// The prefix has no objects of a history.
    #[error(
        "{address}: holds no history: no objects runs/…, months/… or imported/… under this prefix; add a run with: wirebench \
         history append --to {address}"
    )]
    Empty {
        /// The history's address.
        address: String,
    },
    /// Others wrote the same summaries at the same time, again and again.
    #[error("{address}: others wrote the summaries of {months} at the same time, {tries} times; try again later")]
    Contended {
        /// The history's address.
        address: String,
        /// The months, separated by commas.
        months: String,
        /// The number of attempts.
        tries: u32,
    },
    /// An error of the local copy.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// No temporary folder can be created.
    #[error("no temporary folder: {0}; set TMPDIR to a folder that can be written")]
    Temporary(#[source] std::io::Error),
}
