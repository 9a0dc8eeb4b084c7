//! Judges a run: baseline against candidate, by the rules of docs/VERDICT.md. Timed metrics are judged in two stages,
//! counts by their spread. Reads only records.

mod across;
mod cell;
mod counted;
mod exact;
mod functions;
mod null;
mod paired;
mod sampled;
mod screen;
mod series;
mod sleeps;
mod verdict;
mod work;

/// The project's settings: the size of change that must be found, margins, and which metrics gate.
pub use wirebench_declare::project::Config as Rules;

pub use across::across;
pub use paired::{lacks_null_pairs, lacks_pairs, paired};
pub use sampled::worth_sampling;
pub use screen::{next_stage, pair_costs};

/// The largest probability that a comparison of equal code calls regressed any metric that gates at every size.
pub const ALPHA_GATING: f64 = 0.04;
/// The same for the informative metrics. Of these, throughput and latency gate from a size on.
pub const ALPHA_INFORMATIVE: f64 = 0.01;
/// Both together, percent.
pub const FALSE_ALARM_AT_MOST_PERCENT: f64 = 5.0;
/// Up to this probability in the first stage, a gating metric gets fresh rounds.
pub const SCREEN: f64 = 0.20;
/// The same for an informative metric; lower, because its fresh rounds take time from gating metrics.
pub const SCREEN_INFORMATIVE: f64 = 0.05;
/// A worsening that cannot be excluded above this makes a metric inconclusive, percent.
pub const INCONCLUSIVE_ABOVE_PERCENT: f64 = 10.0;
/// The fewest pairs for a verdict.
pub const FEWEST_PAIRS: usize = wirebench_declare::plan::rerun::FEWEST_PAIRS as usize;
/// The fewest pairs of a second stage, if the budget allows them.
pub const SECOND_STAGE_PAIRS: u32 = 20;
/// The probability with which a second stage is planned to find `compare.detect`.
pub const PLANNED_POWER: f64 = 0.95;

/// A count in the record's type.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The size of change that rounds are planned to detect, as a difference of logarithms.
fn log_detect(rules: &Rules) -> f64 {
    rules.compare.detect.share().ln_1p()
}
