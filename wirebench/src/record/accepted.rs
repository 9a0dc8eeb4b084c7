//! A reviewed word that a change is meant: one entry of accepted.toml, also carried in the records it concerns.

use globset::Glob;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::metric::Metric;

/// One entry of accepted.toml.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// Glob over series ids, `scenario@server@driver`.
    pub series: String,
    /// The metric; absent means every metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// The largest worsening that is meant, percent; a larger one is still an alert.
    pub at_most_percent: f64,
    /// The commit that brought the change, at least 7 hex digits; absent when the entry comes with the change itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Why it is meant, for people.
    pub reason: String,
}

impl Accepted {
    /// Whether it says that this worsening, percent, of this metric of this series is meant. A pattern that is no glob
    /// covers nothing.
    #[must_use]
    pub fn covers(&self, series: &str, metric: Metric, worse_by_percent: f64) -> bool {
        let glob = Glob::new(&self.series).map(|glob| glob.compile_matcher());
        self.metric.is_none_or(|meant| meant == metric)
            && worse_by_percent <= self.at_most_percent
            && glob.is_ok_and(|glob| glob.is_match(series))
    }
}
