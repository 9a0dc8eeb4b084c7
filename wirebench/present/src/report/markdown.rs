//! `report.md`: what was measured, in tables and pictures, with all that is needed to repeat it.

use std::fmt::Write as _;

use crate::report::cells;
use crate::report::charts::Chart;
use crate::report::counted;
use crate::report::format::{self, bytes, count, plain, time};
use crate::report::head_to_head;
use crate::report::limits;
use crate::report::offered;
use wirebench_judge::limits::judge;
use wirebench_judge::summary::{Row, Section, harness_share, sections};
use wirebench_record::run::{Host, Pinning, Run, RunStatus, SeriesStatus};

/// The run as Markdown; `charts` lie in the folder `charts/` beside it.
#[must_use]
pub fn render(run: &Run, charts: &[Chart]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# wirebench run {}\n", run.id);
    let _ = writeln!(out, "{}\n", headline(run));
    troubles(run, &mut out);
    for section in sections(run) {
        scenario(&section, charts, &mut out);
    }
    out.push_str(&counted::markdown(run));
    out.push_str(&limits::markdown(&judge(run)));
    out.push_str(HOW_TO_READ);
    machine(run, &mut out);
    out
}

fn headline(run: &Run) -> String {
    let timed = || run.series.iter().filter(|series| !series.is_counted());
    let good = timed().filter(|series| series.status == SeriesStatus::Ok).count();
    let counted = counted::tally(run).map_or_else(String::new, |tally| format!(" {tally}."));
    let state = match run.status {
        RunStatus::Complete => "complete",
        RunStatus::Incomplete => "**incomplete**",
        RunStatus::Failed => "**failed in part**",
    };
    let reason = run
        .reason
        .as_ref()
        .map_or(String::new(), |reason| format!(" ({})", plain(reason)));
    format!(
        "{} of {} series good in every round, {} rounds each, profile `{}`: {state}{reason}.{counted}",
        good,
        timed().count(),
        run.rounds_planned,
        run.profile
    )
}

fn troubles(run: &Run, out: &mut String) {
    let troubled: Vec<_> = run
        .series
        .iter()
        .filter(|series| series.status != SeriesStatus::Ok && !series.is_counted())
        .collect();
    if troubled.is_empty() {
        return;
    }
    out.push_str("## Not every round is good\n\n| series | why |\n|---|---|\n");
    for series in troubled {
        let reason = plain(series.reason.as_deref().unwrap_or("no reason recorded"));
        let _ = writeln!(out, "| `{}` | {reason} |", series.id);
    }
    out.push('\n');
}

fn scenario(section: &Section, charts: &[Chart], out: &mut String) {
    let _ = writeln!(out, "## {}\n", section.scenario);
    if section.rows.iter().all(Row::is_start_up) {
        start_up(section, out);
    } else if section.rows.iter().all(Row::is_benchmark) {
        benchmark(section, out);
    } else {
        load(section, out);
        out.push_str(&offered::markdown(section));
        out.push_str(&head_to_head::markdown(section));
        chains(section, out);
    }
    for chart in charts.iter().filter(|chart| chart.scenario == section.scenario) {
        let _ = writeln!(out, "![{}](charts/{}.svg)\n", chart.alt, chart.name);
    }
}

fn load(section: &Section, out: &mut String) {
    if let Some(load) = section.rows.first().map(|row| &row.series.load) {
        let amount = match (load.requests, load.duration_ns) {
            #[expect(clippy::cast_precision_loss, reason = "request counts stay below 2^53")]
            (Some(requests), _) => format!("{} requests", count(requests as f64)),
            #[expect(clippy::cast_precision_loss, reason = "durations stay below 2^53 ns")]
            (_, Some(ns)) => time(ns as f64),
            _ => offered::stages(load).unwrap_or_else(|| "no load".into()),
        };
        let pace = offered::pace(load).map_or(String::new(), |pace| format!("; {pace}"));
        let connections = load.connections.unwrap_or(1);
        let streams = load.streams.unwrap_or(1);
        let _ = writeln!(
            out,
            "{amount} a round, connections × streams: {connections} × {streams}{pace}.\n"
        );
    }
    let heads = cells::load_heads(|metric| metric.row().column.unwrap_or_default().to_owned());
    let _ = writeln!(
        out,
        "| server | driver | protocol | {} | payload | note |\n|---|---|---|{}--:|---|",
        heads.join(" | "),
        "--:|".repeat(heads.len())
    );
    for row in &section.rows {
        let series = row.series;
        #[expect(clippy::cast_precision_loss, reason = "payloads stay below 2^53 bytes")]
        let payload = row.payload_bytes.map_or("–".into(), |size| bytes(size as f64));
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {payload} | {} |",
            series.server,
            series.driver,
            series.protocol,
            cells::load(row).join(" | "),
            row.note()
        );
    }
    out.push('\n');
}

