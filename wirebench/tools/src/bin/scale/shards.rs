//! Many shards joined and judged as one run.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::child::{took, wirebench};
use crate::made;

/// Joins shards with the series divided among them, and prints what that took.
pub(crate) fn joined(run: &Value, shards: usize, series: usize, folder: &Path) -> anyhow::Result<()> {
    let each = series / shards;
    println!("\n== wirebench merge: {shards} shards with {each} series each");
    let mut bytes = 0;
    let mut command = Command::new(wirebench()?);
    command.args(["--quiet", "merge", "--out"]).arg(folder.join("merged"));
    for number in 0..shards {
        let shard = folder.join(format!("shard-{number}"));
        fs::create_dir_all(&shard)?;
        let content = made::run(run, number, number * each, each).to_string();
        bytes += content.len();
        fs::write(shard.join("run.json"), content)?;
        command.arg(shard);
    }
    let took = took(&mut command)?;
    println!("  read {:.1} MB, joined, judged, reported: {took}", bytes as f64 / 1e6);
    for name in fs::read_dir(folder.join("merged"))?.flatten() {
        for file in ["run.json", "comparison.json", "comparison.md", "report.html"] {
            let length = fs::metadata(name.path().join(file)).map_or(0, |about| about.len());
            println!("  {file}: {:.2} MB", length as f64 / 1e6);
        }
    }
    Ok(())
}
