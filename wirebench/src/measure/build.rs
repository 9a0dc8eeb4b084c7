//! Builds the servers that are packages of the project's Cargo workspace.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

#[derive(Deserialize)]
struct Artifact {
    executable: Option<PathBuf>,
    target: Option<BuiltTarget>,
    package_id: Option<String>,
}

#[derive(Deserialize)]
struct BuiltTarget {
    kind: Vec<String>,
}

/// Builds one package with the release profile and returns its program's path. Cargo's own messages go to stderr.
///
/// # Errors
/// When cargo cannot be started, the build fails, or the package has no binary; in words.
pub fn package(root: &Path, package: &str) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo")
        .args([
            "build",
            "--release",
            "--locked",
            "--message-format=json-render-diagnostics",
            "--package",
            package,
        ])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo cannot be started: {error}; install Rust from https://rustup.rs"))?;
    let mut program = None;
    for line in BufReader::new(cargo.stdout.take().expect("stdout is piped"))
        .lines()
        .map_while(Result::ok)
    {
        let Ok(artifact) = serde_json::from_str::<Artifact>(&line) else {
            continue;
        };
        let is_binary = artifact
            .target
            .is_some_and(|target| target.kind.iter().any(|kind| kind == "bin"));
        let ours = artifact
            .package_id
            .is_some_and(|id| id.contains(&format!("/{package}#")) || id.contains(&format!("#{package}@")));
        if is_binary && ours {
            program = artifact.executable.or(program);
        }
    }
    let status = cargo.wait().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!(
            "cargo build --release --package {package} failed; its messages are above"
        ));
    }
    program.ok_or_else(|| format!("package {package} has no binary"))
}

/// Builds every package once; each has a program or a reason.
#[must_use]
pub fn packages<'a>(root: &Path, names: impl Iterator<Item = &'a str>) -> BTreeMap<String, Result<PathBuf, String>> {
    let mut built = BTreeMap::new();
    for name in names {
        if !built.contains_key(name) {
            built.insert(name.to_owned(), package(root, name));
        }
    }
    built
}
