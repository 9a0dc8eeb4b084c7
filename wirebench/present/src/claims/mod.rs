//! Public comparisons put to the test: the finding of a run for each claim that others published. Reads only declarations and a
//! record.

pub mod answer;
pub mod audit;
mod codecs;
pub(crate) mod conclusions;
mod cross_check;
pub mod document;
mod factors;
pub(crate) mod figures;
pub(crate) mod findings;
mod month;
mod tables;
