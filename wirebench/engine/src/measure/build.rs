//! Builds servers: packages of the project's Cargo workspace, and programs that a server's own build command makes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::measure::digest::{self, SHORT_BYTES, hex};

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

/// Builds packages of a Cargo workspace.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    /// The folder whose workspace holds the packages.
    pub folder: PathBuf,
    /// Cargo's target folder; `None` for Cargo's default.
    pub target: Option<PathBuf>,
    /// The rustup toolchain; `None` for the one active in the folder.
    pub toolchain: Option<String>,
    /// The folder that caches programs of this commit and compiler; `None` for no cache.
    pub cache: Option<PathBuf>,
    /// True if a cached program may be used without a build. The project's own folder is always built, because its files may
    /// have changed.
    pub reuse: bool,
}

impl Builder {
    /// The cache folder below `programs` for a commit: named by commit, compiler and the place of `programs` itself, because
    /// a program contains the paths of its sources, and a copy of a clone contains its programs.
    #[must_use]
    pub fn cache_below(&self, programs: &Path, commit: &str) -> PathBuf {
        let short = commit.get(..12).unwrap_or(commit);
        let key = compiler(&self.folder, programs, self.toolchain.as_deref());
        programs.join(format!("{short}-{key}"))
    }

    /// Cargo's target folder below `targets` for the builder's folder: named by that folder's path.
    #[must_use]
    pub fn target_below(&self, targets: &Path) -> PathBuf {
        let folder = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        targets.join(format!("{name}-{}", digest::short(&folder.to_string_lossy())))
    }

    /// Builds one package with the release profile, unless its program is cached, and returns its program's path. Cargo's
    /// own messages go to stderr.
    ///
    /// # Errors
    /// When cargo cannot be started, the build fails, the package has no binary, or the cache cannot be written; the
    /// error is a sentence.
    pub fn package(&self, package: &str) -> Result<PathBuf, String> {
        let cached = self.cache.as_ref().map(|folder| folder.join(package));
        if let Some(cached) = cached.as_ref().filter(|cached| self.reuse && cached.is_file()) {
            return Ok(cached.clone());
        }
        let built = self.build(package)?;
        if let Some(cached) = cached.filter(|cached| !cached.is_file()) {
            copy_atomically(&built, &cached)
                .map_err(|error| format!("{}: cannot be written: {error}", cached.display()))?;
        }
        Ok(built)
    }

