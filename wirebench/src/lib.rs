//! wirebench: continuous benchmarking for HTTP and gRPC servers.
//!
//! One direction: declarations → plan → measure → normalise → record → compare → report. Each room says what it is for.

pub mod adopt;
pub mod child;
pub mod claims;
pub mod command;
pub mod compare;
pub mod count;
pub mod declare;
pub mod github;
pub mod history;
pub mod measure;
pub mod normalise;
pub mod plan;
pub mod record;
pub mod report;
pub mod selftest;
pub mod site;
pub mod stats;
pub mod summary;
pub mod truth;
