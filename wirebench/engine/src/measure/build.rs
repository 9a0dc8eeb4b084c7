//! Builds servers: packages of the project's Cargo workspace, and programs that a server's own build command makes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{LazyLock, OnceLock};

use regex::Regex;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::measure::digest::{self, SHORT_BYTES, hex};
use crate::measure::interrupt::Interrupt;
use crate::measure::process::{Group, tail};
use crate::measure::side::in_folder;

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
    /// For a revision: the project's folder, whose `Cargo.lock` it shares if it commits none.
    pub project: Option<PathBuf>,
    /// Ends a build that runs.
    pub interrupt: Interrupt,
    /// A file for the messages of a build, whose last lines the error then quotes; `None` for stderr.
    pub log: Option<PathBuf>,
    /// Whether the target folder was freed of other revisions' packages; empty before the first build.
    pub cleaned: OnceLock<Result<(), String>>,
    /// Whether the versions of all dependencies are committed; empty before the first build.
    pub locked: OnceLock<bool>,
}

impl Builder {
    /// The cache folder below `programs` for a commit: named by commit, compiler and the place of `programs` itself, because
    /// a program contains the paths of its sources, and a copy of a clone contains its programs.
    pub fn cache_below(&self, programs: &Path, commit: &str) -> PathBuf {
        let short = commit.get(..12).unwrap_or(commit);
        let key = compiler(&self.folder, programs, self.toolchain.as_deref());
        programs.join(format!("{short}-{key}"))
    }

    /// The target folder, below `targets`, in which Cargo builds a workspace folder or every workspace below a folder. Its
    /// name depends on the path of that folder.
    pub fn target_below(targets: &Path, folder: &Path) -> PathBuf {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
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
        if let Some(cached) = self.cached(package) {
            return Ok(cached);
        }
        if self.reuse {
            // Once: packages of this revision share what was built since.
            self.cleaned.get_or_init(|| self.clean_own_packages()).clone()?;
        }
        let built = self.build(package)?;
        let Some(cached) = self.cache.as_ref().map(|folder| folder.join(package)) else {
            return Ok(built);
        };
        if !(cached.is_file() && self.is_locked()) {
            copy_atomically(&built, &cached)
                .map_err(|error| format!("{}: cannot be written: {error}", cached.display()))?;
        }
        // The next revision is built in the same target folder.
        Ok(if self.reuse { cached } else { built })
    }

    /// The cached program of a package, if it may be used.
    pub(super) fn cached(&self, package: &str) -> Option<PathBuf> {
        let cached = self.cache.as_ref().filter(|_| self.reuse)?.join(package);
        (cached.is_file() && self.is_locked()).then_some(cached)
    }

    /// Whether the workspace commits its `Cargo.lock`; libraries do not. Without it, Cargo chooses the versions of dependencies. A revision
    /// then takes the lock file of the project, so that both sides are built with the same versions.
    fn is_locked(&self) -> bool {
        *self.locked.get_or_init(|| {
            let Some(lock) = self.lock_of(&self.folder) else {
                return true;
            };
            let folder = lock.parent().unwrap_or(&self.folder);
            let mut git = wirebench_spawn::command("git");
            let listed = git
                .args(["ls-files", "--error-unmatch", LOCK])
                .current_dir(folder)
                .output();
            // Outside a repository (128), the file is as good as committed.
            let is_committed = match listed.ok().and_then(|listed| listed.status.code()) {
                Some(0) => true,
                Some(1) => false,
                _ => lock.is_file(),
            };
            let of_project = self.project.as_ref().and_then(|project| self.lock_of(project));
            if let Some(shared) = of_project.filter(|shared| !is_committed && shared.is_file()) {
                // Without it, Cargo takes the newest versions.
                let _ = fs::copy(shared, &lock);
            }
            is_committed
        })
    }

    /// Where the lock file of the workspace around a folder is, or would be; `None` if there is no workspace.
    fn lock_of(&self, folder: &Path) -> Option<PathBuf> {
        let mut cargo = self.cargo("locate-project");
        cargo
            .args(["--workspace", "--message-format", "plain"])
            .current_dir(folder);
        let located = cargo.stderr(Stdio::null()).output().ok()?;
        let manifest = String::from_utf8(located.stdout).ok()?;
        Some(Path::new(manifest.trim()).parent()?.join(LOCK))
    }

