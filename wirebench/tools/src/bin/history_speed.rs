//! Prints the time and memory of judging a large history, and of appending to it.
//!
//! Usage: `cargo build --package wirebench && cargo run --package wirebench-tools --bin history_speed -- RUN.JSON [--series N]`
//! with any stored run, which is what gets appended.
#![expect(clippy::cast_precision_loss, reason = "counts")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Parser;
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use wirebench_history::append::{Admit, append};
use wirebench_record::history::{DigestFrom, Month, SCHEMA, StoredMetric, StoredRun, StoredSeries};
use wirebench_record::metric::Metric;
use wirebench_record::run::Run;

const RUNS: usize = 10_000;
const PER_MONTH: usize = 400;

/// Prints how quickly a large history is judged and appended to.
#[derive(Debug, Parser)]
struct Args {
    /// A stored run.
    #[arg(default_value = "results/reference/run.json")]
    run: PathBuf,
    /// Series of the history.
    #[arg(long, default_value_t = 60)]
    series: usize,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let run: Run = serde_json::from_slice(&fs::read(args.run)?)?;
    let folder = tempfile::tempdir()?;
    judged(folder.path(), args.series)?;
    appended(folder.path(), run)?;
    Ok(())
}

/// Judges synthetic summaries: ratios with noise, and with a step now and then.
fn judged(folder: &Path, count: usize) -> anyhow::Result<()> {
    let months = folder.join("months");
    fs::create_dir_all(&months)?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut levels = vec![0.0; count * Metric::OF_SERVER.len()];
    let mut bytes = 0;
    for number in 0..RUNS.div_ceil(PER_MONTH) {
        let month = month(number, &mut levels, &mut rng)?;
        let content = serde_json::to_vec(&month)?;
        bytes += content.len();
        fs::write(months.join(format!("{}.json", month.month)), content)?;
    }
    let metrics = Metric::OF_SERVER.len();
    println!(
        "{RUNS} runs × {count} series × {metrics} metrics, {:.0} MB of summaries",
        bytes as f64 / 1e6
    );
    let program = std::env::current_exe()?.with_file_name("wirebench");
    for turn in 1..=3 {
        let (started, before) = (Instant::now(), cpu_seconds()?);
        let status = Command::new(&program)
            .args(["history", "trend"])
            .arg(folder)
            .stdout(Stdio::null())
            .status()?;
        anyhow::ensure!(status.success(), "{}: {status}", program.display());
        // Of all children the largest one: every turn is the same.
        let peak = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
        println!(
            "  wirebench history trend, turn {turn}: {:.2} s ({:.2} s of CPU time), peak RSS {} MB",
            started.elapsed().as_secs_f64(),
            cpu_seconds()? - before,
            peak / 1024
        );
    }
    Ok(())
}

/// CPU time of all children that have ended.
fn cpu_seconds() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

fn month(number: usize, levels: &mut [f64], rng: &mut ChaCha8Rng) -> anyhow::Result<Month> {
    let start: Timestamp = "2024-01-01T00:00:00Z".parse()?;
    let month = start
        .to_zoned(TimeZone::UTC)
        .checked_add(i64::try_from(number)?.months())?;
    let runs = (0..PER_MONTH).map(|place| {
        let time = month.timestamp() + i64::try_from(place * 3600).unwrap_or_default().seconds();
        let commit = format!("{:040x}", number * PER_MONTH + place);
        StoredRun {
            bytes: None,
            file: format!("{}-{number}-{place}.json", &commit[..12]),
            id: format!("{}-{number:03}{place:03}", time.strftime("%Y%m%dT%H%M%SZ")),
            commit,
            committed_at: Some(time.to_string()),
            started_at: time.to_string(),
            host: "aae83024f209".into(),
            cpu_model: Some("AMD EPYC".into()),
            elsewhere: Vec::new(),
            reference: Some("146317b1de71f6af1a108ab616c579a85fb95d9c".into()),
            accepted: Vec::new(),
        }
    });
    let runs = runs.collect();
    let series = (0..levels.len() / Metric::OF_SERVER.len()).map(|series| StoredSeries {
        id: format!("scenario-{series}@server@driver"),
        digests: vec![DigestFrom {
            from: 0,
            digest: "63e1409a569a".into(),
        }],
        metrics: Metric::OF_SERVER
            .into_iter()
            .enumerate()
            .map(|(metric, name)| {
                column(
                    name,
                    metric,
                    &mut levels[series * Metric::OF_SERVER.len() + metric],
                    rng,
                )
            })
            .collect(),
        failures: Vec::new(),
    });
    Ok(Month {
        schema: SCHEMA.into(),
        month: month.strftime("%Y-%m").to_string(),
        runs,
        series: series.collect(),
    })
}

/// Noise of 1 % for the first metric up to 5 % for the last, with a step of 5 % in 1 of 1,000 runs.
fn column(metric: Metric, noise: usize, level: &mut f64, rng: &mut ChaCha8Rng) -> StoredMetric {
    let seven = |value: f64| format!("{value:.6e}").parse::<f64>().unwrap_or(value);
    let ratios: Vec<f64> = (0..PER_MONTH)
        .map(|_| {
            let chance: f64 = rng.random();
            if chance < 0.001 {
                *level += if rng.random::<bool>() { 0.05 } else { -0.05 };
            }
            let sum: f64 = (0..12).map(|_| rng.random::<f64>()).sum();
            seven((*level + 0.01 * (noise + 1) as f64 * (sum - 6.0)).exp())
        })
        .collect();
    StoredMetric {
        metric,
        values: ratios.iter().map(|ratio| seven(ratio * 19_412.37)).collect(),
        ratios,
        half_permille: Vec::new(),
    }
}

/// Appends a run to nothing, and beside many others in the same folder.
fn appended(folder: &Path, mut run: Run) -> anyhow::Result<()> {
    let month = run.started_at.parse::<Timestamp>()?.strftime("%Y/%m").to_string();
    let mut timed = |what: &str| -> anyhow::Result<()> {
        let started = Instant::now();
        for turn in 0..100 {
            run.id = format!("20261121T051047Z-{}{turn:03}", what.len());
            append(folder, &run, Admit::Modified)?;
        }
        println!("  append, {what}: {:.2} ms", started.elapsed().as_secs_f64() * 10.0);
        Ok(())
    };
    timed("to an empty history")?;
    let beside = folder.join("runs").join(month);
    fs::create_dir_all(&beside)?;
    for number in 0..RUNS {
        File::create(beside.join(format!("{number:012x}-other.json")))?;
    }
    timed("beside 10,000 others")
}
