//! Every metric of the table is known wherever metrics are shown, judged, exported or documented. Whoever adds a row
//! learns here what is still missing.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::report::comparison::terminal as comparison_terminal;
use crate::report::format::figure;
use crate::report::{cells, github_action_benchmark, markdown, terminal};
use crate::site::{run_page, samples};
use wirebench_declare::compare::Margins;
use wirebench_judge::summary::sections;
use wirebench_record::comparison::Comparison;
use wirebench_record::metric::{DefaultGate, Metric};
use wirebench_record::run::Run;
use wirebench_testing::golden;

/// The reference run, and a counted series with a figure of every counted metric.
fn run() -> Run {
    let mut run = samples::reference();
    samples::with_counts(&mut run);
    let counts = &mut run.series.last_mut().unwrap().counts[0];
    let refused = counts.figures.iter().find(|figure| figure.value.is_none()).unwrap();
    let one = refused.clone();
    let figures = Metric::known().filter(|metric| metric.is_counted());
    counts.figures = figures
        .zip(1..)
        .map(|(metric, number)| {
            let mut figure = one.clone();
            (figure.metric, figure.refused) = (metric, None);
            (figure.value, figure.spread) = (Some(10_000.0 + f64::from(number)), Some(0.0));
            figure
        })
        .collect();
    run
}

/// A comparison of one series that regressed in this metric alone.
fn comparison(metric: Metric) -> Comparison {
    let mut comparison = golden("counted-regressed");
    comparison.series.truncate(1);
    let metrics = &mut comparison.series[0].metrics;
    metrics.truncate(1);
    (metrics[0].metric, metrics[0].unit) = (metric, metric.unit().into());
    comparison
}

fn text(path: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The schemas that define metrics, by file name.
fn schemas() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/schema");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |file: std::path::PathBuf| {
        let schema: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        schema.pointer("/$defs/Metric").cloned().map(|metric| (name, metric))
    };
    files.filter_map(read).collect()
}

/// The places that must know a metric and do not, each with what to do.
#[derive(Default)]
struct Missing(Vec<String>);

impl Missing {
    fn unless(&mut self, is_known: bool, metric: Metric, what: &str) {
        if !is_known {
            self.0.push(format!("{}: {what}", metric.name()));
        }
    }

    #[track_caller]
    fn assert_none(&self) {
        assert!(self.0.is_empty(), "a metric is missing:\n  {}", self.0.join("\n  "));
    }
}

#[test]
fn a_run_shows_every_metric_that_has_a_column_in_terminal_markdown_and_page() {
    let run = run();
    let (shown, report) = (terminal::render(&run, None), markdown::render(&run, &[]));
    let page = run_page::render(&run, &samples::site(), false).unwrap();
    let sections = sections(&run);
    let row = (sections.iter().flat_map(|section| &section.rows))
        .find(|row| row.series.id == run.series[4].id)
        .unwrap();
    let mut missing = Missing::default();
    for metric in Metric::known() {
        let value = if metric.is_timed() {
            cells::median(row, metric)
        } else {
            let (value, _) = run.series.last().unwrap().counts[0].value(metric).unwrap();
            figure(metric, value)
        };
        missing.unless(
            value != "–",
            metric,
            "the sample run has no value: measure one, or set it in `run()` of this test",
        );
        if let Some(column) = metric.row().column {
            let last_word = column.rsplit(' ').next().unwrap();
            let head = if metric.is_timed() {
                metric.row().head
            } else {
                last_word
            };
            let head = head.rsplit(' ').next().unwrap();
            missing.unless(
                shown.contains(head) && shown.contains(&value),
                metric,
                "no column in the terminal (report/scenario.rs, counts.rs)",
            );
            missing.unless(
                report.contains(&format!("| {column} |")) && report.contains(&value),
                metric,
                "no column in report.md (report/scenario.rs, counts.rs)",
            );
        }
        let is_on_page = page.contains(metric.label()) || page.contains(metric.row().head);
        missing.unless(is_on_page, metric, "not on the page of a run (site/run_page/)");
    }
    missing.assert_none();
}

#[test]
fn a_comparison_names_every_metric_in_its_table() {
    let mut missing = Missing::default();
    for metric in Metric::known() {
        let comparison = comparison(metric);
        let shown = comparison_terminal::render(&comparison, None);
        let head = metric.row().head.trim_start_matches("server ");
        missing.unless(
            shown.contains(&format!(" {head} ")),
            metric,
            "no row in the terminal (report/comparison/rows.rs)",
        );
    }
    missing.assert_none();
}

#[test]
fn every_compared_metric_is_exported() {
    let run = run();
    let exported: Vec<String> = (Metric::known())
        .flat_map(|metric| github_action_benchmark::suite(&run, metric.better()))
        .map(|entry| entry.name)
        .collect();
    let mut missing = Missing::default();
    for metric in Metric::all() {
        missing.unless(
            exported
                .iter()
                .any(|name| name.ends_with(&format!(" {}", metric.label()))),
            metric,
            "not exported (report/github_action_benchmark.rs)",
        );
    }
    missing.assert_none();
}

#[test]
fn every_metric_has_a_default_margin_with_which_it_can_gate() {
    let mut missing = Missing::default();
    for metric in Metric::known() {
        let (row, margin) = (metric.row(), Margins::default().of("a@b@c", metric));
        missing.unless(
            margin.margin.percent() == row.margin_percent,
            metric,
            "its margin is not the default one (declare/src/compare.rs)",
        );
        missing.unless(
            margin.gate == (row.gate == DefaultGate::Always),
            metric,
            "a margin of 0 on a timed metric may only warn: gate is Never, or the margin is above 0",
        );
    }
    missing.assert_none();
}

#[test]
fn schemas_and_documents_name_every_metric() {
    let schemas = schemas();
    assert!(schemas.len() >= 5, "{}", schemas.len());
    let format = text("docs/FORMAT.md");
    let key = "| `margins[].metric` |";
    let margins = format.lines().find(|line| line.starts_with(key)).unwrap();
    let mut missing = Missing::default();
    for metric in Metric::known() {
        for (file, schema) in &schemas {
            missing.unless(
                schema.to_string().contains(&format!("\"{}\"", metric.name())),
                metric,
                &format!(
                    "results/schema/{file} lacks it: WIREBENCH_WRITE_SCHEMA=1 cargo test -p wirebench --test it the_committed_schema"
                ),
            );
        }
        missing.unless(
            margins.contains(&format!("`{}`", metric.name())),
            metric,
            "docs/FORMAT.md lacks it under margins[].metric",
        );
    }
    missing.assert_none();
}

#[test]
fn the_steps_for_a_new_metric_name_files_that_exist_and_do_not_read_the_table() {
    let document = text("docs/EXTENDING.md");
    let (_, rest) = document.split_once("\n## A metric\n").unwrap();
    let section = rest.split("\n## ").next().unwrap();
    let files: Vec<&str> = section
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.starts_with("wirebench/") || word.starts_with("docs/"))
        .collect();
    assert!(files.contains(&"wirebench/record/src/metric.rs"), "{files:?}");
    for file in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        assert!(path.exists(), "docs/EXTENDING.md names {file}, which does not exist");
        let reads_the_table = file.starts_with("wirebench/present/");
        assert!(
            !reads_the_table && !file.starts_with("wirebench/declare/"),
            "{file} reads the table"
        );
    }
}
