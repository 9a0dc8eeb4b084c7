//! A history: one immutable file for each run in a plain folder, monthly summaries that can be rebuilt from them,
//! histories imported from other programs, and the trend of every series in all of these.
//!
//! ```text
//! DIR/runs/<yyyy>/<mm>/<sha12>-<run id>.json   one run, never changed: two pushes never write the same file
//! DIR/months/<yyyy>-<mm>.json                  what a trend needs of a month's runs, derived
//! DIR/imported/<name>.json                     another program's history
//! DIR/history.json                             releases, and whether it is made up; a history needs none
//! ```

pub mod append;
pub mod copies;
pub mod error;
mod files;
pub mod follow;
mod groups;
pub mod import;
pub mod index;
mod load;
mod row;
mod segment;
pub mod standing;
mod summarise;
pub mod trend;
mod wild;

pub use files::{newest_run, run_file};
pub use row::{SegmentPlaces, StepPlaces};
