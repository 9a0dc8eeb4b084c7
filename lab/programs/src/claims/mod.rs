//! Public comparisons put to the test: the finding of a run for each claim that others published. Reads only declarations and a
//! record.

pub mod answer;
pub mod audit;
mod codecs;
pub mod command;
pub(crate) mod conclusions;
mod cross_check;
pub mod document;
mod factors;
pub(crate) mod figures;
pub(crate) mod findings;
pub mod judged;
mod month;
pub mod page;
pub mod prices;
pub mod publication;
mod tables;
