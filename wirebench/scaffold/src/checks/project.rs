//! Checks of the declarations, of what builds read, and of the git repository around them.

use std::fs;
use std::path::Path;

use super::{Check, counted};
use crate::files::Files;
use crate::guess::CHANGE_THIS;
use crate::needs;
use crate::repository as clone;
use wirebench_declare::Project;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::server::{Program, Server};
use wirebench_declare::tier::Part;
use wirebench_engine::git;
use wirebench_engine::install;
use wirebench_engine::measure::{port, tools};

/// Checks what is declared: lines that were guessed, and the programs and ports of servers.
pub(super) fn declared(project: &Project, series: &[PlannedSeries]) -> Vec<Check> {
    let found = format!("{}, {} series", counted(project.servers.len(), "server"), series.len());
    let mut checks = vec![Check::ok("declarations", found)];
    let text = fs::read_to_string(project.root.join("wirebench.toml")).unwrap_or_default();
    let guesses = text.lines().filter(|line| line.ends_with(CHANGE_THIS)).count();
    if guesses > 0 {
        let found = format!("{} guessed by `wirebench init`", counted(guesses, "line"));
        let how = format!("look at them, and take \"{CHANGE_THIS}\" away");
        checks.push(Check::warning("wirebench.toml", found, how));
    }
    for server in &project.servers {
        for part in server.parts() {
            checks.extend(program(project, part));
            checks.extend(fixed_port(part));
        }
    }
    checks
}

/// Checks the programs that build or start a server, except those that a build makes.
fn program(project: &Project, part: &Part) -> Option<Check> {
    let name = format!("server {}", part.label());
    let needed = match (&part.program, &part.build) {
        (Program::Package(_), _) => "cargo",
        (Program::Command(_), Some(build)) => build.first()?,
        (Program::Command(command), None) => command.first()?,
    };
    let is_there = if needed.contains('/') {
        project.root.join(needed).is_file()
    } else {
        tools::locate(&project.root, needed).is_some()
    };
    let how = match needed {
        "cargo" => "install Rust from https://rustup.rs".to_owned(),
        path if path.contains('/') => "build it, or say how in `build`".to_owned(),
        program => install::of(program),
    };
    (!is_there).then(|| Check::missing(name, format!("{needed} is not there"), how))
}

/// Checks a fixed port: one that the declaration does not let wirebench choose.
fn fixed_port(part: &Part) -> Option<Check> {
    let port = part.port?;
    let name = format!("port {port}");
    let why = format!("of server {}", part.label());
    if port::is_held_by_connection(part.host, port) {
        let held = format!("{why}: a connection holds it, or was closed within the last minute; a run waits for it");
        return Some(Check::warning(name, held, "let args take {port}"));
    }
    Some(match port::free(part.host, part.port) {
        Ok(_) => Check::ok(name, format!("{why}: free")),
        Err((_, error)) => {
            let how = "stop that program, or let args take {port}";
            Check::missing(name, format!("{why}: taken ({error})"), how)
        }
    })
}

/// Checks what builds need besides programs: submodules, and the compiler of .proto files. What is missing otherwise, such as a
/// lock file, cargo, npm and go say themselves.
pub(super) fn sources(project: &Project) -> Vec<Check> {
    let top = git::top(&project.root).unwrap_or_else(|| project.root.clone());
    let mut parts = project.servers.iter().flat_map(Server::parts);
    let protoc = parts.any(is_cargo).then(|| protoc(&project.root, &top));
    protoc.flatten().into_iter().chain(submodules(&top)).collect()
}

fn is_cargo(part: &Part) -> bool {
    let by_build = |build: &Vec<String>| build.first().is_some_and(|first| first == "cargo");
    matches!(part.program, Program::Package(_)) || part.build.as_ref().is_some_and(by_build)
}

/// The compiler of .proto files, where a build script calls it.
fn protoc(root: &Path, top: &Path) -> Option<Check> {
    let manifest = needs::protoc(&Files::read(root, top).ok()?)?;
    let named = wirebench_spawn::variable("PROTOC").is_some_and(|file| Path::new(&file).is_file());
    if named || tools::locate(root, "protoc").is_some() {
        let found = format!("there; the build script of {manifest} calls it");
        return Some(Check::ok("protoc", found));
    }
    let found = format!("not installed: the build script of {manifest} compiles .proto files with it");
    Some(Check::missing("protoc", found, install::of("protoc")))
}

/// Submodules that were not checked out: their folders are empty.
fn submodules(top: &Path) -> Option<Check> {
    let file = top.join(".gitmodules");
    if !file.is_file() {
        return None;
    }
    let paths = ["--get-regexp", r"^submodule\..*\.path$"];
    let named = git::output(top, &[&["config", "--file", ".gitmodules"][..], &paths].concat())?;
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

/// Checks git, the clone's history, ignored folders, workflows, and the branch `data`.
pub(super) fn repository(root: &Path) -> Vec<Check> {
    let without_git = |found: &str, how: &str| vec![Check::warning("git", found, how)];
    if tools::locate(root, "git").is_none() {
        return without_git("not installed: no --baseline by revision", &install::of("git"));
    }
    if let Some(words) = git::refusal(root) {
        let found = format!("no --baseline by revision: {words}");
        return without_git(&found, "do what git says, or own the checkout");
    }
    let Some(top) = git::top(root) else {
        let how = "git init; a baseline may also be a folder or a built program";
        return without_git("not a repository: no --baseline by revision", how);
    };
    let mut checks = vec![commits(root)];
    // .wirebench/ has a .gitignore of its own once it exists.
    for path in [".wirebench/", "results/"] {
        // A repository that keeps results of its own says so in results/README.md.
        let kept_on_purpose = path == "results/" && root.join("results/README.md").is_file();
        if !kept_on_purpose && !clone::is_ignored(root, &format!("{path}file")) {
            let how = format!("add /{path} to .gitignore");
            checks.push(Check::warning(path, "is not ignored by git", how));
        }
    }
    for name in ["bench.yml", "bench-comment.yml"] {
        let file = format!(".github/workflows/{name}");
        checks.push(if top.join(&file).is_file() {
            Check::ok(name, file)
        } else {
            let found = "no such workflow: pull requests are not measured";
            Check::warning(name, found, "wirebench init writes it")
        });
    }
    checks.push(if clone::knows_branch(root, "data") {
        Check::ok("branch data", "known here")
    } else {
        let how = "the first measured push to the default branch makes it; git fetch origin data brings it";
        Check::warning("branch data", "not known here: no history yet", how)
    });
    checks
}

/// Checks that the clone has the commits that a baseline needs.
fn commits(root: &Path) -> Check {
    match clone::depth(root) {
        None => Check::warning("git", "no commit yet: no --baseline by revision", "git commit"),
        Some((1, true)) => Check::warning(
            "git",
            "a shallow clone of 1 commit: HEAD^1 is not there",
            "git fetch --depth 2, or fetch-depth: 2 for actions/checkout",
        ),
        Some((commits, true)) => Check::ok("git", format!("a shallow clone of {commits} commits")),
        Some((commits, false)) => Check::ok("git", counted(commits, "commit")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_told_as_several() {
        assert_eq!(
            (counted(1, "server"), counted(2, "line")),
            ("1 server".into(), "2 lines".into())
        );
    }
}
