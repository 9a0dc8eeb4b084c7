//! wirebench through its real command line.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accepts;
mod alone;
mod architecture;
mod bench;
mod bisects;
mod builds;
mod built;
mod compare;
mod counted;
mod counts;
mod declarations;
mod demo;
mod exports;
mod failures;
mod filters;
mod fixtures;
mod flames;
mod golden;
mod history;
mod imports;
mod interrupt;
mod kept;
mod made;
mod profiles;
mod reports;
mod schema;
mod selftests;
mod sides;
mod sites;
mod trends;
mod variants;
mod verdicts;
mod whole;
