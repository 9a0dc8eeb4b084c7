//! Checks of the files that builds need besides the sources: lock files, installed packages, protoc, submodules.

use std::fs;
use std::path::{Path, PathBuf};

use super::check::Check;
use crate::programs::Programs;
use wirebench_declare::Project;
use wirebench_declare::server::Program;
use wirebench_declare::tier::Part;
use wirebench_engine::git;
use wirebench_engine::install;
use wirebench_engine::measure::tools;

/// Checks the files that the builds of all servers and tiers read.
pub(super) fn sources(project: &Project) -> Vec<Check> {
    let top = git::top(&project.root).unwrap_or_else(|| project.root.clone());
    let folders = Folders {
        root: &project.root,
        top: &top,
    };
    let parts: Vec<Part> = project
        .servers
        .iter()
        .flat_map(|server| server.behind().chain([server.front()]))
        .collect();
    let mut checks: Vec<Check> = Vec::new();
    for check in parts.iter().filter_map(|part| folders.lacks(part)) {
        if checks.iter().all(|known| known.name != check.name) {
            checks.push(check);
        }
    }
    if parts.iter().any(is_cargo) {
        checks.extend(folders.protoc());
    }
    checks.extend(submodules(&top));
    checks
}

fn is_cargo(part: &Part) -> bool {
    let by_build = |build: &Vec<String>| build.first().is_some_and(|first| first == "cargo");
    matches!(part.program, Program::Package(_)) || part.build.is_some_and(by_build)
}

/// The project's folder, and the top of the repository around it.
struct Folders<'a> {
    root: &'a Path,
    top: &'a Path,
}

impl Folders<'_> {
    /// A folder and those above it, up to the top.
    fn upwards(&self, folder: &Path) -> impl Iterator<Item = PathBuf> {
        let up: Vec<PathBuf> = folder.ancestors().map(Path::to_path_buf).collect();
        let top = self.top.to_path_buf();
        up.into_iter().take_while(move |one| one.starts_with(&top))
    }

    /// The nearest folder that holds a file of this name.
    fn nearest(&self, folder: &Path, name: &str) -> Option<PathBuf> {
        self.upwards(folder).find(|one| one.join(name).is_file())
    }

    /// The check of the files that a part's build needs, or its start if it has no build; `None` if it needs no file.
    fn lacks(&self, part: &Part) -> Option<Check> {
        match (part.program, part.build) {
            (Program::Package(_), _) => self.cargo(self.root),
            (Program::Command(_), Some(build)) => self.lacks_for(build),
            (Program::Command(command), None) if command.first().is_some_and(|first| first == "node") => {
                self.packages()
            }
            (Program::Command(_), None) => None,
        }
    }

    /// The check of the files that a build command needs; `None` if no needs are known.
    fn lacks_for(&self, build: &[String]) -> Option<Check> {
        let has = |word: &str| build.iter().any(|one| one == word);
        let after = |flag: &str| {
            let place = build.iter().position(|one| one == flag)?;
            Some(self.root.join(build.get(place + 1)?))
        };
        let below = |flag: &str| after(flag).unwrap_or_else(|| self.root.to_path_buf());
        match build.first()?.as_str() {
            "cargo" if has("--locked") => {
                let manifest = after("--manifest-path").and_then(|file| Some(file.parent()?.to_path_buf()));
                self.cargo(&manifest.unwrap_or_else(|| self.root.to_path_buf()))
            }
            "npm" if has("ci") => self.lock(
                &below("--prefix"),
                "package-lock.json",
                "npm ci",
                "npm install --package-lock-only",
            ),
            "pnpm" if has("--frozen-lockfile") => self.lock(
                &below("--dir"),
                "pnpm-lock.yaml",
                "pnpm install --frozen-lockfile",
                "pnpm install",
            ),
            "yarn" if has("--frozen-lockfile") => self.lock(
                &below("--cwd"),
                "yarn.lock",
                "yarn install --frozen-lockfile",
                "yarn install",
            ),
            "go" => self.go(&below("-C")),
            _ => None,
        }
    }

    fn cargo(&self, folder: &Path) -> Option<Check> {
        self.nearest(folder, "Cargo.toml")?;
        let found = self.nearest(folder, "Cargo.lock").is_some();
        (!found).then(|| lacking("Cargo.lock", "cargo build --locked", "cargo generate-lockfile"))
    }

    fn lock(&self, folder: &Path, name: &str, needed_by: &str, made_by: &str) -> Option<Check> {
        let found = self.nearest(folder, name).is_some();
        (!found).then(|| lacking(name, needed_by, made_by))
    }

    /// A module that requires others needs their checksums.
    fn go(&self, folder: &Path) -> Option<Check> {
        let module = self.nearest(folder, "go.mod")?;
        let text = fs::read_to_string(module.join("go.mod")).unwrap_or_default();
        let requires = text.lines().any(|line| line.trim_start().starts_with("require"));
        (requires && !module.join("go.sum").is_file()).then(|| lacking("go.sum", "go build", "go mod tidy"))
    }

    /// A Node program without a build command needs the packages that it requires.
    fn packages(&self) -> Option<Check> {
        let folder = self.nearest(self.root, "package.json")?;
        let text = fs::read_to_string(folder.join("package.json")).ok()?;
        let package: serde_json::Value = serde_json::from_str(&text).ok()?;
        let requires = package["dependencies"].as_object().is_some_and(|all| !all.is_empty());
        let installed = self.upwards(&folder).any(|one| one.join("node_modules").is_dir());
        (requires && !installed).then(|| {
            Check::missing(
                "node_modules",
                "not installed, and package.json names dependencies",
                "npm ci; or build = [\"npm\", \"ci\"] for the server, so that each side installs its own",
            )
        })
    }

    /// The compiler of .proto files, where a build script calls it.
    fn protoc(&self) -> Option<Check> {
        let manifest = Programs::of(self.root, self.top).ok()?.protoc()?;
        let named = wirebench_spawn::variable("PROTOC").is_some_and(|file| Path::new(&file).is_file());
        if named || tools::locate(self.root, "protoc").is_some() {
            return Some(Check::ok(
                "protoc",
                format!("there; the build script of {manifest} calls it"),
            ));
        }
        let found = format!("not installed: the build script of {manifest} compiles .proto files with it");
        Some(Check::missing("protoc", found, install::of("protoc")))
    }
}

fn lacking(name: &str, needed_by: &str, made_by: &str) -> Check {
    Check::missing(
        name,
        format!("not there: {needed_by} fails without it"),
        format!("{made_by}, and commit {name}"),
    )
}

/// Submodules that were not checked out: their folders are empty.
fn submodules(top: &Path) -> Option<Check> {
    let file = top.join(".gitmodules");
    if !file.is_file() {
        return None;
    }
    let named = git::output(
        top,
        &[
            "config",
            "--file",
            ".gitmodules",
            "--get-regexp",
            r"^submodule\..*\.path$",
        ],
    )?;
    let empty = |path: &&str| fs::read_dir(top.join(path)).map_or(true, |mut all| all.next().is_none());
    let paths = named.lines().filter_map(|line| Some(line.split_once(' ')?.1));
    let missing: Vec<&str> = paths.filter(empty).collect();
    Some(if missing.is_empty() {
        Check::ok("submodules", "checked out")
    } else {
        let found = format!("not checked out: {}", missing.join(", "));
        Check::missing("submodules", found, "git submodule update --init --recursive")
    })
}
