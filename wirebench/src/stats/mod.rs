//! Numbers in, numbers out: no files, no clock, no serialisation.

pub mod change_point;
pub mod mann_whitney;
pub mod quantile;
