//! A run or a comparison for people: terminal, Markdown, charts. Formats numbers that others computed.

pub mod alert;
pub mod cause;
pub mod cells;
pub mod charts;
mod columns;
pub mod comparison;
pub mod cost;
pub mod counted;
pub mod cut;
pub mod escape;
pub mod flames;
pub mod format;
pub mod github_action_benchmark;
pub mod head_to_head;
pub mod imported;
pub mod limits;
pub mod markdown;
pub mod offered;
pub mod stills;
pub mod terminal;
pub mod trend;
