//! The second stage: reads and checks data from GitHub and from a pull request's artifact, and writes comment, check
//! and issue. Everything that a pull request can choose is refused or rebuilt from numbers.
//!
//! docs/SECURITY.md has the threat model.

pub mod access;
pub mod admit;
pub mod alert;
pub mod annotations;
pub mod api;
pub mod archive;
pub mod artifact;
pub mod check;
pub mod event;
pub mod function_name;
pub mod names;
pub mod pull;
pub mod rerun;
pub mod second_stage;
pub mod sticky;
pub mod strict;
pub mod unmeasured;

/// Why the command stops: one sentence that is safe in a workflow's log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

impl Refusal {
    /// The reason. Foreign text in it must be escaped by [`names::log_safe`].
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
