//! Numbers of the document, and medians of a run's series.

use wirebench_judge::summary::candidate_rounds;
use wirebench_judge::summary::head_to_head::Multiple;
use wirebench_present::report::format::{count, three_digits};
use wirebench_present::report::head_to_head::times;
use wirebench_record::run::{Round, Run, Series};
use wirebench_stats::quantile::median;

/// A figure of a table or sentence: without decimals from 100 on, with thousands separators.
pub(crate) fn figure(value: f64) -> String {
    if value >= 99.95 {
        count(value)
    } else if value == 0.0 {
        "0".into()
    } else {
        three_digits(value)
    }
}

/// A ratio with its interval; bold if equality lies outside.
pub(super) fn marked(ratio: Option<Multiple>) -> String {
    let text = times(ratio);
    if ratio.is_some_and(|ratio| ratio.is_clear()) {
        format!("**{text}**")
    } else {
        text
    }
}

/// A series of a run.
pub(super) fn series<'a>(run: &'a Run, id: &str) -> Option<&'a Series> {
    run.series.iter().find(|series| series.id == id)
}

/// Two series of a run; `None` if it lacks one of them.
pub(super) fn pair<'a>(run: &'a Run, [first, second]: &[String; 2]) -> Option<[&'a Series; 2]> {
    Some([series(run, first)?, series(run, second)?])
}

/// The median of a value over the candidate's rounds; `None` if no round has it.
pub(super) fn median_of(series: &Series, read: impl Fn(&Round) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = candidate_rounds(series).filter_map(read).collect();
    median(&values)
}

/// Bytes of a response's body or message.
#[expect(clippy::cast_precision_loss, reason = "a response has far fewer than 2^53 bytes")]
pub(super) fn payload(round: &Round) -> Option<f64> {
    round.payload_bytes.map(|bytes| bytes as f64)
}