    /// A command of Cargo that uses committed versions of dependencies as they are.
    fn cargo_locked(&self, command: &str) -> Command {
        let mut cargo = self.cargo(command);
        cargo.args(self.is_locked().then_some("--locked"));
        cargo
    }

    /// Removes the workspace's own packages from the target folder, which all revisions share. Cargo identifies such a package
    /// by its path within the workspace, so it would take the package that another revision built for this one's.
    ///
    /// # Errors
    /// When cargo cannot list these packages, or cannot remove them; the error is a sentence.
    fn clean_own_packages(&self) -> Result<(), String> {
        let told = |cargo: &mut Command| match cargo.stdin(Stdio::null()).stderr(Stdio::piped()).output() {
            Ok(ended) if ended.status.success() => Ok(ended.stdout),
            Ok(ended) => Err(String::from_utf8_lossy(&ended.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let metadata = told(self.cargo_locked("metadata").args(["--format-version", "1"]))
            .map_err(|why| format!("cargo metadata failed: {why}"))?;
        let metadata: Value =
            serde_json::from_slice(&metadata).map_err(|error| format!("cargo metadata cannot be read: {error}"))?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let own = packages.filter(|package| package["source"].is_null());
        let mut clean = self.cargo("clean");
        clean.arg("--release");
        clean.args(
            own.filter_map(|package| package["id"].as_str())
                .flat_map(|id| ["--package", id]),
        );
        told(&mut clean)
            .map_err(|why| format!("cargo clean failed: {why}"))
            .map(drop)
    }

    /// A command of Cargo in the builder's folder, with its toolchain and its target folder.
    fn cargo(&self, command: &str) -> Command {
        let mut cargo = wirebench_spawn::command("cargo");
        cargo.arg(command).current_dir(&self.folder);
        cargo.envs(self.target.as_ref().map(|target| ("CARGO_TARGET_DIR", target)));
        cargo.envs(self.toolchain.as_ref().map(|toolchain| ("RUSTUP_TOOLCHAIN", toolchain)));
        cargo
    }

    /// Settings of Cargo's release profile, over the project's own, for both sides: without line tables, a handler that the compiler
    /// inlined into a framework has no name. They changed the instructions per request of one program by 0.02 %.
    fn line_tables(&self) -> [(&'static str, &'static str); 2] {
        let version = self.cargo("--version").output().map(|output| output.stdout);
        let version = version.unwrap_or_default();
        [
            (
                "CARGO_PROFILE_RELEASE_DEBUG",
                debug_level(&String::from_utf8_lossy(&version)),
            ),
            ("CARGO_PROFILE_RELEASE_STRIP", "none"),
        ]
    }

    /// Runs cargo, and returns the program that it built.
    fn build(&self, package: &str) -> Result<PathBuf, String> {
        let mut cargo = self.cargo_locked("build");
        cargo
            .args(["--release", "--message-format=json-render-diagnostics"])
            .args(["--package", package])
            .envs(self.line_tables())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if let Some(log) = self.open_log().map_err(|error| error.to_string())? {
            cargo.stderr(log);
        }
        let mut cargo = Group::spawn(&mut cargo)
            .map_err(|error| format!("cargo cannot be started: {error}; install Rust from https://rustup.rs"))?;
        let messages = cargo.take_stdout().expect("stdout is piped");
        let name = package.to_owned();
        let program = std::thread::spawn(move || program_of(messages, &name));
        let status = cargo.wait(&self.interrupt).map_err(|error| error.to_string())?;
        match status {
            None => Err(INTERRUPTED.into()),
            Some(status) if !status.success() => Err(format!(
                "cargo build --release --package {package} failed; {}",
                self.messages()
            )),
            Some(_) => {
                let program = program.join();
                let program = program.map_err(|_| "cargo's messages cannot be read".to_owned())?;
                program.ok_or_else(|| format!("package {package} has no binary"))
            }
        }
    }

    fn open_log(&self) -> io::Result<Option<File>> {
        self.log.as_ref().map(File::create).transpose()
    }

    /// What an error says of a build's messages: the last lines if they were kept, or else where they are.
    fn messages(&self) -> String {
        match self.log.as_deref().map(tail) {
            None => "its messages are above".into(),
            Some(said) if said.is_empty() => "it printed nothing".into(),
            Some(said) => format!("its last words: {said}"),
        }
    }
}

/// The lowest level of debug information with line tables that a version of Cargo knows. The version is its output, such as
/// "cargo 1.95.0 (f2d3ce0bd 2026-03-21)".
fn debug_level(version: &str) -> &'static str {
    let minor = version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    // Older ones know only numbers.
    if minor.is_some_and(|minor| minor < 71) {
        "1"
    } else {
        "line-tables-only"
    }
}

/// Cargo's lock file.
const LOCK: &str = "Cargo.lock";

/// Copies a file atomically.
fn copy_atomically(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let part = tempfile::Builder::new().prefix(".").tempfile_in(folder)?;
    fs::copy(from, part.path())?;
    part.persist(to)?;
    Ok(())
}

/// Environment variables that change what a build makes, and are part of the key of a cached program. The crate cc reads the
/// last line's for each host and target too: `HOST_CC`, `CC_x86_64-unknown-linux-gnu`. Names of targets are lower-case: `AR_DIR`
/// is something else.
static BUILD_VARIABLES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(CARGO|RUSTC|PROTOC|PKG_CONFIG|OPENSSL|LIBCLANG)_.*
        | RUSTC | RUSTFLAGS | CPPFLAGS | LD | LDFLAGS | PROTOC | PKG_CONFIG
        | (HOST_|TARGET_)? ((AR|RANLIB|C|CXX)FLAGS | AR | BINDGEN_EXTRA_CLANG_ARGS | CC | CXX | RANLIB) (_[a-z0-9._-]*)?",
    )
});
/// Build variables that change nothing in the program: where and how fast it is built, and variables that Cargo sets for the
/// programs that it runs.
static NEUTRAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"CARGO_( TARGET_DIR | BUILD_TARGET_DIR | BUILD_JOBS | MAKEFLAGS | PRIMARY_PACKAGE | CRATE_NAME
        | (TERM|NET|HTTP|REGISTRY|REGISTRIES|PKG|MANIFEST|BIN)_.* )",
    )
});

