//! Charts of a run: writes the data of each as text and runs gnuplot, which draws SVG and PNG; one gnuplot on each core.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::report::format::{count, time};
use crate::report::gnuplot::{self, ChartError};
use crate::report::kind::Kind;
use wirebench_judge::summary::{Section, candidate_rounds, sections};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Latency, RoundStatus, Run, Series};

/// The plot scripts, included so that charts can be drawn in any project.
const SCRIPTS: [(&str, &str); 3] = [
    ("style.gnuplot", include_str!("../../../../scripts/plot/style.gnuplot")),
    ("bars.gnuplot", include_str!("../../../../scripts/plot/bars.gnuplot")),
    (
        "latency.gnuplot",
        include_str!("../../../../scripts/plot/latency.gnuplot"),
    ),
];

/// A chart that was drawn, as `NAME.svg` and `NAME.png` in one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// The scenario it shows.
    pub scenario: String,
    /// File name without ending.
    pub name: String,
    /// What it shows, in words, for people who cannot see it.
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
    let unwritable = |source| ChartError::Write {
        file: folder.to_path_buf(),
        source,
    };
    fs::create_dir_all(folder).map_err(unwritable)?;
    let scripts = gnuplot::folder_with(&SCRIPTS)?;
    let sections = sections(run);
    let wanted: Vec<(&Section, Drawing)> = sections
        .iter()
        .flat_map(|section| drawings(section).into_iter().map(move |drawing| (section, drawing)))
        .collect();
    let drawn = wanted.par_iter().map(|(section, drawing)| {
        let name = format!("{}-{}", section.scenario, drawing.kind);
        let data = folder.join(format!("{name}.tsv"));
        gnuplot::write(&data, &drawing.data)?;
        for ending in ["svg", "png"] {
            let picture = folder.join(format!("{name}.{ending}"));
            drawing.draw_into(gnuplot, scripts.path(), &data, &picture)?;
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
    /// Draws one picture; the extension of its file selects the format.
    fn draw_into(&self, gnuplot: &Path, scripts: &Path, data: &Path, picture: &Path) -> Result<(), ChartError> {
        let mut command = wirebench_spawn::command(gnuplot);
        command.arg("-c").arg(scripts.join(self.script));
        command.args([data, picture]).args([&self.title, self.unit]);
        gnuplot::run(command, picture)
    }
}

fn drawings(section: &Section) -> Vec<Drawing> {
    let bars = |kind, title: &str, unit, metric, scale: f64, text: fn(f64) -> String| Drawing {
        script: "bars.gnuplot",
        kind,
        title: format!("{}: {title}", section.scenario),
        unit,
        data: bar_rows(section, metric, scale, text),
    };
    let all = match Kind::of(section) {
        Kind::StartUp => vec![bars(
            "start",
            "exec to first good answer",
            "ms (lower is better)",
            Metric::LatencyP50,
            1e6,
            time,
        )],
        Kind::Benchmark => vec![bars(
            "iteration",
            "one iteration",
            "ns (lower is better)",
            Metric::LatencyP50,
            1.0,
            time,
        )],
        Kind::Load => vec![
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
        ],
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
        // The note applies to throughput alone: the driver does not limit the other metrics.
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

/// The values of a picture, in one sentence.
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
