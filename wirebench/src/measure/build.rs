//! Builds servers: packages of the project's Cargo workspace, and whatever a server's own build command makes.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use sha2::{Digest, Sha256};

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

/// Where packages are built, and with what.
#[derive(Debug, Clone, Default)]
pub struct Workshop {
    /// The folder whose workspace holds the packages.
    pub folder: PathBuf,
    /// Cargo's target folder; none means the one Cargo takes by itself.
    pub target: Option<PathBuf>,
    /// The rustup toolchain; none means the one active in the folder.
    pub toolchain: Option<String>,
    /// Where programs of this commit and compiler are kept; none means nowhere.
    pub kept: Option<PathBuf>,
    /// Whether a program that is kept is taken as it is. One's own folder is always built: its files may change meanwhile.
    pub reuse: bool,
}

impl Workshop {
    /// Where programs of a commit, built here, are kept below `own`: a folder by commit and compiler.
    #[must_use]
    pub fn kept_below(&self, own: &Path, commit: &str) -> PathBuf {
        let short = commit.get(..12).unwrap_or(commit);
        own.join(format!("{short}-{}", compiler(&self.folder, self.toolchain.as_deref())))
    }

    /// Builds one package with the release profile, unless its program is kept, and returns its program's path. Cargo's
    /// own messages go to stderr.
    ///
    /// # Errors
    /// When cargo cannot be started, the build fails, the package has no binary, or the program cannot be kept; in words.
    pub fn package(&self, package: &str) -> Result<PathBuf, String> {
        let kept = self.kept.as_ref().map(|folder| folder.join(package));
        if let Some(kept) = kept.as_ref().filter(|kept| self.reuse && kept.is_file()) {
            return Ok(kept.clone());
        }
        let built = self.build(package)?;
        if let Some(kept) = kept.filter(|kept| !kept.is_file()) {
            keep(&built, &kept).map_err(|error| format!("{}: cannot be written: {error}", kept.display()))?;
        }
        Ok(built)
    }

    fn build(&self, package: &str) -> Result<PathBuf, String> {
        let mut cargo = Command::new("cargo");
        cargo
            .args([
                "build",
                "--release",
                "--locked",
                "--message-format=json-render-diagnostics",
                "--package",
                package,
            ])
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if let Some(target) = &self.target {
            cargo.env("CARGO_TARGET_DIR", target);
        }
        if let Some(toolchain) = &self.toolchain {
            cargo.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        run(cargo, package)
    }
}

/// Copies a program, whole or not at all.
fn keep(built: &Path, kept: &Path) -> io::Result<()> {
    let folder = kept.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let part = tempfile::Builder::new().prefix(".").tempfile_in(folder)?;
    fs::copy(built, part.path())?;
    part.persist(kept)?;
    Ok(())
}

/// Twelve hex digits for the compiler, and for what environment and Cargo's configuration beside the code tell it.
fn compiler(folder: &Path, toolchain: Option<&str>) -> String {
    let mut rustc = Command::new("rustc");
    rustc.arg("-vV").current_dir(folder);
    if let Some(toolchain) = toolchain {
        rustc.env("RUSTUP_TOOLCHAIN", toolchain);
    }
    let mut digest = Sha256::new();
    // Without an answer, the build itself will say what is wrong.
    digest.update(rustc.output().map(|said| said.stdout).unwrap_or_default());
    for flags in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"] {
        digest.update(std::env::var_os(flags).unwrap_or_default().as_encoded_bytes());
        digest.update([0]);
    }
    // A worktree lies inside the project and Cargo reads the configuration of both; the same one counts once.
    let configs = folder.ancestors().map(|folder| folder.join(".cargo/config.toml"));
    let configs: BTreeSet<Vec<u8>> = configs.filter_map(|config| fs::read(config).ok()).collect();
    for config in &configs {
        digest.update(config);
        digest.update([0]);
    }
    let digits = digest.finalize();
    digits.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Runs a server's build command in a side's folder. What it says goes to stderr.
///
/// # Errors
/// When it cannot be started or fails; in words.
pub fn command(words: &[String], folder: &Path) -> Result<(), String> {
    let said = shell_words::join(words);
    let (program, args) = words.split_first().ok_or("an empty build command")?;
    // Like a server's own program: one with a `/` is meant from the side's folder.
    let program = if program.contains('/') {
        folder.join(program)
    } else {
        PathBuf::from(program)
    };
    let status = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(io::stderr())
        .status()
        .map_err(|error| format!("build `{said}` cannot be started: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("build `{said}` failed ({status}); its messages are above"))
}

/// The toolchain that rustup takes in a folder; none where rustup does not manage it.
#[must_use]
pub fn active_toolchain(folder: &Path) -> Option<String> {
    let output = Command::new("rustup")
        .args(["show", "active-toolchain"])
        .current_dir(folder)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let said = String::from_utf8_lossy(&output.stdout);
    said.split_whitespace().next().map(str::to_owned)
}

fn run(mut cargo: Command, package: &str) -> Result<PathBuf, String> {
    let mut cargo = cargo
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