/// Matches whole names; blanks in the pattern mean nothing.
fn pattern(names: &str) -> Regex {
    Regex::new(&format!("(?xs)^({names})$")).expect("a constant pattern")
}

/// Twelve hex digits that identify everything except the code that changes a program: the folder that keeps programs, the
/// compiler, Cargo, their configuration files, and the environment variables they read.
fn compiler(folder: &Path, programs: &Path, toolchain: Option<&str>) -> String {
    let mut digest = Sha256::new();
    let place = programs.parent().and_then(|place| place.canonicalize().ok());
    digest.update(place.as_deref().unwrap_or(programs).as_os_str().as_encoded_bytes());
    for (program, argument) in [("rustc", "-vV"), ("cargo", "-V")] {
        let mut command = wirebench_spawn::command(program);
        command.arg(argument).current_dir(folder);
        command.envs(toolchain.map(|toolchain| ("RUSTUP_TOOLCHAIN", toolchain)));
        // If this fails, the build will report the error.
        digest.update(command.output().map(|output| output.stdout).unwrap_or_default());
    }
    // Programs that were cached before builds had them are not used again.
    digest.update("line tables");
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
    all.filter(|(name, _)| changes_builds(&name.to_string_lossy()))
        .collect()
}

fn changes_builds(name: &str) -> bool {
    BUILD_VARIABLES.is_match(name) && !NEUTRAL.is_match(name)
}

/// The variables of this environment that set what Cargo's profiles leave open or say otherwise: `CARGO_PROFILE_RELEASE_LTO=off`.
pub fn profile_settings() -> impl Iterator<Item = String> {
    let variables = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let profiles = variables.filter(|(name, _)| name.starts_with("CARGO_PROFILE_") || name == "RUSTFLAGS");
    profiles.map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
}

