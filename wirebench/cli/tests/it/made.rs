//! Histories made of the recorded run, and the commands run on them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Ended, ended, repository, wirebench};

/// A folder with a history in it, outside of any project.
pub(crate) struct Place {
    folder: TempDir,
}

/// A run to be made: its number gives id, commit and time.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) number: u32,
    /// Server CPU per request, times that of the recorded run.
    pub(crate) cpu: f64,
    /// The same for the reference measured beside it; none leaves the reference out.
    pub(crate) reference: Option<f64>,
}

pub(crate) const HTTP: &str = "weather-fixed-count@http@h2load";

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        ended(wirebench(args).current_dir(self.folder.path()))
    }

    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = wirebench(args);
        let command = command.current_dir(self.folder.path()).stdout(Stdio::null());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Writes a record and gives its name.
    pub(crate) fn record(&self, name: &str, record: &Value) -> String {
        let folder = self.path(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("run.json"), record.to_string()).unwrap();
        name.to_owned()
    }

    pub(crate) fn append(&self, made: &Made) {
        let name = self.record("made", &made.record());
        let ended = self.run(&["history", "append", &name, "--to", "h"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }

    /// The trend as JSON, checked against its schema.
    pub(crate) fn trend(&self, more: &[&str]) -> (i32, Value) {
        let ended = self.run(&[&["history", "trend", "h", "--json"], more].concat());
        let trend: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr));
        assert_fits("trend.v1.schema.json", &trend);
        (ended.code, trend)
    }
}

impl Made {
    pub(crate) fn id(&self) -> String {
        format!("20261101T{:06}Z-{:06x}", self.number, self.number)
    }

    pub(crate) fn commit(&self) -> String {
        format!("{:040x}", 0xabc_0000 + self.number)
    }

    /// A small run made of the recorded one.
    pub(crate) fn record(&self) -> Value {
        let text = fs::read(repository().join("results/reference/run.json")).unwrap();
        let mut run: Value = serde_json::from_slice(&text).unwrap();
        let time = format!("2026-11-{:02}T{:02}:00:00Z", 1 + self.number / 24, self.number % 24);
        run["id"] = json!(self.id());
        run["started_at"] = json!(time);
        run["variants"] =
            json!([{"variant": "candidate", "commit": self.commit(), "modified": false, "committed_at": time}]);
        let mut series = run["series"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["id"] == HTTP)
            .unwrap()
            .clone();
        let own = series["rounds"].as_array().unwrap().clone();
        let mut rounds = scaled(&own, "candidate", self.cpu);
        if let Some(cpu) = self.reference {
            rounds.extend(scaled(&own, "reference", cpu));
            let reference = json!({"variant": "reference", "commit": "f".repeat(40), "modified": false});
            run["variants"].as_array_mut().unwrap().push(reference);
        }
        series["rounds"] = json!(rounds);
        run["series"] = json!([series]);
        run
    }
}

pub(crate) fn scaled(rounds: &[Value], variant: &str, cpu: f64) -> Vec<Value> {
    let of = |round: &Value| {
        let mut round = round.clone();
        round["variant"] = json!(variant);
        for mode in ["user", "system"] {
            let ns = round["server_cpu_ns"][mode].as_f64().unwrap() * cpu;
            round["server_cpu_ns"][mode] = serde_json::from_str(&format!("{ns:.0}")).unwrap();
        }
        round
    };
    rounds.iter().map(of).collect()
}

/// Runs on a machine whose speed changes by up to 20 %, with a step of the code's own cost at `step`.
pub(crate) fn history(count: u32, step: u32) -> Vec<Made> {
    let made = |number: u32| {
        let machine = 1.0 + 0.04 * f64::from(number * 7 % 6);
        let noise = 1.0 + 0.002 * f64::from(number * 5 % 7);
        let code = if number >= step { 1.1 } else { 1.0 };
        Made {
            number,
            cpu: machine * noise * code,
            reference: Some(machine),
        }
    };
    (0..count).map(made).collect()
}

pub(crate) fn plain(number: u32) -> Made {
    Made {
        number,
        cpu: 1.0,
        reference: None,
    }
}

pub(crate) fn assert_fits(schema: &str, document: &Value) {
    let schema = fs::read(repository().join("results/schema").join(schema)).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(document)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

pub(crate) fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

pub(crate) fn trace<'a>(trend: &'a Value, metric: &str) -> &'a Value {
    let traces = trend["traces"].as_array().unwrap();
    traces.iter().find(|trace| trace["metric"] == metric).unwrap()
}

/// Every change point of the CPU trace.
pub(crate) fn cpu_steps(trend: &Value) -> Vec<Value> {
    let segments = trace(trend, "server_cpu")["segments"].as_array().unwrap().clone();
    let points = segments
        .iter()
        .flat_map(|segment| segment["change_points"].as_array().unwrap().clone());
    points.collect()
}
