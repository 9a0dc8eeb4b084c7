//! Disks that fill up and kills that no program can catch, at chosen steps of a command: what was there stays whole, what is
//! missing is said, and doing it again gives what an undisturbed command gives.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::bench::{Bench, Ended, ended, wirebench};
use crate::built;
use crate::made::{Made, Place, history};
use crate::publish;

/// The exit status of a program that was ended by SIGKILL, as the tests' own commands say it.
const KILLED: i32 = -1;

/// What goes wrong below a folder.
struct Faults {
    below: PathBuf,
    count: PathBuf,
}

impl Faults {
    fn below(folder: &Path) -> Self {
        // The folder itself may not be there yet.
        let below = folder.parent().unwrap().canonicalize().unwrap();
        Self {
            below: below.join(folder.file_name().unwrap()),
            count: below.join("steps"),
        }
    }

    fn environment(&self, fault: &str, at: usize) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        [
            ("LD_PRELOAD", text(built::faults())),
            ("FAULT_PROGRAM", "wirebench".to_owned()),
            ("FAULT_BELOW", text(&self.below)),
            ("FAULT_COUNT", text(&self.count)),
            ("FAULT", fault.to_owned()),
            ("FAULT_AT", at.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    fn apply(&self, command: &mut Command, fault: &str, at: usize) -> Ended {
        ended(command.envs(self.environment(fault, at)))
    }

    /// How many steps the last counted command took.
    fn steps(&self) -> usize {
        fs::read_to_string(&self.count).unwrap().trim().parse().unwrap()
    }
}

/// At most ten steps of so many, the first and the last among them.
fn spread(steps: usize) -> Vec<usize> {
    let points = steps.min(10);
    let mut all: Vec<usize> = (0..points).map(|i| 1 + i * (steps - 1) / (points - 1).max(1)).collect();
    all.dedup();
    all
}

#[test]
#[ignore = "nightly"]
fn a_run_whose_disk_is_full_or_that_is_killed_leaves_whole_records_and_no_process() {
    let bench = Bench::new()
        .file(
            "wirebench.toml",
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\nenabled = false\n",
        )
        .scenario("ask", "connections = 1, requests = 20")
        .c_server("c", "work=10", "")
        .driver("fake", "ok");
    let out = bench.path("out");
    let faults = Faults::below(&out);
    let args = ["run", "--out", "out"];
    let run = |fault: &str, at: usize| {
        let environment = faults.environment(fault, at);
        let mut command = bench.command_of(&args);
        ended(command.envs(environment))
    };
    let undisturbed = run("count", 0);
    assert_eq!(undisturbed.code, 0, "{}", undisturbed.stderr);
    let steps = faults.steps();
    assert!(steps > 10, "only {steps} steps were seen");
    for (fault, code) in [("full", 1), ("kill", KILLED)] {
        for at in spread(steps) {
            let _ = fs::remove_dir_all(&out);
            let disturbed = run(fault, at);
            let what = format!("{fault} at step {at} of {steps}: {}", disturbed.stderr);
            // The steps of two runs differ a little: the last one may not be reached.
            assert!(disturbed.code == code || (at == steps && disturbed.code == 0), "{what}");
            if disturbed.code == 1 {
                assert!(disturbed.stderr.contains("No space left on device"), "{what}");
                assert!(
                    disturbed.stderr.contains(&faults.below.to_string_lossy().into_owned())
                        || disturbed.stderr.contains("out/"),
                    "{what}"
                );
            }
            nothing_is_left(&bench, &what);
            for record in files_named(&out, "run.json") {
                let folder = record.parent().unwrap().to_string_lossy().into_owned();
                let report = bench.run(&["report", &folder]);
                assert_eq!(report.code, 0, "{what}\n{}", report.stderr);
            }
        }
    }
    let again = bench.run(&args);
    assert_eq!(again.code, 0, "{}", again.stderr);
}

#[test]
fn a_wirebench_that_is_killed_under_load_takes_server_and_driver_with_it() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "hangs");
    let mut child = bench.start(&["run"]);
    let deadline = Instant::now() + Duration::from_secs(60);
    let runs = |part: &str| bench.left_behind().iter().any(|command| command.contains(part));
    while !(runs("server.py ok") && runs("driver.py hangs")) {
        assert!(Instant::now() < deadline, "{:?}", bench.left_behind());
        std::thread::sleep(Duration::from_millis(10));
    }
    // A process is visible in /proc a moment before the shell that will kill it knows its group. wirebench tells the shell first,
    // and then waits for the driver in short steps: after some of them the shell knows.
    let steps = |pid: u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse::<u64>().unwrap()
    };
    let seen = steps(child.id());
    while steps(child.id()) < seen + 10 {
        assert!(Instant::now() < deadline, "wirebench stands still");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    nothing_is_left(&bench, "killed under load");
}

/// Whoever kills a program does not wait for what it started.
#[track_caller]
fn nothing_is_left(bench: &Bench, what: &str) {
    wirebench_testing::holds_within(Duration::from_secs(60), || bench.left_behind().is_empty());
    assert_eq!(bench.left_behind(), Vec::<String>::new(), "{what}");
}

fn files_named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_named(&path, name));
        } else if entry.file_name() == name {
            found.push(path);
        }
    }
    found
}

/// Every file below a folder with its content, but for what a command did not finish; without digits, as pages say when they
/// were built.
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(content(&path));
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            let mut bytes = fs::read(&path).unwrap();
            bytes.retain(|byte| !byte.is_ascii_digit());
            all.push((path, bytes));
        }
    }
    all.sort();
    all
}

