//! Which traces of a history are judged, and how.

use globset::GlobMatcher;

use crate::trace::Rules;
use wirebench_record::accepted::Acceptance;
use wirebench_record::metric::Metric;

/// How many of the newest pushes count as recent by default.
pub const NEWEST: usize = 5;

/// Selects the traces of a history, and holds the parameters of judging them.
#[derive(Debug)]
pub struct TrendQuery {
    /// The series to judge; `None` for all.
    pub series: Option<GlobMatcher>,
    /// The metric to judge; `None` for all, and for imported values too.
    pub metric: Option<Metric>,
    /// The project's acceptances.
    pub accepted: Vec<Acceptance>,
    /// How many of the newest pushes count as recent.
    pub newest: usize,
}

impl TrendQuery {
    pub(super) fn rules(&self) -> Rules<'_> {
        Rules {
            accepted: &self.accepted,
            newest: self.newest,
        }
    }

    pub(super) fn selects(&self, series: &str) -> bool {
        self.series.as_ref().is_none_or(|glob| glob.is_match(series))
    }
}
