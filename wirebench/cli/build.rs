//! Finds the commit that `cargo install --git` builds. A release sets WIREBENCH_COMMIT itself (scripts/release.sh), and a
//! working tree has none: its files may differ from every commit.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=WIREBENCH_COMMIT");
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    // Cargo's own checkouts lie below $CARGO_HOME/git/checkouts.
    if std::env::var_os("WIREBENCH_COMMIT").is_some() || !folder.contains("/git/checkouts/") {
        return;
    }
    let asked = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(Path::new(&folder))
        .output();
    let commit = asked.ok().filter(|output| output.status.success());
    if let Some(commit) = commit.and_then(|output| String::from_utf8(output.stdout).ok()) {
        println!("cargo::rustc-env=WIREBENCH_COMMIT={}", commit.trim());
    }
}
