//! What a comparison has besides its claims: single factors, codecs without a server, one server asked by several clients, a
//! monthly estimate.

use serde::Deserialize;

use super::{is_series, no_series};
use crate::read::{DeclareError, Place};

/// A payload that is encoded or decoded without a server, in two formats.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codec {
    /// The payload and what is done with it.
    pub what: String,
    /// The two series: JSON, then protobuf.
    pub pair: [String; 2],
}

/// One thing that is changed while all else stays.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// What is changed, and in what.
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

/// Checks series and figures.
///
/// # Errors
/// When a series is not `scenario@server@driver`, a figure is negative, or there are no requests.
pub(super) fn check(
    (factors, codecs): (&[Factor], &[Codec]),
    cross_check: &[String],
    month: Option<&Month>,
    place: &Place,
) -> Result<(), DeclareError> {
    let of_factors = factors
        .iter()
        .enumerate()
        .map(|(number, factor)| ("factors", number, &factor.pair));
    let of_codecs = codecs
        .iter()
        .enumerate()
        .map(|(number, codec)| ("codecs", number, &codec.pair));
    for (key, number, pair) in of_factors.chain(of_codecs) {
        if let Some(id) = pair.iter().find(|id| !is_series(id)) {
            return Err(place.wrong(&format!("{key}[{number}].pair"), no_series(id)));
        }
    }
    if let Some(id) = cross_check.iter().find(|id| !is_series(id)) {
        return Err(place.wrong("cross_check", no_series(id)));
    }
    let Some(month) = month else { return Ok(()) };
    if let Some(id) = month.pair.iter().find(|id| !is_series(id)) {
        return Err(place.wrong("month.pair", no_series(id)));
    }
    if let Some(value) = month
        .published_gb
        .iter()
        .find(|value| !(value.is_finite() && **value >= 0.0))
    {
        let message = format!("expected figures from 0 up, found {value}");
        return Err(place.wrong("month.published_gb", message));
    }
    let requests = month.requests_per_day;
    if !(requests.is_finite() && requests > 0.0) {
        let message = format!("expected a number above 0, found {requests}");
        return Err(place.wrong("month.requests_per_day", message));
    }
    Ok(())
}
