//! Numbers in, numbers out: no files, no clock, no serialisation.

pub mod holm;
pub mod location;
pub mod proportion;
pub mod quantile;
pub mod rank_sum;
