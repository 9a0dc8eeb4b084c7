//! Run files on a git branch: their packed size, and the time to publish one more.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::child::took;
use crate::made;

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// A bare repository whose branch `data` has one commit for each file.
fn branch(folder: &Path, files: usize, content: impl Fn(usize) -> String) -> anyhow::Result<u64> {
    fs::create_dir_all(folder)?;
    took(git(folder).args(["init", "--quiet", "--bare"]))?;
    took(git(folder).args(["config", "uploadpack.allowFilter", "true"]))?;
    let mut import = git(folder)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()?;
    let mut bytes = 0;
    if let Some(stdin) = import.stdin.take() {
        let mut out = BufWriter::new(stdin);
        for number in 0..files {
            let content = content(number);
            bytes += content.len() as u64;
            let (year, month) = (2024 + number / 4_800, 1 + number / 400 % 12);
            let name = format!(
                "runs/{year}/{month:02}/{:012x}-{number}.json",
                number.wrapping_mul(2_654_435_761)
            );
            write!(
                out,
                "commit refs/heads/data\ncommitter a <a@example.org> {} +0000\ndata 3\nadd\n",
                1_700_000_000 + number
            )?;
            write!(out, "M 100644 inline {name}\ndata {}\n{content}\n", content.len())?;
        }
        out.flush()?;
    }
    anyhow::ensure!(import.wait()?.success(), "git fast-import failed");
    Ok(bytes)
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| {
        entry.metadata().map_or(0, |about| {
            if about.is_dir() {
                size(&entry.path())
            } else {
                about.len()
            }
        })
    };
    entries.map(of).sum()
}

/// Prints the size of a run in a repository.
pub(crate) fn packed(run: &Value, runs: usize, folder: &Path) -> anyhow::Result<()> {
    println!("\n== git: {runs} runs, a commit each, numbers of which differ by 1 %");
    let repository = folder.join("packed.git");
    let bytes = branch(&repository, runs, |number| made::committed(run, number).to_string())?;
    let pack = |what: &str| {
        let packed = size(&repository.join("objects"));
        println!(
            "  {what}: {:.1} MB of {:.1} MB, {:.0} kB a run of {:.0} kB",
            packed as f64 / 1e6,
            bytes as f64 / 1e6,
            packed as f64 / 1e3 / runs as f64,
            bytes as f64 / 1e3 / runs as f64
        );
    };
    pack("as pushed");
    let repacked = took(git(&repository).args(["gc", "--quiet", "--prune=now"]))?;
    pack("after git gc");
    println!("  git gc: {repacked}");
    Ok(())
}

/// Prints how long publishing one more file takes, and the clone that the dashboard is built from.
pub(crate) fn published(run: &Value, files: usize, folder: &Path) -> anyhow::Result<()> {
    println!("\n== git: a branch with {files} run files, 400 a month");
    let repository = folder.join("branch.git");
    // One series: the number of files counts here.
    let content = made::run(run, 0, 0, 1).to_string();
    let length = content.len();
    branch(&repository, files, |number| {
        format!("{{\"id\":\"{number}\",{}", &content[1..])
    })?;
    let history = folder.join("history/runs/2026/11");
    fs::create_dir_all(&history)?;
    fs::write(history.join("abcdef012345-one-more.json"), content)?;
    let url = format!("file://{}", repository.display());
    let mut command = Command::new("scripts/publish.sh");
    command.arg(folder.join("history")).arg(&url).stderr(Stdio::null());
    println!("  scripts/publish.sh, one run: {}", took(&mut command)?);
    let clone = folder.join("clone");
    let mut command = git(folder);
    command
        .args(["clone", "--quiet", "--depth", "1", "--branch", "data", &url])
        .arg(&clone);
    let cloned = took(&mut command)?;
    println!(
        "  git clone --depth 1: {cloned}; {:.0} MB of files of {:.0} kB each",
        (size(&clone) - size(&clone.join(".git"))) as f64 / 1e6,
        length as f64 / 1e3
    );
    Ok(())
}