/// Disturbs a command on a history at every step, and holds what is there afterwards against an undisturbed one.
fn disturbed_history(args: &[&str], changed: &str, prepare: impl Fn(&Place)) {
    let place_with = || {
        let place = Place::new();
        for made in history(3, 9) {
            place.append(&made);
        }
        prepare(&place);
        place
    };
    let apply = |place: &Place, fault: &str, at: usize| {
        let faults = Faults::below(&place.path(changed));
        let mut command = wirebench(args);
        let ended = faults.apply(command.current_dir(place.path("")), fault, at);
        (ended, faults)
    };
    let whole = place_with();
    let (ended, faults) = apply(&whole, "count", 0);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let steps = faults.steps();
    let relative = |place: &Place| -> Vec<(PathBuf, Vec<u8>)> {
        let root = place.path("");
        (content(&place.path(changed)).into_iter())
            .map(|(path, bytes)| (path.strip_prefix(&root).unwrap().to_path_buf(), bytes))
            .collect()
    };
    let expected = relative(&whole);
    for (fault, code) in [("full", 1), ("kill", KILLED), ("kill-after", KILLED)] {
        for at in spread(steps) {
            let place = place_with();
            let (ended, _) = apply(&place, fault, at);
            let what = format!("{fault} at step {at} of {steps}: {}", ended.stderr);
            // The last step may be one that needs no space.
            assert!(ended.code == code || (at == steps && ended.code == 0), "{what}");
            assert!(
                ended.code != 1 || ended.stderr.contains("No space left on device"),
                "{what}"
            );
            let trend = place.run(&["history", "trend", "h"]);
            assert_eq!(trend.code, 0, "{what}\n{}", trend.stderr);
            let again = place.run(args);
            assert_eq!(again.code, 0, "{what}\n{}", again.stderr);
            let found = relative(&place);
            let names = |all: &[(PathBuf, Vec<u8>)]| all.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
            assert_eq!(names(&found), names(&expected), "{what}");
            for (one, other) in found.iter().zip(&expected) {
                assert!(one == other, "{what}\n{} differs", one.0.display());
            }
        }
    }
}

#[test]
fn a_disturbed_append_loses_no_run_and_is_done_by_the_next() {
    let fourth: Made = history(4, 9).remove(3);
    disturbed_history(&["history", "append", "made", "--to", "h"], "h", |place| {
        place.record("made", &fourth.record());
    });
}

#[test]
#[ignore = "nightly"]
fn a_disturbed_index_is_made_by_the_next() {
    disturbed_history(&["history", "index", "h"], "h", |_| {});
}

#[test]
#[ignore = "nightly"]
fn a_disturbed_site_is_built_by_the_next() {
    disturbed_history(&["site", "build", "h", "--repository", "octo/weather"], "_site", |_| {});
}

#[test]
#[ignore = "nightly"]
fn a_publisher_whose_git_is_killed_pushes_all_or_nothing_and_is_done_by_the_next() {
    let place = publish::Place::new();
    let stores = place.path("stores");
    fs::create_dir(&stores).unwrap();
    let faults = Faults::below(&stores);
    for at in 1..=10 {
        let history = place.history(&format!("h{at}"), &format!("{at}-{at}.json"), "{}");
        let mut command = place.command(&[&history]);
        let killed = command
            .env("TMPDIR", &stores)
            .envs(faults.environment("kill", at))
            .env("FAULT_PROGRAM", "git")
            .spawn()
            .map(publish::end)
            .unwrap();
        let file = format!("runs/2026/11/{at}-{at}.json");
        let is_there = || at > 1 && place.files().contains(&file);
        assert_eq!(
            killed.code == 0,
            is_there(),
            "git killed at step {at}: {}",
            killed.stderr
        );
        let again = place.publish(&[&history]);
        assert_eq!(again.code, 0, "{}", again.stderr);
        assert!(place.files().contains(&file));
    }
    assert_eq!(place.files().len(), 1 + 10);
    place.remote(&["fsck", "--strict"]);
}

#[test]
fn a_branch_that_is_forced_elsewhere_meanwhile_keeps_what_it_was_forced_to_and_gets_the_run() {
    let place = publish::Place::new();
    place.publish(&[&place.history("first", "1-1.json", "{}")]);
    let first = place.remote(&["rev-parse", "data"]);
    place.publish(&[&place.history("second", "2-2.json", "{}")]);
    // Before the publisher's git pushes for the first time, the branch goes back to its first commit.
    let folder = place.path("bin");
    fs::create_dir(&folder).unwrap();
    let (git, remote, forced) = (which("git"), place.path("remote.git"), place.path("forced"));
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *' push '*) if mkdir {forced:?} 2>/dev/null; then {git:?} -C {remote:?} update-ref refs/heads/data {}; fi;; esac\n\
         exec {git:?} \"$@\"\n",
        first.trim()
    );
    fs::write(folder.join("git"), script).unwrap();
    fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let third = place.history("third", "3-3.json", "{}");
    let ended = place
        .command(&[&third])
        .env("PATH", path)
        .spawn()
        .map(publish::end)
        .unwrap();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(
        forced.is_dir() && ended.stderr.contains("pushed at try 2"),
        "{}",
        ended.stderr
    );
    assert_eq!(
        place.files(),
        ["README.md", "runs/2026/11/1-1.json", "runs/2026/11/3-3.json"]
    );
    place.publish(&[&place.path("second").to_string_lossy()]);
    assert_eq!(place.files().len(), 1 + 3, "who still has a run can publish it again");
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .unwrap()
}
