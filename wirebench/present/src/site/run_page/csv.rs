//! The rounds of a run as a table for other programs: comma-separated, one line a round (RFC 4180).

use wirebench_record::run::{Latency, Round, RoundStatus, Run, Series};

/// A column: its name with its unit, and its field in a round of a series.
type Column = (&'static str, fn(&Series, &Round) -> String);

const COLUMNS: [Column; 34] = [
    ("series", |series, _| quoted(&series.id)),
    ("scenario", |series, _| quoted(&series.scenario)),
    ("server", |series, _| quoted(&series.server)),
    ("driver", |series, _| quoted(&series.driver)),
    ("protocol", |series, _| quoted(&series.protocol)),
    ("digest", |series, _| quoted(&series.digest)),
    ("variant", |_, round| round.variant.name().into()),
    ("stage", |_, round| round.stage.to_string()),
    ("round", |_, round| round.round.to_string()),
    ("position", |_, round| round.position.to_string()),
    ("status", |_, round| status(round.status).into()),
    ("reason", |_, round| quoted(round.reason.as_deref().unwrap_or_default())),
    ("dropped", |_, round| {
        quoted(round.dropped.as_deref().unwrap_or_default())
    }),
    ("elapsed_ns", |_, round| number(round.elapsed_ns)),
    ("ok_count", |_, round| number(round.ok_count)),
    ("failed_count", |_, round| number(round.failed_count)),
    ("latency_min_ns", |_, round| latency(round, |latency| latency.min)),
    ("latency_mean_ns", |_, round| latency(round, |latency| latency.mean)),
    ("latency_p50_ns", |_, round| latency(round, |latency| latency.p50)),
    ("latency_p90_ns", |_, round| latency(round, |latency| latency.p90)),
    ("latency_p95_ns", |_, round| latency(round, |latency| latency.p95)),
    ("latency_p99_ns", |_, round| latency(round, |latency| latency.p99)),
    ("latency_p999_ns", |_, round| latency(round, |latency| latency.p999)),
    ("latency_max_ns", |_, round| latency(round, |latency| latency.max)),
    ("server_cpu_user_ns", |_, round| {
        number(round.server_cpu_ns.map(|time| time.user))
    }),
    ("server_cpu_system_ns", |_, round| {
        number(round.server_cpu_ns.map(|time| time.system))
    }),
    ("driver_cpu_user_ns", |_, round| {
        number(round.driver_cpu_ns.map(|time| time.user))
    }),
    ("driver_cpu_system_ns", |_, round| {
        number(round.driver_cpu_ns.map(|time| time.system))
    }),
    ("server_busy_permille", |_, round| {
        number(round.server_busy_permille.map(u64::from))
    }),
    ("driver_busy_permille", |_, round| {
        number(round.driver_busy_permille.map(u64::from))
    }),
    ("server_peak_rss_bytes", |_, round| number(round.server_peak_rss_bytes)),
    ("host_steal_ns", |_, round| number(round.host_steal_ns)),
    ("payload_bytes", |_, round| number(round.payload_bytes)),
    ("server_ready_ns", |_, round| number(round.server_ready_ns)),
];

/// The whole table; what was not measured is an empty field.
pub(crate) fn csv(run: &Run) -> String {
    let mut out = line(|(head, _)| head.to_owned());
    for series in &run.series {
        for round in &series.rounds {
            out += &line(|(_, field)| field(series, round));
        }
    }
    out
}

fn line(field: impl Fn(Column) -> String) -> String {
    COLUMNS.map(field).join(",") + "\r\n"
}

const fn status(status: RoundStatus) -> &'static str {
    match status {
        RoundStatus::Ok => "ok",
        RoundStatus::Invalid => "invalid",
        RoundStatus::Failed => "failed",
    }
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn latency(round: &Round, read: fn(&Latency) -> u64) -> String {
    number(round.latency_ns.as_ref().map(read))
}

/// A text as one field. One that a spreadsheet would take for a formula is led by an apostrophe.
fn quoted(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\r', '\n']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;

    #[test]
    fn every_round_is_a_line_with_a_field_for_each_head() {
        let mut run = samples::reference();
        samples::spoil(&mut run);
        let table = csv(&run);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 1 + 78);
        for line in lines.iter().filter(|line| !line.contains('"')) {
            assert_eq!(line.split(',').count(), COLUMNS.len(), "{line}");
        }
        let first =
            "start-up@grpc@hyperfine,start-up,grpc,hyperfine,process,63e1409a569a,candidate,1,0,18,ok,,,,30,0,4430221,";
        assert!(lines[1].starts_with(first), "{}", lines[1]);
        assert!(
            table.contains("invalid,\"3 of 100,000 answers had status 503\",,"),
            "{table}"
        );
    }

    #[test]
    fn fields_are_quoted_and_no_formula_is_run() {
        for (text, field) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "'=1+1"),
            ("@SUM(A1,A2)", "\"'@SUM(A1,A2)\""),
            (" x", "\" x\""),
        ] {
            assert_eq!(quoted(text), field);
        }
    }
}
