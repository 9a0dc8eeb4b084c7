//! Encoding and decoding without a server: a payload's time in JSON and in protobuf.

use std::fmt::Write as _;

use crate::report::format::{plain, three_digits, time};
use crate::report::head_to_head::times;
use wirebench_declare::claims::Codec;
use wirebench_judge::summary::candidate_rounds;
use wirebench_judge::summary::multiple::Multiple;
use wirebench_record::run::{Round, Run, Series};
use wirebench_stats::quantile::median;

/// The table, with one sentence about all rows; empty where the run has none of the series.
pub(super) fn section(codecs: &[Codec], run: &Run) -> String {
    let rows: Vec<(&Codec, [f64; 2], Multiple)> = codecs.iter().filter_map(|codec| row(codec, run)).collect();
    let Some(least) = rows.iter().map(|(_, _, beside)| beside.times).reduce(f64::min) else {
        return String::new();
    };
    let most = rows.iter().map(|(_, _, beside)| beside.times).fold(least, f64::max);
    let [least, most] = [least, most].map(three_digits);
    let mut out = format!(
        "### Encoding and decoding, without a server (criterion)\n\nprotobuf takes × {least} to × {most} of JSON's time. \
         Median time of one operation; criterion's own report with its densities is in the workflow's artifact.\n\n\
         | payload, operation | JSON | protobuf | × |\n|---|--:|--:|--:|\n"
    );
    for (codec, [json, protobuf], beside) in rows {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            plain(&codec.what),
            time(json),
            time(protobuf),
            times(Some(beside))
        );
    }
    out.push('\n');
    out
}

fn row<'a>(codec: &'a Codec, run: &Run) -> Option<(&'a Codec, [f64; 2], Multiple)> {
    let of = |id: &String| run.series.iter().find(|series| series.id == *id);
    let (json, protobuf) = (of(&codec.pair[0])?, of(&codec.pair[1])?);
    let both = [middle(json)?, middle(protobuf)?];
    Some((codec, both, Multiple::over(protobuf, json, p50)?))
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of one operation")]
fn p50(round: &Round) -> Option<f64> {
    round.latency_ns.map(|latency| latency.p50 as f64)
}

fn middle(series: &Series) -> Option<f64> {
    median(&candidate_rounds(series).filter_map(p50).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_run_has_a_row_of_each_operation() {
        let run: Run = serde_json::from_str(include_str!("../../../../results/comparisons/A/run.json")).unwrap();
        let codec = |what: &str| Codec {
            what: what.into(),
            pair: ["json", "protobuf"].map(|format| format!("a-serialization-user-{format}-{what}@domain@criterion")),
        };
        let said = section(&[codec("encode"), codec("decode"), codec("unknown")], &run);
        assert!(
            said.contains("protobuf takes × 0.") && said.contains("| decode | "),
            "{said}"
        );
        assert!(!said.contains("unknown"), "{said}");
        assert_eq!(section(&[codec("unknown")], &run), "");
    }
}
