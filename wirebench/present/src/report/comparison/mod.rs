//! A comparison for people: the pull request comment and the terminal. Both use the same words.

pub mod advice;
pub mod comment;
pub mod facts;
pub mod functions;
pub mod headline;
pub mod markdown;
pub mod reasons;
pub mod rows;
pub mod terminal;
pub mod verdict;
pub(crate) mod view;