fn start_up(section: &Section, out: &mut String) {
    out.push_str("From exec to the first good answer, and stopping again; every start is a new process.\n\n");
    out.push_str("| server | driver | starts a round | p50 | slowest | note |\n|---|---|--:|--:|--:|---|\n");
    for row in &section.rows {
        let series = row.series;
        let starts = series.load.starts.unwrap_or(0);
        let _ = writeln!(
            out,
            "| {} | {} | {starts} | {} | {} |",
            series.server,
            series.driver,
            cells::start_up(row).join(" | "),
            row.note()
        );
    }
    out.push('\n');
}

fn benchmark(section: &Section, out: &mut String) {
    out.push_str(
        "Time of one iteration inside the program, without a server; a sample is the mean of many iterations.\n\n",
    );
    out.push_str("| server | driver | samples a round | p50 | p99 | note |\n|---|---|--:|--:|--:|---|\n");
    for row in &section.rows {
        let series = row.series;
        let samples = series.load.samples.unwrap_or(0);
        let _ = writeln!(
            out,
            "| {} | {} | {samples} | {} | {} |",
            series.server,
            series.driver,
            cells::benchmark(row).join(" | "),
            row.note()
        );
    }
    out.push('\n');
}

/// What each process used, for servers of several.
fn chains(section: &Section, out: &mut String) {
    for row in &section.rows {
        let lines = cells::processes(row.series);
        if lines.is_empty() {
            continue;
        }
        let (server, driver) = (&row.series.server, &row.series.driver);
        let _ = writeln!(out, "Processes of the chain {server}, asked by {driver}:\n");
        let _ = writeln!(out, "| {} |", cells::PROCESS_HEADS.join(" | "));
        out.push_str("|---|--:|--:|--:|--:|--:|--:|\n");
        for line in lines {
            let _ = writeln!(out, "| {} |", line.join(" | "));
        }
        out.push('\n');
    }
}

const HOW_TO_READ: &str = "## How to read this

- Values are medians over the rounds that passed every check; ± % is half the range of those rounds.
- **client-bound**: the driver used 85 % or more of its cores. Its throughput is what the driver can send, not what the server can answer; \
compare server CPU per request instead. **neither side busy**: the connections were the limit.
- Drivers differ in what they cost and how they time; compare rows of one driver.
- This is one run on one machine. It says nothing about a change: that takes a baseline measured beside it.

";

fn machine(run: &Run, out: &mut String) {
    out.push_str("## Machine, tools, repeat\n\n");
    machines(run, out);
    let _ = writeln!(out, "- {}", format::tools(&run.tools));
    for revision in &run.variants {
        let commit = revision.commit.as_deref().unwrap_or("no commit");
        let modified = if revision.modified == Some(true) {
            ", with local changes"
        } else {
            ""
        };
        let _ = writeln!(out, "- code: `{commit}`{modified}");
    }
    let _ = writeln!(
        out,
        "- started {}, finished {}, seed {}",
        run.started_at, run.finished_at, run.seed
    );
    if let Some(share) = harness_share(run) {
        #[expect(clippy::cast_precision_loss, reason = "times stay far below 2^53 ns")]
        let (load, measure) = (time(run.spent.load_ns as f64), time(run.spent.measure_ns as f64));
        let _ = writeln!(
            out,
            "- {load} of load in {measure}; {:.1} % of it went into probing, stopping and normalising",
            share * 100.0
        );
    }
    let _ = writeln!(out, "- repeat: `{}`", plain(&run.repeat));
}

/// The machine, or of several each with what it measured.
fn machines(run: &Run, out: &mut String) {
    let said = |host: &Host, cores: &Pinning| {
        let machine = format::machine(host);
        format!("{machine}, fingerprint `{}`\n- {}", host.fingerprint, pinning(cores))
    };
    if let Some(others) = format::other_hosts(run) {
        let machine = format::machine(&run.host);
        let _ = writeln!(
            out,
            "- driver on {machine}, fingerprint of both `{}`\n- {others}",
            run.host.fingerprint
        );
        return;
    }
    if run.shards.is_empty() {
        let _ = writeln!(out, "- {}", said(&run.host, &run.pinning));
        return;
    }
    let all = run.shards.len();
    let _ = writeln!(
        out,
        "- measured on {all} machines at once, each series on one of them: compare rows of one machine"
    );
    for (number, shard) in (1..).zip(&run.shards) {
        let series: Vec<String> = shard.series.iter().map(|id| format!("`{}`", plain(id))).collect();
        let _ = writeln!(
            out,
            "- shard {number} of {all}, run `{}`, seed {}: {}; {}",
            shard.run,
            shard.seed,
            said(&shard.host, &shard.pinning).replace("\n- ", "; "),
            if series.is_empty() {
                "no series".into()
            } else {
                series.join(", ")
            }
        );
    }
}

fn pinning(pinning: &Pinning) -> String {
    let list = |cores: &[usize]| cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let cores = if pinning.server_cores.is_empty() {
        "server and driver share all cores".into()
    } else {
        format!(
            "server on core {}, driver on core {}",
            list(&pinning.server_cores),
            list(&pinning.driver_cores)
        )
    };
    let beside = if pinning.unlocked {
        "; without the machine's lock: another measurement may have run beside it"
    } else {
        ""
    };
    cores + beside
}
