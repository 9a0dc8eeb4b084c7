//! wirebench through its real command line.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod architecture;
mod bench;
mod declarations;
mod exports;
mod failures;
mod filters;
mod history;
mod imports;
mod interrupt;
mod made;
mod reports;
mod schema;
mod trends;
mod whole;
