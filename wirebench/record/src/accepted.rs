//! Acceptances: reviewed entries of accepted.toml that say a change is intended, also carried in the records they concern.

use globset::{Glob, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;

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
    /// The entry with its glob compiled.
    ///
    /// # Errors
    /// When the series is not a glob.
    pub fn compile(self) -> Result<Acceptance, globset::Error> {
        let series = Glob::new(&self.series)?.compile_matcher();
        Ok(Acceptance { entry: self, series })
    }
}

/// An entry that can be compared with changes.
#[derive(Debug, Clone)]
pub struct Acceptance {
    /// The entry as it was written.
    pub entry: Accepted,
    series: GlobMatcher,
}

impl Acceptance {
    /// Whether it covers a worsening of a metric in a series. The size is that of the metric's own value, percent and
    /// positive: 8 for a CPU time that rose by 8 % and for a throughput that fell by 8 %. An imported value, which has no
    /// [`Metric`], is covered only by an entry for every metric.
    pub fn covers(&self, series: &str, metric: Option<Metric>, worsening_percent: f64) -> bool {
        let is_of_metric = self.entry.metric.is_none_or(|own| Some(own) == metric);
        is_of_metric && worsening_percent <= self.entry.at_most_percent && self.series.is_match(series)
    }

    /// Whether it names this commit, by as many digits as it was given.
    pub fn names(&self, commit: &str) -> bool {
        let own = self.entry.commit.as_deref();
        own.is_some_and(|own| {
            let start = commit.get(..own.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(own))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(series: &str, metric: Option<Metric>, commit: Option<&str>) -> Acceptance {
        let entry = Accepted {
            series: series.into(),
            metric,
            at_most_percent: 8.0,
            commit: commit.map(Into::into),
            reason: "compression".into(),
        };
        entry.compile().unwrap()
    }

    #[test]
    fn covers_its_series_and_metric_up_to_its_size() {
        let one = entry("*@http@*", Some(Metric::ServerCpu), None);
        assert!(one.covers("weather@http@hey", Some(Metric::ServerCpu), 8.0));
        assert!(!one.covers("weather@http@hey", Some(Metric::ServerCpu), 8.1));
        assert!(!one.covers("weather@http@hey", Some(Metric::Throughput), 1.0));
        assert!(!one.covers("weather@grpc@hey", Some(Metric::ServerCpu), 1.0));
        assert!(!one.covers("weather@http@hey", None, 1.0));
    }

    #[test]
    fn without_a_metric_it_covers_all_and_imported_values_too() {
        let all = entry("*", None, None);
        assert!(all.covers("a@b@c", Some(Metric::PeakRss), 1.0) && all.covers("a bench", None, 1.0));
    }

    #[test]
    fn names_a_commit_by_the_digits_it_has() {
        let one = entry("*", None, Some("ABCDEF1"));
        assert!(one.names("abcdef1234567890"));
        assert!(!one.names("abcdef2234567890") && !one.names("abc"));
        assert!(!entry("*", None, None).names("abcdef1234567890"));
    }
}
