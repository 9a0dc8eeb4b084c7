//! Numbers in, numbers out: no files, no clock, no serialisation.

pub mod quantile;
