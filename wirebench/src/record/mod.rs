//! The JSON types that are stored and exchanged. Imports nothing of ours.

pub mod metric;
pub mod run;
