//! Public comparisons put to the test: what a run says of each claim that others published. Reads only declarations and a record.

pub mod answer;
pub mod audit;
pub mod document;
mod words;
