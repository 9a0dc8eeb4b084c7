//! Charts of a run: writes the data of each as text and runs gnuplot, which draws SVG and PNG; one gnuplot on each core.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::PresentError;
use crate::report::format::{count, direction, time};
use crate::report::gnuplot;
use crate::report::scenario::Kind;
use wirebench_judge::summary::{Row, Section, candidate_rounds, sections};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Latency, RoundStatus, Run, Series};
use wirebench_stats::quantile::median;

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
    unit: String,
    metric: Metric,
    text: fn(f64) -> String,
    data: String,
}

/// Draws every chart of a run into `folder` with the gnuplot at `gnuplot`.
///
/// # Errors
/// When the folder cannot be written or gnuplot fails.
pub fn draw(run: &Run, gnuplot: &Path, folder: &Path) -> Result<Vec<Chart>, PresentError> {
    fs::create_dir_all(folder).map_err(PresentError::unwritable(folder))?;
    let scripts = gnuplot::scripts()?;
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
            let (script, words) = (
                scripts.path().join(drawing.script),
                [drawing.title.as_str(), &drawing.unit],
            );
            gnuplot::draw(gnuplot, &script, [&data, &picture], words)?;
        }
        Ok(Chart {
            scenario: section.scenario.to_owned(),
            name,
            alt: alt(section, drawing),
        })
    });
    drawn.collect()
}

fn drawings(section: &Section) -> Vec<Drawing> {
    let bars = |kind, title: &str, unit: &str, metric: Metric, scale: f64, text: fn(f64) -> String| Drawing {
        script: "bars.gnuplot",
        kind,
        title: format!("{}: {title}", section.scenario),
        unit: format!("{unit} ({})", direction(metric.better())),
        metric,
        text,
        data: bar_rows(section, metric, scale, text),
    };
    let rate = "good answers per second";
    let all = match Kind::of(section) {
        Kind::StartUp => vec![bars(
            "start",
            "exec to first good answer",
            "ms",
            Metric::LatencyP50,
            1e6,
            time,
        )],
        Kind::Benchmark => vec![bars("iteration", "one iteration", "ns", Metric::LatencyP50, 1.0, time)],
        Kind::Load => vec![
            bars("throughput", "throughput", rate, Metric::Throughput, 1.0, count),
            bars("cpu", "server CPU per request", "µs", Metric::ServerCpu, 1e3, time),
            Drawing {
                script: "latency.gnuplot",
                data: latency_blocks(section),
                ..bars("latency", "latency quantiles", "latency", Metric::LatencyP50, 1.0, time)
            },
        ],
    };
    let has_value = |line: &str| line.contains(|c: char| c.is_ascii_digit()) && !line.contains("NaN");
    let all = all.into_iter();
    all.filter(|drawing| drawing.data.lines().any(has_value)).collect()
}

/// `label value low high group text note`, tab-separated, with a header line.
fn bar_rows(section: &Section, metric: Metric, scale: f64, text: fn(f64) -> String) -> String {
    let mut data = String::from("label\tvalue\tlow\thigh\tgroup\ttext\tnote\n");
    for row in paired(section) {
        let spread = row.spread(metric);
        let (numbers, words) = match spread {
            Some(one) => {
                let numbers = [one.median, one.low, one.high].map(|number| (number / scale).to_string());
                (numbers.join("\t"), text(one.median))
            }
            None => ("NaN\tNaN\tNaN".into(), "no value".into()),
        };
        // The note applies to throughput alone: the driver does not limit the other metrics.
        let note = match spread {
            Some(_) if metric != Metric::Throughput => String::new(),
            // What it means to be client-bound is said once, below the picture.
            _ => row.note().replace("client-bound", "*"),
        };
        let (label, group) = (label(row.series), group(row.series));
        let _ = writeln!(data, "{label}\t{numbers}\t{group}\t{words}\t{note}");
    }
    data
}

/// One block a series: the quoted label, then `tail seconds q group`. Each quantile is the median over the good rounds, as in
/// the table; a quantile that the smallest round has no sample beyond is left out.
fn latency_blocks(section: &Section) -> String {
    let mut blocks = Vec::new();
    for row in paired(section) {
        let good = candidate_rounds(row.series).filter(|round| round.status == RoundStatus::Ok);
        let rounds: Vec<(Latency, u64)> = good
            .filter_map(|round| Some((round.latency_ns?, round.ok_count?)))
            .collect();
        let samples = rounds.iter().map(|(_, samples)| *samples).min().unwrap_or(0);
        let mut data = format!("\"{}\"\n", label(row.series));
        for (tail, name, quantile) in QUANTILES.into_iter().filter(|(tail, ..)| *tail <= samples) {
            let each: Vec<f64> = rounds.iter().map(|(latency, _)| quantile(latency) as f64).collect();
            if let Some(ns) = median(&each).filter(|ns| *ns > 0.0) {
                let _ = writeln!(data, "{tail} {} {name} {}", ns / 1e9, group(row.series));
            }
        }
        if data.lines().count() > 1 {
            blocks.push(data);
        }
    }
    blocks.join("\n\n")
}

/// 1 / (1 − quantile), its name, and its value.
type Quantile = (u64, &'static str, fn(&Latency) -> u64);

const QUANTILES: [Quantile; 5] = [
    (2, "p50", |latency| latency.p50),
    (10, "p90", |latency| latency.p90),
    (20, "p95", |latency| latency.p95),
    (100, "p99", |latency| latency.p99),
    (1000, "p99.9", |latency| latency.p999),
];

/// The rows in pairs: those of one load generator stand together, HTTP before gRPC.
fn paired<'a, 'b>(section: &'b Section<'a>) -> Vec<&'b Row<'a>> {
    let mut rows: Vec<&Row> = section.rows.iter().collect();
    let first = |driver: &str| section.rows.iter().position(|row| row.series.driver == driver);
    rows.sort_by_key(|row| (first(&row.series.driver), group(row.series)));
    rows
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
    let values = section.rows.iter().filter_map(|row| {
        Some(format!(
            "{} {}",
            label(row.series),
            (drawing.text)(row.spread(drawing.metric)?.median)
        ))
    });
    let what = if drawing.kind == "latency" { "median of " } else { "" };
    format!("{what}{}: {}", drawing.title, values.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_of_a_run_say_what_its_tables_say() {
        let run: Run = serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap();
        let all = sections(&run);
        for section in all.iter().filter(|section| section.rows.iter().all(Row::has_load)) {
            let rows = paired(section);
            let drivers: Vec<&str> = rows.iter().map(|row| &*row.series.driver).collect();
            let mut together = drivers.clone();
            together.dedup();
            let mut once = together.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(together.len(), once.len(), "{drivers:?}");
            let blocks = latency_blocks(section);
            assert!(!blocks.contains("max"), "{blocks}");
            for row in rows {
                let Some(p99) = row.median(Metric::LatencyP99) else {
                    continue;
                };
                let line = format!("100 {} p99 {}", p99 / 1e9, group(row.series));
                assert!(blocks.lines().any(|one| one == line), "{line} is not in\n{blocks}");
            }
            let bars = bar_rows(section, Metric::Throughput, 1.0, count);
            assert!(!bars.contains("client-bound"), "{bars}");
        }
    }
}
