//! The rounds of a run as a table for other programs: comma-separated, one line a round (RFC 4180).

use wirebench_record::run::{Latency, Round, RoundStatus, Run, Series};

/// The names of the columns, with their units.
const HEADS: [&str; 34] = [
    "series",
    "scenario",
    "server",
    "driver",
    "protocol",
    "digest",
    "variant",
    "stage",
    "round",
    "position",
    "status",
    "reason",
    "dropped",
    "elapsed_ns",
    "ok_count",
    "failed_count",
    "latency_min_ns",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p95_ns",
    "latency_p99_ns",
    "latency_p999_ns",
    "latency_max_ns",
    "server_cpu_user_ns",
    "server_cpu_system_ns",
    "driver_cpu_user_ns",
    "driver_cpu_system_ns",
    "server_busy_permille",
    "driver_busy_permille",
    "server_peak_rss_bytes",
    "host_steal_ns",
    "payload_bytes",
    "server_ready_ns",
];

/// The whole table; what was not measured is an empty field.
pub(crate) fn csv(run: &Run) -> String {
    let mut out = HEADS.join(",") + "\r\n";
    for series in &run.series {
        for round in &series.rounds {
            out.push_str(&line(series, round).join(","));
            out.push_str("\r\n");
        }
    }
    out
}

fn line(series: &Series, round: &Round) -> Vec<String> {
    let text = |text: &str| quoted(text);
    let maybe = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    let latency = |read: fn(&Latency) -> u64| maybe(round.latency_ns.as_ref().map(read));
    let status = match round.status {
        RoundStatus::Ok => "ok",
        RoundStatus::Invalid => "invalid",
        RoundStatus::Failed => "failed",
    };
    vec![
        text(&series.id),
        text(&series.scenario),
        text(&series.server),
        text(&series.driver),
        text(&series.protocol),
        text(&series.digest),
        round.variant.name().into(),
        round.stage.to_string(),
        round.round.to_string(),
        round.position.to_string(),
        status.into(),
        text(round.reason.as_deref().unwrap_or_default()),
        text(round.dropped.as_deref().unwrap_or_default()),
        maybe(round.elapsed_ns),
        maybe(round.ok_count),
        maybe(round.failed_count),
        latency(|latency| latency.min),
        latency(|latency| latency.mean),
        latency(|latency| latency.p50),
        latency(|latency| latency.p90),
        latency(|latency| latency.p95),
        latency(|latency| latency.p99),
        latency(|latency| latency.p999),
        latency(|latency| latency.max),
        maybe(round.server_cpu_ns.map(|time| time.user)),
        maybe(round.server_cpu_ns.map(|time| time.system)),
        maybe(round.driver_cpu_ns.map(|time| time.user)),
        maybe(round.driver_cpu_ns.map(|time| time.system)),
        maybe(round.server_busy_permille.map(u64::from)),
        maybe(round.driver_busy_permille.map(u64::from)),
        maybe(round.server_peak_rss_bytes),
        maybe(round.host_steal_ns),
        maybe(round.payload_bytes),
        maybe(round.server_ready_ns),
    ]
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
            assert_eq!(line.split(',').count(), HEADS.len(), "{line}");
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
