//! A history: one immutable file for each run in a plain folder, monthly summaries that can be rebuilt from them, and
//! histories imported from other programs; and the trend of every series.
//!
//! ```text
//! DIR/runs/<yyyy>/<mm>/<sha12>-<run id>.json   one run, never changed: two pushes never write the same file
//! DIR/months/<yyyy>-<mm>.json                  the summary of a month's runs, enough for a trend; derived
//! DIR/imported/<name>.json                     another program's history
//! DIR/history.json                             optional facts: releases, and whether the history is made up
//! ```

pub mod append;
pub mod error;
mod files;
pub mod follow;
pub mod import;
pub mod index;
mod judge;
mod load;
mod runs;
mod segment;
pub mod standing;
mod summarise;
mod trace;
pub mod trend;

pub use files::{newest_run, run_file};
pub use trace::commits_from;
