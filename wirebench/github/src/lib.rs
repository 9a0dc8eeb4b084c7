//! The second stage: what GitHub and a pull request's own artifact say is read, checked and admitted here, and what this
//! program says in return is written here. Everything that a pull request can choose is refused or rebuilt from numbers.
//!
//! docs/SECURITY.md says against whom.

pub mod admit;
pub mod alert;
pub mod annotations;
pub mod api;
pub mod archive;
pub mod artifact;
pub mod ask;
pub mod check;
pub mod event;
pub mod function_name;
pub mod mention;
pub mod names;
pub mod place;
pub mod pull;
pub mod said;
pub mod sticky;
pub mod strict;

/// Why nothing more is done: one sentence that is safe in a workflow's log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

impl Refusal {
    /// Says why; text that somebody else wrote must have gone through [`said::said`].
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// Refuses with words built as `format!` builds them.
macro_rules! refuse {
    ($($words:tt)*) => {
        return Err($crate::Refusal::new(format!($($words)*)))
    };
}
use refuse;
