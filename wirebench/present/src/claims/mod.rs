//! Public comparisons put to the test: what a run says of each claim that others published. Reads only declarations and a record.

pub mod answer;
pub mod audit;
mod codecs;
pub(crate) mod comes_to;
mod cross_check;
pub mod document;
mod factors;
mod month;
pub(crate) mod words;
