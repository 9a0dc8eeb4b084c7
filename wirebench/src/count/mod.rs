//! Exact costs: what a request costs, counted instead of timed, and the functions that carry it.

pub mod profile;
