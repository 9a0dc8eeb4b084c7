//! Still pictures: writes each chart's data as text and lets gnuplot draw it, as SVG and PNG, one gnuplot on each core.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::report::format::{count, time};
use wirebench_judge::summary::{Row, Section, candidate_rounds, sections};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Latency, RoundStatus, Run, Series};

/// Why a chart could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The folder or the data cannot be written.
    #[error("{}: cannot be written: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// gnuplot cannot be started.
    #[error("gnuplot cannot be started: {0}; reinstall it")]
    Start(std::io::Error),
    /// gnuplot refused.
    #[error("gnuplot could not draw {}: {message}", file.display())]
    Draw {
        /// The picture.
        file: PathBuf,
        /// gnuplot's message.
        message: String,
    },
}

/// The plot scripts, carried along so that charts are drawn in any project.
const SCRIPTS: [(&str, &str); 3] = [
    ("style.gnuplot", include_str!("../../../../scripts/plot/style.gnuplot")),
    ("bars.gnuplot", include_str!("../../../../scripts/plot/bars.gnuplot")),
    (
        "latency.gnuplot",
        include_str!("../../../../scripts/plot/latency.gnuplot"),
    ),
];

/// A picture that was drawn, without its ending: `.svg` and `.png` lie beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// The scenario it shows.
    pub scenario: String,
    /// File name without ending.
    pub name: String,
    /// What it shows, in words, for people who do not see it.
    pub alt: String,
}

struct Drawing {
    script: &'static str,
    kind: &'static str,
    title: String,
    unit: &'static str,
    data: String,
}

/// Draws every chart of a run into `folder` with the gnuplot at `gnuplot`.
///
/// # Errors
/// When the folder cannot be written or gnuplot fails.
pub fn draw(run: &Run, gnuplot: &Path, folder: &Path) -> Result<Vec<Chart>, ChartError> {
    let write = |file: &Path, done: std::io::Result<()>| {
        done.map_err(|source| ChartError::Write {
            file: file.to_path_buf(),
            source,
        })
    };
    write(folder, fs::create_dir_all(folder))?;
    let scripts = tempfile::tempdir().map_err(|source| ChartError::Write {
        file: std::env::temp_dir(),
        source,
    })?;
    for (name, text) in SCRIPTS {
        let file = scripts.path().join(name);
        write(&file, fs::write(&file, text))?;
    }
    let sections = sections(run);
    let wanted: Vec<(&Section, Drawing)> = sections
        .iter()
        .flat_map(|section| drawings(section).into_iter().map(move |drawing| (section, drawing)))
        .collect();
    let drawn = wanted.par_iter().map(|(section, drawing)| {
        let name = format!("{}-{}", section.scenario, drawing.kind);
        let data = folder.join(format!("{name}.tsv"));
        write(&data, fs::write(&data, &drawing.data))?;
        for ending in ["svg", "png"] {
            let picture = folder.join(format!("{name}.{ending}"));
            drawing.draw_into(gnuplot, scripts.path(), &data, picture)?;
        }
        Ok(Chart {
            scenario: section.scenario.to_owned(),
            name,
            alt: alt(section, drawing),
        })
    });
    drawn.collect()
}

impl Drawing {
    /// Draws one picture; its file's ending says of which kind.
    fn draw_into(&self, gnuplot: &Path, scripts: &Path, data: &Path, picture: PathBuf) -> Result<(), ChartError> {
        let output = wirebench_spawn::command(gnuplot)
            .arg("-c")
            .arg(scripts.join(self.script))
            .args([data, &picture])
            .args([&self.title, self.unit])
            .output()
            .map_err(ChartError::Start)?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
        Err(ChartError::Draw { file: picture, message })
    }
}

