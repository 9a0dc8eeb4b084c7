//! Checks of published figures against each other, which need no measurement.

use serde::Deserialize;

/// A check of published figures against each other.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// Which figures.
    pub about: String,
    /// What is computed.
    pub check: Check,
    /// What likely explains a contradiction.
    pub explained_by: Option<String>,
    /// The experiment or test that supports the explanation. Without it the explanation is an inference.
    pub shown_by: Option<String>,
}

/// Arithmetic on published figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Check {
    /// In a closed loop rate × mean latency is the number of requests in flight.
    LittlesLaw {
        /// Requests/s.
        throughput_rps: f64,
        /// Mean latency.
        latency_ms: f64,
        /// Connections × requests at once on each.
        in_flight: f64,
    },
    /// Bytes per second ÷ responses per second are the bytes of a response.
    BytesPerAnswer {
        /// 10^6 bytes a second.
        mb_per_s: f64,
        /// Requests/s.
        throughput_rps: f64,
        /// The smallest and the largest size of a response, bytes.
        bytes: [f64; 2],
    },
    /// Percentiles must not decrease.
    Rising {
        /// From the lowest percentile to the highest.
        percentiles_ms: Vec<f64>,
    },
    /// Requests ÷ time must be the rate.
    Total {
        /// Requests in all.
        requests: f64,
        /// How long they took.
        seconds: f64,
        /// Requests/s.
        throughput_rps: f64,
    },
    /// A stated percentage must follow from its two figures.
    MorePercent {
        /// The figure that is 100 %.
        from: f64,
        /// The other one.
        to: f64,
        /// What was stated.
        percent: f64,
    },
    /// A stated share must follow from its two counts.
    Share {
        /// The counted part.
        part: f64,
        /// Of so many.
        of: f64,
        /// What was stated.
        percent: f64,
    },
    /// The two sides did not get the same requests, as scripts or flags show.
    NotTheSame {
        /// What differs, in one sentence.
        because: String,
    },
}
