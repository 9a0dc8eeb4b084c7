//! Judges records: derives summaries, comparisons and verdicts from a run. Never measures, never prints.

pub mod compare;
pub mod limits;
pub mod selftest;
pub mod summary;