fn drawings(section: &Section) -> Vec<Drawing> {
    let start_up = section.rows.iter().all(Row::is_start_up);
    let benchmark = section.rows.iter().all(Row::is_benchmark);
    let bars = |kind, title: &str, unit, metric, scale: f64, text: fn(f64) -> String| Drawing {
        script: "bars.gnuplot",
        kind,
        title: format!("{}: {title}", section.scenario),
        unit,
        data: bar_rows(section, metric, scale, text),
    };
    let all = if start_up {
        vec![bars(
            "start",
            "exec to first good answer",
            "ms (lower is better)",
            Metric::LatencyP50,
            1e6,
            time,
        )]
    } else if benchmark {
        vec![bars(
            "iteration",
            "one iteration",
            "ns (lower is better)",
            Metric::LatencyP50,
            1.0,
            time,
        )]
    } else {
        vec![
            bars(
                "throughput",
                "throughput",
                "good answers per second (higher is better)",
                Metric::Throughput,
                1.0,
                count,
            ),
            bars(
                "cpu",
                "server CPU per request",
                "µs (lower is better)",
                Metric::ServerCpu,
                1e3,
                time,
            ),
            Drawing {
                script: "latency.gnuplot",
                kind: "latency",
                title: format!("{}: latency quantiles", section.scenario),
                unit: "latency (lower is better)",
                data: latency_blocks(section),
            },
        ]
    };
    all.into_iter()
        .filter(|drawing| {
            drawing
                .data
                .lines()
                .any(|line| line.contains(|c: char| c.is_ascii_digit()) && !line.contains("NaN"))
        })
        .collect()
}

/// `label value low high group text note`, tab-separated, with a header line.
fn bar_rows(section: &Section, metric: Metric, scale: f64, text: fn(f64) -> String) -> String {
    let mut data = String::from("label\tvalue\tlow\thigh\tgroup\ttext\tnote\n");
    for row in &section.rows {
        let Some(spread) = row.spread(metric) else {
            let _ = writeln!(
                data,
                "{}\tNaN\tNaN\tNaN\t{}\tno value\t{}",
                label(row.series),
                group(row.series),
                row.note()
            );
            continue;
        };
        // Only a throughput is held back by the driver; the other numbers stand as they are.
        let note = if metric == Metric::Throughput {
            row.note()
        } else {
            String::new()
        };
        let (value, low, high) = (spread.median / scale, spread.low / scale, spread.high / scale);
        let _ = writeln!(
            data,
            "{}\t{value}\t{low}\t{high}\t{}\t{}\t{note}",
            label(row.series),
            group(row.series),
            text(spread.median)
        );
    }
    data
}

/// One block a series: the quoted label, then `tail seconds q` for the round whose median latency is the middle one.
#[expect(clippy::cast_precision_loss, reason = "latencies stay far below 2^53 ns")]
fn latency_blocks(section: &Section) -> String {
    let mut blocks = Vec::new();
    for row in &section.rows {
        let Some((latency, samples)) = middle_round(row.series) else {
            continue;
        };
        let mut data = String::new();
        let _ = writeln!(data, "\"{}\"", label(row.series));
        let shares = [
            (2.0, latency.p50, "p50"),
            (10.0, latency.p90, "p90"),
            (20.0, latency.p95, "p95"),
            (100.0, latency.p99, "p99"),
            (1000.0, latency.p999, "p99.9"),
            ((samples as f64).min(1e6), latency.max, "max"),
        ];
        for (tail, ns, name) in shares
            .into_iter()
            .filter(|(tail, ns, _)| *tail <= samples as f64 && *ns > 0)
        {
            let _ = writeln!(data, "{tail} {} {name}", ns as f64 / 1e9);
        }
        blocks.push(data);
    }
    blocks.join("\n\n")
}

/// The good round with the middle median latency, and how many samples it has: a curve must come from one round.
fn middle_round(series: &Series) -> Option<(Latency, u64)> {
    let good = candidate_rounds(series).filter(|round| round.status == RoundStatus::Ok);
    let mut found: Vec<(Latency, u64)> = good
        .filter_map(|round| Some((round.latency_ns?, round.ok_count?)))
        .collect();
    found.sort_by_key(|(latency, _)| latency.p50);
    found.get(found.len() / 2).copied()
}

fn label(series: &Series) -> String {
    format!("{} · {}", series.server, series.driver)
}

fn group(series: &Series) -> u8 {
    match series.protocol.as_str() {
        "http" => 0,
        "h2c" => 1,
        "grpc" => 2,
        "https" => 4,
        "grpcs" => 5,
        "grpc-web" => 6,
        _ => 3,
    }
}

/// The fact in a picture, in one sentence.
fn alt(section: &Section, drawing: &Drawing) -> String {
    let metric = match drawing.kind {
        "throughput" => Metric::Throughput,
        "cpu" => Metric::ServerCpu,
        _ => Metric::LatencyP50,
    };
    let write = if metric == Metric::Throughput { count } else { time };
    let values = section
        .rows
        .iter()
        .filter_map(|row| Some(format!("{} {}", label(row.series), write(row.spread(metric)?.median))));
    let what = if drawing.kind == "latency" { "median of " } else { "" };
    format!("{what}{}: {}", drawing.title, values.collect::<Vec<_>>().join(", "))
}
