//! Numbers in, numbers out: no files, no clock, no serialisation.

pub mod change_point;
pub mod count_step;
pub mod holm;
pub mod location;
pub mod machine_mix;
pub mod mann_whitney;
pub mod proportion;
pub mod quantile;
pub mod rank_sum;
pub mod subset_sums;
