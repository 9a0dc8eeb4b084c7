//! Variants: which code a round measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which side of a comparison a round belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// The code compared against.
    Baseline,
    /// The code in question; a run of one revision is a candidate alone.
    #[default]
    Candidate,
    /// A pinned revision measured together with the others, so that trends are ratios to it and a slower machine cancels out.
    Reference,
    /// The baseline's program once more, from another place: the embedded null. Any difference to the baseline is an error
    /// of the measurement.
    Null,
}

impl Variant {
    /// Its name, as the record writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Candidate => "candidate",
            Self::Reference => "reference",
            Self::Null => "null",
        }
    }
}
