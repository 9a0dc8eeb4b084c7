//! Runs one comparison: `wirebench count` of two commands of one server; and reads its record.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde::de::DeserializeOwned;
use wirebench_record::comparison::{ComparedSeries, Comparison};
use wirebench_record::counts::Counts;
use wirebench_record::run::{Run, Variant};

/// A server of this repository, and its driver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    program: &'static str,
    driver: &'static str,
}

/// The servers that are tried.
pub(crate) const SERVERS: [Server; 2] = [
    Server {
        name: "http",
        program: "target/release/http-server",
        driver: "hey",
    },
    Server {
        name: "grpc",
        program: "target/release/grpc-server",
        driver: "ghz",
    },
];

/// The result of one comparison.
#[derive(Debug)]
pub(crate) struct Compared {
    /// The counts of the baseline and of the candidate.
    pub(crate) counts: Vec<Counts>,
    /// The judged changes.
    pub(crate) judged: ComparedSeries,
    /// Wall time of the whole command.
    pub(crate) took: Duration,
}

/// The number of lengths of a candidate's path, 5 characters apart.
const LENGTHS: usize = 20;

/// Runs comparisons, from this repository's own folder.
#[derive(Debug)]
pub(crate) struct Runner {
    wirebench: PathBuf,
    root: PathBuf,
    /// The number of comparisons so far: each candidate has a path of another length.
    compared: AtomicUsize,
}

impl Runner {
    pub(crate) fn new(wirebench: PathBuf) -> anyhow::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
        Ok(Self {
            wirebench,
            root,
            compared: AtomicUsize::new(0),
        })
    }

    /// Compares a server with more arguments with a copy of itself with others, at a path of another length.
    pub(crate) fn compare(&self, server: Server, baseline: &str, candidate: &str) -> anyhow::Result<Compared> {
        let out = tempfile::tempdir()?;
        let longer = 1 + self.compared.fetch_add(1, Ordering::Relaxed) % LENGTHS * 5;
        let copy = out.path().join("x".repeat(longer)).join("server");
        fs::create_dir_all(copy.parent().context("a folder")?)?;
        fs::copy(self.root.join(server.program), &copy)?;
        let side = |program: &Path, more: &str| format!("{}={} {more}", server.name, program.display());
        let runs = out.path().join("runs");
        let started = Instant::now();
        let output = Command::new(&self.wirebench)
            .arg("count")
            .arg("--root")
            .arg(&self.root)
            .args(["--baseline", &side(Path::new(server.program), baseline)])
            .args(["--candidate", &side(&copy, candidate), "--measure-identical"])
            .args(["--server", server.name, "--driver", server.driver, "--out"])
            .arg(&runs)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", self.wirebench.display()))?;
        let took = started.elapsed();
        let message = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "wirebench count: {}: {message}", output.status);
        let folder = run_folder(&runs)?;
        let run: Run = read(&folder.join("run.json"))?;
        let comparison: Comparison = read(&folder.join("comparison.json"))?;
        ensure!(run.series.len() == 1, "{} series, expected one", run.series.len());
        ensure!(comparison.series.len() == 1, "{} compared", comparison.series.len());
        let series = run.series.into_iter().next().context("one series")?;
        let judged = comparison.series.into_iter().next().context("one compared series")?;
        let judged_sides = [Variant::Baseline, Variant::Candidate];
        let counts: Vec<Counts> = series
            .counts
            .into_iter()
            .filter(|one| judged_sides.contains(&one.variant))
            .collect();
        ensure!(counts.len() == 2, "{} variants counted", counts.len());
        Ok(Compared { counts, judged, took })
    }
}

/// The folder of the only run, which is `out` or is in it.
fn run_folder(out: &Path) -> anyhow::Result<PathBuf> {
    let inside = fs::read_dir(out)?.flatten().map(|entry| entry.path());
    let mut folders = inside.chain([out.to_path_buf()]);
    let found = folders.find(|folder| folder.join("run.json").is_file());
    found.context("wirebench count wrote no run.json")
}

fn read<T: DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    let text = fs::read(file).with_context(|| file.display().to_string())?;
    serde_json::from_slice(&text).with_context(|| file.display().to_string())
}
