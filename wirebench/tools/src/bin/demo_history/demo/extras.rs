//! The parts of the history that are no runs: messages of commits, a comparison with flame graphs, an import.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use wirebench_declare::compare::{Compare, Margins};
use wirebench_history::import::{keep, parse};
use wirebench_judge::compare::{Rules, paired};
use wirebench_present::report::flames;
use wirebench_record::history::CommitInfo;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Run, Series, Variant};

use super::chance::{Chance, hex};
use super::events::{ACCEPTED, WORSE};
use super::json_file::write_json;
use super::pushes::Push;

/// Invented authors.
const AUTHORS: [&str; 4] = ["Ada Example", "Brook Sample", "Chris Madeup", "Dana Invented"];
/// Messages of the pushes at which something happened.
const EVENTS: [(usize, &str); 10] = [
    (60, "Serve each connection on its own worker (#41)"),
    (98, "Log every request (#67)"),
    (116, "Log one request in a hundred (#80)"),
    (140, "Build with Rust 1.88 (#95)"),
    (160, "Borrow header names instead of copying them (#107)"),
    (199, "Link the reflection service (#131)"),
    (204, "Cache encoded answers (#134)"),
    (ACCEPTED, "Check the deadline that the caller sends (#158)"),
    (246, "Reuse the encoder of a stream (#163)"),
    (WORSE, "Trace every request header (#170)"),
];
/// Messages of all others.
const ORDINARY: [&str; 8] = [
    "Update dependencies",
    "Fix a typing error in the documentation",
    "Test an empty city",
    "Rename a module",
    "Add a city",
    "Tidy up error messages",
    "Run the linter in CI",
    "Raise the time limit of a test",
];

/// The message and the author of a push's commit.
pub(super) fn commit_message(push: &Push) -> CommitInfo {
    let mut chance = Chance::of(&format!("message {}", push.place));
    let mut index_below = |count: usize| chance.below(u32::try_from(count).unwrap_or(1)) as usize;
    let event = EVENTS.iter().find(|(place, _)| *place == push.place);
    let ordinary = ORDINARY[index_below(ORDINARY.len())];
    CommitInfo {
        commit: push.commit.clone(),
        message: event.map_or(ordinary, |(_, message)| message).to_owned(),
        author: AUTHORS[index_below(AUTHORS.len())].to_owned(),
    }
}

/// Writes the first comparison whose counted instructions changed, with flame graphs of its functions.
pub(super) fn write_comparison(history: &Path, runs: &[Run]) -> anyhow::Result<()> {
    let rules = Rules {
        compare: &Compare::default(),
        margins: &Margins::default(),
    };
    let has_baseline = |run: &&Run| run.variants.iter().any(|one| one.variant == Variant::Baseline);
    for run in runs.iter().filter(has_baseline) {
        let mut comparison = paired(run, &rules).map_err(anyhow::Error::msg)?;
        let folder = history.join("kept").join(&run.id);
        let mut drawn = false;
        for series in &mut comparison.series {
            let Some(source) = run.series.iter().find(|one| one.id == series.id) else {
                continue;
            };
            let changed = series.metrics.iter_mut().filter(|metric| {
                metric.metric == Metric::Instructions
                    && metric.effect_percent.is_some_and(|percent| percent.abs() > 1.0)
            });
            for metric in changed {
                let [baseline, candidate] =
                    [Variant::Baseline, Variant::Candidate].map(|variant| stacks(source, variant));
                let flames = flames::write(&folder, &series.id, metric.metric, &baseline, &candidate)?;
                metric.flame_graph = Some(flames.difference.clone());
                for other in [flames.baseline, flames.candidate] {
                    fs::remove_file(folder.join(other))?;
                }
                drawn = true;
            }
        }
        if drawn {
            return write_json(&folder.join("comparison.json"), &comparison);
        }
    }
    anyhow::bail!("no run of the demo has a comparison whose counted instructions changed")
}

/// The functions of a counted series as stacks, in whole instructions per 1,000 requests.
fn stacks(series: &Series, variant: Variant) -> String {
    let counts = series.counts_of(variant);
    let functions = counts.iter().flat_map(|counts| &counts.functions);
    let mut text = String::new();
    for one in functions.filter(|one| one.metric == Metric::Instructions) {
        let name = one.function.replace(';', ":");
        let above = match name.split("::").next().unwrap_or_default() {
            "tokio" => "",
            "_int_malloc" | "_int_free" | "__memcpy_avx_unaligned_erms" => "dispatch;respond;allocate;",
            "http_server" | "grpc_server" => "dispatch;respond;",
            _ => "dispatch;",
        };
        let _ = writeln!(text, "main;run;{above}{name} {:.0}", one.cost * 1_000.0);
    }
    text
}

/// Imports a suite of another tool: three benchmarks, one of which gets slower.
pub(super) fn import(history: &Path) -> anyhow::Result<()> {
    let mut chance = Chance::of("import");
    let entry = |number: usize, chance: &mut Chance| -> Value {
        let slower = if number >= 48 { 1.18 } else { 1.0 };
        let values = [
            ("encode an answer", 412.0 * slower, "ns/iter"),
            ("decode a request", 1_873.0, "ns/iter"),
            ("parse a city", 96.4, "ns/iter"),
        ];
        let benches = values.map(|(name, value, unit)| json!({"name": name, "unit": unit, "value": (value * chance.factor(0.012) * 100.0).round() / 100.0}));
        let day = number % 28 + 1;
        let time = format!("2026-{:02}-{day:02}T10:00:00Z", 7 + number / 28);
        json!({
            "commit": {"id": hex(&format!("imported {number}"), 40), "message": ORDINARY[number % ORDINARY.len()], "timestamp": time,
                "author": {"name": AUTHORS[number % AUTHORS.len()]}},
            "date": 1_782_900_000_000_u64 + 86_400_000 * number as u64,
            "tool": "cargo",
            "benches": benches,
        })
    };
    let entries: Vec<Value> = (0..60).map(|number| entry(number, &mut chance)).collect();
    let data = json!({"lastUpdate": 0, "repoUrl": "", "entries": {"codec": entries}});
    keep(history, "codec", &parse(&data.to_string())?)?;
    Ok(())
}
