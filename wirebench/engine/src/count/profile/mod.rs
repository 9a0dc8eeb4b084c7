//! Reads the output of valgrind, strace and perf of a server run: costs by call stack and by function.
//!
//! Files in, data out: nothing is started here. [`callgrind`] gives instructions, [`dhat`] allocations, [`strace`] system
//! calls, [`perf_stat`] instructions without functions, [`perf`] sampled CPU time; [`per_request::per_request`] takes the slope
//! of the first two, stack by stack.

pub mod callgrind;
pub mod dhat;
mod error;
mod frame;
mod names;
pub mod per_request;
pub mod perf;
pub mod perf_stat;
mod stacks;
pub mod strace;
mod symbols;
mod tree;
mod unwind;
mod waits;
mod wrappers;

pub use frame::{Frame, Origin, Rule};
pub use per_request::{FunctionSpending, PerRequest, per_request};
pub use stacks::{FrameId, RunCost, Stacks, dearest_lines};
pub use tree::Tree;