/// Runs a server's build command in a side's folder. Its output goes to stderr, or to the builder's log.
///
/// # Errors
/// When it cannot be started, fails, or is interrupted; the error is a sentence.
pub fn command(
    words: &[String],
    folder: &Path,
    environment: &BTreeMap<String, String>,
    builder: &Builder,
) -> Result<(), String> {
    let line = shell_words::join(words);
    let argv = in_folder(words, folder);
    let (program, args) = argv.split_first().ok_or("an empty build command")?;
    let mut build = wirebench_spawn::command(program);
    build
        .args(args)
        .current_dir(folder)
        .env("GOFLAGS", go_flags(&std::env::var("GOFLAGS").unwrap_or_default()))
        .envs(builder.line_tables())
        .envs(environment)
        .stdout(io::stderr());
    let not_started = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("build `{line}` cannot be started: there is no program {}", words[0]),
        _ => format!("build `{line}` cannot be started: {error}"),
    };
    if let Some(log) = builder.open_log().map_err(not_started)? {
        build.stdout(log.try_clone().map_err(not_started)?).stderr(log);
    }
    let status = run(&mut build, &builder.interrupt).map_err(not_started)?;
    match status {
        None => Err(INTERRUPTED.into()),
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("build `{line}` failed ({status}); {}", builder.messages())),
    }
}

/// Why a program has no build after Ctrl-C.
pub(super) const INTERRUPTED: &str = "interrupted while it was built";

/// Runs a command to its end, in a process group of its own. Returns `None` if the user interrupts: then the whole group is
/// stopped.
///
/// # Errors
/// When it cannot be started.
pub(super) fn run(command: &mut Command, interrupt: &Interrupt) -> io::Result<Option<ExitStatus>> {
    Group::spawn(command.stdin(Stdio::null()))?.wait(interrupt)
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

/// The program of a package in cargo's messages.
fn program_of(messages: ChildStdout, package: &str) -> Option<PathBuf> {
    let mut program = None;
    for line in BufReader::new(messages).lines().map_while(Result::ok) {
        let Ok(artifact) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let mut kinds = artifact["target"]["kind"].as_array().into_iter().flatten();
        let id = artifact["package_id"].as_str().unwrap_or_default();
        let ours = id.contains(&format!("/{package}#")) || id.contains(&format!("#{package}@"));
        if ours && kinds.any(|kind| kind == "bin") {
            program = artifact["executable"].as_str().map(PathBuf::from).or(program);
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_versions_of_cargo_are_told_a_level_that_they_know() {
        for (version, expected) in [
            ("cargo 1.70.0 (ec8a8a0ca 2023-04-25)", "1"),
            ("cargo 1.71.0 (cfd3bbd8f 2023-06-08)", "line-tables-only"),
            ("cargo 1.95.0-nightly (f2d3ce0bd 2026-03-21)", "line-tables-only"),
            ("", "line-tables-only"),
        ] {
            assert_eq!(debug_level(version), expected, "{version}");
        }
    }

    #[test]
    fn profile_target_and_compiler_variables_are_part_of_the_key_and_the_rest_is_not() {
        for name in [
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER",
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "CFLAGS",
            "CC_x86_64-unknown-linux-gnu",
            "TARGET_AR",
            "HOST_CXXFLAGS",
            "PKG_CONFIG_PATH",
        ] {
            assert!(changes_builds(name), "{name}");
        }
        for name in [
            "CARGO_TARGET_DIR",
            "CARGO_TERM_COLOR",
            "CARGO_PKG_NAME",
            "RUST_LOG",
            "PATH",
            "ARGS",
            "ARTIFACTS",
            "AR_DIR",
            "CCACHE_DIR",
            "CC_TEST_REPORTER_ID",
            "LD_LIBRARY_PATH",
            "LDAP_URL",
            "TARGET_BRANCH",
            "HOST_NAME",
        ] {
            assert!(!changes_builds(name), "{name}");
        }
        let given = ["CC", "HOME", "AR"].map(|name| (OsString::from(name), OsString::from("x")));
        assert!(build_variables(given.into_iter()).keys().eq(["AR", "CC"]));
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
            let target = Builder::target_below(&folder.join(".wirebench/target"), &builder.folder);
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