    fn build(&self, package: &str) -> Result<PathBuf, String> {
        let mut cargo = wirebench_spawn::command("cargo");
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

/// Copies a file atomically.
fn copy_atomically(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let part = tempfile::Builder::new().prefix(".").tempfile_in(folder)?;
    fs::copy(from, part.path())?;
    part.persist(to)?;
    Ok(())
}

/// Prefixes of the environment variables that change what a build makes. Variables with these prefixes are part of the
/// key of a cached program, unless [`NEUTRAL`] lists them.
const BUILD_VARIABLES: [&str; 17] = [
    "CARGO_",
    "RUST",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "AR",
    "LD",
    "HOST_",
    "TARGET_",
    "PROTOC",
    "PKG_CONFIG",
    "OPENSSL_",
    "LIBCLANG_",
    "BINDGEN_",
];
/// Variables of those prefixes that change nothing in the program: where and how fast it is built, variables that Cargo
/// sets for the programs that it runs, and variables of the dynamic linker.
const NEUTRAL: [&str; 16] = [
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_JOBS",
    "CARGO_MAKEFLAGS",
    "CARGO_TERM_",
    "CARGO_NET_",
    "CARGO_HTTP_",
    "CARGO_REGISTR",
    "CARGO_PKG_",
    "CARGO_MANIFEST_",
    "CARGO_BIN_",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_CRATE_NAME",
    "RUST_LOG",
    "RUST_BACKTRACE",
    "LD_LIBRARY_PATH",
];

/// Twelve hex digits that identify everything except the code that changes a program: the folder that keeps programs, the
/// compiler, Cargo, their configuration files, and the environment variables they read.
fn compiler(folder: &Path, programs: &Path, toolchain: Option<&str>) -> String {
    let mut digest = Sha256::new();
    let place = programs.parent().and_then(|place| place.canonicalize().ok());
    digest.update(place.as_deref().unwrap_or(programs).as_os_str().as_encoded_bytes());
    for (program, argument) in [("rustc", "-vV"), ("cargo", "-V")] {
        let mut command = wirebench_spawn::command(program);
        command.arg(argument).current_dir(folder);
        if let Some(toolchain) = toolchain {
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        // If this fails, the build will report the error.
        digest.update(command.output().map(|output| output.stdout).unwrap_or_default());
    }
    for (name, value) in build_variables(std::env::vars_os()) {
        for part in [name, value] {
            digest.update(part.as_encoded_bytes());
            digest.update([0]);
        }
    }
    // A worktree is inside the project, and Cargo reads the configuration of both; equal files count once.
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let configs = folder
        .ancestors()
        .map(|folder| folder.join(".cargo"))
        .chain(home)
        .flat_map(|folder| ["config.toml", "config"].map(|name| folder.join(name)));
    let configs: BTreeSet<Vec<u8>> = configs.filter_map(|config| fs::read(config).ok()).collect();
    for config in &configs {
        digest.update(config);
        digest.update([0]);
    }
    hex(&digest.finalize()[..SHORT_BYTES])
}

/// The variables of an environment that change what a build makes, sorted by name.
fn build_variables(all: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<OsString, OsString> {
    let changes_builds = |name: &OsString| {
        let name = name.to_string_lossy();
        let begins = |prefix: &str| name.starts_with(prefix);
        BUILD_VARIABLES.iter().any(|prefix| begins(prefix)) && !NEUTRAL.iter().any(|prefix| begins(prefix))
    };
    all.filter(|(name, _)| changes_builds(name)).collect()
}

/// Runs a server's build command in a side's folder. Its output goes to stderr.
///
/// # Errors
/// When it cannot be started or fails; the error is a sentence.
pub fn command(words: &[String], folder: &Path, environment: &BTreeMap<String, String>) -> Result<(), String> {
    let line = shell_words::join(words);
    let (program, args) = words.split_first().ok_or("an empty build command")?;
    // As for a server's program: a path with a `/` is relative to the side's folder.
    let program = if program.contains('/') {
        folder.join(program)
    } else {
        PathBuf::from(program)
    };
    let status = wirebench_spawn::command(program)
        .args(args)
        .current_dir(folder)
        .env("GOFLAGS", go_flags(&std::env::var("GOFLAGS").unwrap_or_default()))
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(io::stderr())
        .status()
        .map_err(|error| format!("build `{line}` cannot be started: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("build `{line}` failed ({status}); its messages are above"))
}

/// Adds -trimpath and -buildvcs=false to Go's flags, so that equal code gives equal programs on both sides.
fn go_flags(own: &str) -> String {
    let mut flags: Vec<&str> = own.split_whitespace().collect();
    for (name, flag) in [("-trimpath", "-trimpath"), ("-buildvcs", "-buildvcs=false")] {
        if !flags.iter().any(|own| own.starts_with(name)) {
            flags.push(flag);
        }
    }
    flags.join(" ")
}

/// The toolchain that rustup uses in a folder; `None` if rustup does not manage it.
#[must_use]
pub fn active_toolchain(folder: &Path) -> Option<String> {
    let output = wirebench_spawn::command("rustup")
        .args(["show", "active-toolchain"])
        .current_dir(folder)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().next().map(str::to_owned)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_target_and_compiler_variables_are_part_of_the_key_and_the_rest_is_not() {
        let all = [
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER",
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "CFLAGS",
            "CARGO_TARGET_DIR",
            "CARGO_TERM_COLOR",
            "CARGO_PKG_NAME",
            "RUST_LOG",
            "PATH",
            "HOME",
        ];
        let given = all.map(|name| (OsString::from(name), OsString::from("x")));
        let kept = build_variables(given.into_iter());
        let kept: Vec<String> = kept.keys().map(|name| name.to_string_lossy().into_owned()).collect();
        let mut expected = all[..6].to_vec();
        expected.sort_unstable();
        assert_eq!(kept, expected);
    }

    #[test]
    fn a_copied_clone_has_programs_and_targets_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let kept = |clone: &str| {
            let folder = place.path().join(clone);
            fs::create_dir_all(folder.join(".wirebench")).unwrap();
            let builder = Builder {
                folder: folder.clone(),
                ..Builder::default()
            };
            let programs = builder.cache_below(&folder.join(".wirebench/programs"), "0123456789abcdef");
            let target = builder.target_below(&folder.join(".wirebench/target"));
            [programs, target].map(|path| path.file_name().map(ToOwned::to_owned))
        };
        let (first, copy) = (kept("first"), kept("copy"));
        assert_eq!(first, kept("first"));
        assert!(first[0] != copy[0] && first[1] != copy[1], "{first:?} {copy:?}");
    }

    #[test]
    fn go_gets_its_flags_once_and_keeps_its_own() {
        assert_eq!(go_flags(""), "-trimpath -buildvcs=false");
        assert_eq!(go_flags("-mod=mod -buildvcs=true"), "-mod=mod -buildvcs=true -trimpath");
    }
}
