//! A comparison for people: the pull request comment and the terminal. Both say the same in the same words.

pub mod advice;
pub mod chart;
pub mod comment;
pub mod functions;
pub mod headline;
pub mod markdown;
mod part;
pub mod reasons;
pub mod sections;
pub mod terminal;
pub mod words;
