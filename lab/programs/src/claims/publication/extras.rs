//! What a comparison has in addition to its claims: single factors, codecs without a server, a monthly estimate, use cases.

use serde::Deserialize;

/// A payload that is encoded or decoded without a server, in two formats.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codec {
    /// The payload, and whether it is encoded or decoded.
    pub what: String,
    /// The two series: JSON, then protobuf.
    pub pair: [String; 2],
}

/// One thing that is changed while all else stays.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// The change, and the server that it is made in.
    pub what: String,
    /// Before and after, in words.
    pub sides: [String; 2],
    /// The two series.
    pub pair: [String; 2],
}

/// What a published monthly estimate assumes, and the two series that measure the same.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Month {
    /// Requests answered in a day.
    pub requests_per_day: f64,
    /// The names of the two sides.
    pub sides: [String; 2],
    /// The two series whose CPU, memory and traffic are taken.
    pub pair: [String; 2],
    /// Published traffic of a month, 10^9 bytes, of both sides.
    pub published_gb: [f64; 2],
}

/// A use case for which one of two sides is chosen: HTTP, then gRPC.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The shape of work that it belongs to; the document keeps the order in which groups are first named.
    pub group: String,
    /// The use case with its conditions.
    pub job: String,
    /// The reader's case that it answers, such as "a browser app"; jobs of one case are answered in one sentence.
    pub case: Option<String>,
    /// The names of the two sides.
    pub sides: [String; 2],
    /// The two series that decide it.
    pub pair: [String; 2],
}
