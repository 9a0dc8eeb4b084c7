//! The rounds that a summary is made of.

use wirebench_record::run::{Round, Series, Variant};

/// The candidate's rounds. Rounds of a baseline or a reference are shown in comparisons and trends only.
pub fn candidate_rounds(series: &Series) -> impl Iterator<Item = &Round> {
    series.rounds.iter().filter(|round| round.variant == Variant::Candidate)
}
