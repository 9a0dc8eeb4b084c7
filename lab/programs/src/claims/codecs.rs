//! Encoding and decoding without a server: a payload's time in JSON and in protobuf.

use crate::claims::figures::{median_of, pair};
use crate::claims::publication::Codec;
use wirebench_judge::summary::head_to_head::Multiple;
use wirebench_present::report::format::{plain, three_digits, time};
use wirebench_present::report::head_to_head::times;
use wirebench_present::report::table::{Table, number, text};
use wirebench_record::run::{Round, Run};

/// The table with a sentence about all rows; empty if the run has none of the series.
pub(super) fn section(codecs: &[Codec], run: &Run) -> String {
    let measured: Vec<(&Codec, [f64; 2], Multiple)> = codecs.iter().filter_map(|codec| measured(codec, run)).collect();
    let ratios = || measured.iter().map(|(_, _, ratio)| ratio.times);
    let Some((least, most)) = ratios().reduce(f64::min).zip(ratios().reduce(f64::max)) else {
        return String::new();
    };
    let [least, most] = [least, most].map(three_digits);
    let rows = measured
        .into_iter()
        .map(|(codec, [json, protobuf], ratio)| [plain(&codec.what), time(json), time(protobuf), times(Some(ratio))]);
    let columns = [
        text("payload, operation"),
        number("JSON"),
        number("protobuf"),
        number("×"),
    ];
    format!(
        "### Encoding and decoding, without a server (criterion)\n\nprotobuf takes × {least} to × {most} of JSON's time. \
         Median time of one operation; criterion's own report with its densities is in the workflow's artifact.\n\n{}\n",
        Table::new(columns, rows).markdown()
    )
}

/// A codec with the medians of JSON and protobuf, and their ratio.
fn measured<'a>(codec: &'a Codec, run: &Run) -> Option<(&'a Codec, [f64; 2], Multiple)> {
    let [json, protobuf] = pair(run, &codec.pair)?;
    let medians = [median_of(json, p50)?, median_of(protobuf, p50)?];
    Some((codec, medians, Multiple::over(protobuf, json, p50)?))
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of one operation")]
fn p50(round: &Round) -> Option<f64> {
    round.latency_ns.map(|latency| latency.p50 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_run_has_a_row_of_each_operation() {
        let run: Run = serde_json::from_str(include_str!("../../../results/comparisons/A/run.json")).unwrap();
        let codec = |what: &str| Codec {
            what: what.into(),
            pair: ["json", "protobuf"].map(|format| format!("a-serialization-user-{format}-{what}@domain@criterion")),
        };
        let shown = section(&[codec("encode"), codec("decode"), codec("unknown")], &run);
        assert!(
            shown.contains("protobuf takes × 0.") && shown.contains("| decode | "),
            "{shown}"
        );
        assert!(!shown.contains("unknown"), "{shown}");
        assert_eq!(section(&[codec("unknown")], &run), "");
    }
}
