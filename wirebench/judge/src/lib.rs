//! Record → record: what a run measured becomes summaries, comparisons and verdicts. Never measures, never prints.

pub mod claims;
pub mod compare;
pub mod selftest;
pub mod summary;
