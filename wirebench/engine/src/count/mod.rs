//! Counting: the cost of a request in instructions, allocations, system calls and bytes. Judges nothing.
//!
//! Each server is run several times under each tool, for few requests and for many, one at a time and in lock step with its
//! driver; the cost of a request is the slope between them.

pub(crate) mod busy;
pub mod counter;
pub mod figures;
pub mod profile;
pub mod program;
pub mod relay;
pub mod server_run;
pub mod threads;
pub mod tool;
pub mod variant_runs;
pub mod work;
