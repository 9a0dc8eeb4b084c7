//! A history in object storage on this machine: gofakes3, which keeps everything in memory.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use serde_json::Value;

use crate::child::{took, wirebench};
use crate::made;

/// A gofakes3 process, stopped when dropped.
struct Server {
    child: Child,
    endpoint: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start() -> anyhow::Result<Self> {
        let tools = std::env::var_os("WIREBENCH_TOOLS").map_or_else(|| PathBuf::from(".tools"), PathBuf::from);
        let mut command = Command::new(tools.join("bin/gofakes3"));
        command.args([
            "-backend",
            "memory",
            "-initialbucket",
            "benchmarks",
            "-host",
            "127.0.0.1:0",
            "-quiet",
        ]);
        let mut child = command
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("gofakes3: scripts/setup.sh --dev installs it")?;
        let lines = BufReader::new(child.stderr.take().context("no stderr")?)
            .lines()
            .map_while(Result::ok);
        let port = lines
            .into_iter()
            .find_map(|line| line.split_once("using port: ").map(|(_, port)| port.trim().to_owned()));
        let endpoint = format!("http://127.0.0.1:{}", port.context("gofakes3 names no port")?);
        Ok(Self { child, endpoint })
    }

    fn wirebench(&self, args: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(wirebench()?);
        command
            .arg("--quiet")
            .args(args)
            .env("AWS_ENDPOINT_URL", &self.endpoint)
            .env("AWS_ALLOW_HTTP", "true");
        command
            .env("AWS_ACCESS_KEY_ID", "scale")
            .env("AWS_SECRET_ACCESS_KEY", "scale");
        Ok(command)
    }
}

/// Publishes runs to object storage, summarises them, reads the trend, and prints what each took.
pub(crate) fn published(run: &Value, runs: usize, folder: &Path) -> anyhow::Result<()> {
    const PLACE: &str = "s3://benchmarks/scale";
    println!("\n== object storage on this machine: {runs} runs");
    let history = folder.join("stored");
    let month = history.join("runs/2026/11");
    fs::create_dir_all(&month)?;
    for number in 0..runs {
        let made = made::committed(run, number);
        let commit = format!("{:040x}", number.wrapping_mul(2_654_435_761));
        let name = format!("{}-{}.json", &commit[..12], made["id"].as_str().unwrap_or_default());
        fs::write(month.join(name), made.to_string())?;
    }
    let server = Server::start()?;
    let history = history.to_string_lossy().into_owned();
    for (what, args) in [
        ("publish all", &["history", "publish", &history, "--to", PLACE][..]),
        (
            "publish again, compared with what is there",
            &["history", "publish", &history, "--to", PLACE],
        ),
        ("trend of all runs", &["history", "trend", PLACE]),
        ("index", &["history", "index", PLACE]),
        ("trend of the summaries", &["history", "trend", PLACE]),
    ] {
        let took = took(&mut server.wirebench(args)?)?;
        println!("  {what}: {took}");
    }
    Ok(())
}
