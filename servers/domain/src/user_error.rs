//! Why a question about users has no answer, in words that say how to ask.

use crate::people::USER_COUNT;

/// What kind of mistake a question makes: each protocol has its own word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It can never be answered: HTTP 400, gRPC `INVALID_ARGUMENT`.
    Invalid,
    /// What it asks for is not there: HTTP 404, gRPC `NOT_FOUND`.
    NotFound,
}

/// Why a question about users has no answer. The text is meant for the person who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    /// Nobody has this id.
    #[error("no user with id {id}: ids are 1 to {USER_COUNT}")]
    UnknownUser {
        /// The id asked for.
        id: i64,
    },
    /// A number lies outside of what can be asked for.
    #[error("{name} is {found}: expected {lowest} to {highest}")]
    OutOfRange {
        /// What the number is called in the question.
        name: &'static str,
        /// The number.
        found: i64,
        /// The smallest that is allowed.
        lowest: i64,
        /// The largest that is allowed.
        highest: i64,
    },
    /// A page that lies beyond the last.
    #[error("no page {page}: with {size} users on a page the last one is {last}")]
    BeyondLastPage {
        /// The page asked for.
        page: i64,
        /// Users on a page.
        size: u32,
        /// The last page there is.
        last: u32,
    },
}

impl UserError {
    /// What kind of mistake it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::OutOfRange { .. } => Fault::Invalid,
            Self::UnknownUser { .. } | Self::BeyondLastPage { .. } => Fault::NotFound,
        }
    }

    /// `found` when it lies between `lowest` and `highest`.
    pub(crate) fn in_range(name: &'static str, found: i64, lowest: u32, highest: u32) -> Result<u32, Self> {
        let number = u32::try_from(found)
            .ok()
            .filter(|number| (lowest..=highest).contains(number));
        number.ok_or(Self::OutOfRange {
            name,
            found,
            lowest: lowest.into(),
            highest: highest.into(),
        })
    }
}
