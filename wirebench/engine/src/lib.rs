//! Measures servers: builds and starts them, loads them, checks and counts what happened, and writes the record as it goes.
//! Never judges, never formats results.

pub mod count;
pub mod git;
pub mod install;
pub mod measure;
pub mod normalise;
pub mod session;
