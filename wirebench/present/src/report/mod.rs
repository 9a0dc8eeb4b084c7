//! Runs, comparisons and trends for people: terminal, Markdown, charts. Formats text, computes nothing.

pub mod alert;
pub mod cause;
pub mod cells;
pub mod charts;
pub mod comparison;
pub(crate) mod counts;
pub mod cut;
pub mod escape;
pub(crate) mod family;
pub mod flames;
pub mod format;
pub mod github_action_benchmark;
pub(crate) mod gnuplot;
pub mod head_to_head;
pub mod imported;
pub mod limits;
pub mod markdown;
pub mod pacing;
pub mod run_view;
mod scenario;
pub(crate) mod status;
pub mod table;
pub mod terminal;
pub mod trend;
