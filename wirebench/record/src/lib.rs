//! The JSON types that are stored and exchanged. Imports nothing of ours.

pub mod accepted;
pub mod check;
pub mod comparison;
pub mod counts;
pub mod history;
pub mod host;
pub mod imported;
pub mod limit;
pub mod load;
pub mod metric;
pub mod names;
pub mod ping;
pub mod reason;
pub mod round;
pub mod run;
pub mod shards;
pub mod site;
pub mod trend;
pub mod truth;
pub mod variant;
