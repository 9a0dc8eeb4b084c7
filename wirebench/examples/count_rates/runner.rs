//! One comparison: `wirebench count` run once on two commands of one server, and its record read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde::de::DeserializeOwned;
use wirebench::record::comparison::{ComparedSeries, Comparison};
use wirebench::record::counts::Counts;
use wirebench::record::run::Run;

/// A server of this repository, and the driver that asks it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    program: &'static str,
    driver: &'static str,
}

/// Those that are tried.
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

/// What one comparison gave.
#[derive(Debug)]
pub(crate) struct Made {
    /// Of the baseline and of the candidate.
    pub(crate) counts: Vec<Counts>,
    /// What was said of them.
    pub(crate) judged: ComparedSeries,
    /// Wall time of the whole command.
    pub(crate) took: Duration,
}

/// Runs comparisons, from this repository's own folder.
#[derive(Debug)]
pub(crate) struct Runner {
    wirebench: PathBuf,
    root: PathBuf,
}

impl Runner {
    pub(crate) fn new(wirebench: PathBuf) -> anyhow::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
        Ok(Self { wirebench, root })
    }

    /// Counts a server with some more arguments beside itself with others.
    pub(crate) fn compare(&self, server: Server, baseline: &str, candidate: &str) -> anyhow::Result<Made> {
        let out = tempfile::tempdir()?;
        let side = |more: &str| format!("{}={} {more}", server.name, server.program);
        let started = Instant::now();
        let output = Command::new(&self.wirebench)
            .arg("count")
            .arg("--root")
            .arg(&self.root)
            .args(["--baseline", &side(baseline), "--candidate", &side(candidate)])
            .args(["--server", server.name, "--driver", server.driver, "--out"])
            .arg(out.path())
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", self.wirebench.display()))?;
        let took = started.elapsed();
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "wirebench count: {}: {said}", output.status);
        let folder = run_folder(out.path())?;
        let run: Run = read(&folder.join("run.json"))?;
        let comparison: Comparison = read(&folder.join("comparison.json"))?;
        ensure!(run.series.len() == 1, "{} series, expected one", run.series.len());
        ensure!(comparison.series.len() == 1, "{} compared", comparison.series.len());
        let series = run.series.into_iter().next().context("one series")?;
        let judged = comparison.series.into_iter().next().context("one compared series")?;
        ensure!(series.counts.len() == 2, "{} variants counted", series.counts.len());
        Ok(Made {
            counts: series.counts,
            judged,
            took,
        })
    }
}

/// The folder of the only run, which `out` is or holds.
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
