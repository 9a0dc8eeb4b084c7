//! Every verb where the world does not help: nobody reads its output, the disk is full, the folder is read-only. Each ends with an
//! exit code of its own and a message, without a panic, and leaves no process behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::bench::{Bench, Ended, ended};
use crate::inits::with_server;

/// Every verb, with arguments that work in [`bench`] or are refused for a reason of its own.
const LINES: [&str; 30] = [
    "init --no-probe",
    "init --no-probe --print",
    "verify --tools",
    "list",
    "verify",
    "run --rounds 1",
    "merge results",
    "count --scenario ask",
    "report",
    "report --write",
    "report --json",
    "github summary",
    "gate",
    "compare",
    "backfill v1..HEAD --to old",
    "export --format github-action-benchmark --out exported",
    "selftest --rounds 12 --runs 1",
    "history append --to kept",
    "history index kept",
    "history trend kept",
    "history import data.js --to imported",
    "site build kept --out pages",
    "site serve nowhere",
    "github comment --run 1",
    "github alert kept --dry-run",
    "github rerun",
    "accept --series ask@* --at-most 5% --metric throughput --reason x",
    "normalise fake --stdout data.js",
    "completions bash",
    "--help",
];

/// A project with a run, a history, and another program's history.
fn bench() -> Bench {
    let data = "window.BENCHMARK_DATA = {\"lastUpdate\":1,\"repoUrl\":\"https://github.com/a/b\",\"entries\":{}}";
    let bench = Bench::new()
        .server("py", "ok", "")
        .driver("fake", "ok")
        .file("data.js", data);
    let bench = with_server(bench).commit("v1");
    for line in ["run --rounds 1", "history append --to kept"] {
        let done = bench.run(&words(line));
        assert_eq!(done.code, 0, "{line}: {}", done.stderr);
    }
    bench
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A verb's arguments after a shell's preparation.
fn after(bench: &Bench, preparation: &str, line: &str) -> Command {
    let verb = bench.command_of(&words(line));
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{preparation}; exec \"$0\" \"$@\"")]);
    shell.arg(verb.get_program()).args(verb.get_args());
    shell.envs(verb.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(verb.get_current_dir().unwrap()).stdin(Stdio::null());
    shell
}

#[track_caller]
fn is_sound(line: &str, ended: &Ended, why: &str) {
    assert!(
        (0..=4).contains(&ended.code),
        "{why}: {line}: exit code {}: {}",
        ended.code,
        ended.stderr
    );
    assert!(!ended.stderr.contains("panicked"), "{why}: {line}: {}", ended.stderr);
    if ended.code != 0 {
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(
            !said.trim().is_empty(),
            "{why}: {line}: exit code {} without a word",
            ended.code
        );
    }
}

#[test]
#[ignore = "nightly"]
fn nobody_reads_the_output_of_any_verb() {
    let bench = bench();
    for line in LINES {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut verb = bench.command_of(&words(line));
        let output = verb.stdout(writer).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.signal(), None, "{line}: {stderr}");
        let ended = Ended {
            code: output.status.code().unwrap(),
            stdout: String::new(),
            stderr,
        };
        assert!(!ended.stderr.contains("panicked"), "{line}: {}", ended.stderr);
        assert!((0..=4).contains(&ended.code), "{line}: {}", ended.stderr);
        // A line with an unknown flag, or without a required one, would not reach the verb, and would test nothing.
        assert!(!ended.stderr.contains("try '--help'"), "{line}: {}", ended.stderr);
    }
    assert!(bench.left_behind().is_empty(), "{:?}", bench.left_behind());
}

#[test]
fn a_full_disk_stops_no_verb_without_a_word() {
    let bench = bench();
    for line in LINES {
        // Every write to a file fails, as on a full disk.
        let ended = ended(&mut after(&bench, "trap '' XFSZ; ulimit -f 0", line));
        is_sound(line, &ended, "full disk");
    }
    for (line, place) in [
        ("run --rounds 1", "wirebench-tls-"),
        ("history append --to new", "new"),
        ("site build kept --out new-pages", "new-pages"),
    ] {
        let ended = ended(&mut after(&bench, "trap '' XFSZ; ulimit -f 0", line));
        assert_eq!(ended.code, 1, "{line}: {}{}", ended.stdout, ended.stderr);
        assert!(
            ended.stderr.contains(place),
            "{line} does not say where: {}",
            ended.stderr
        );
    }
    assert!(bench.left_behind().is_empty(), "{:?}", bench.left_behind());
}

/// Takes the right to write away from every folder and file, or gives it back.
fn writable(folder: &std::path::Path, yes: bool) {
    let metadata = fs::symlink_metadata(folder).unwrap();
    if metadata.is_symlink() {
        return;
    }
    let mode = metadata.permissions().mode();
    let mode = if yes { mode | 0o200 } else { mode & !0o222 };
    if yes {
        fs::set_permissions(folder, PermissionsExt::from_mode(mode)).unwrap();
    }
    if metadata.is_dir() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            writable(&entry.path(), yes);
        }
    }
    if !yes {
        fs::set_permissions(folder, PermissionsExt::from_mode(mode)).unwrap();
    }
}

#[test]
#[ignore = "nightly"]
fn a_read_only_folder_stops_no_verb_without_a_word() {
    let bench = bench();
    writable(&bench.path("."), false);
    // Root may write everywhere, unless it drops that right.
    let drops = "if [ \"$(id -u)\" = 0 ]; then exec setpriv --bounding-set -all --inh-caps -all -- \"$0\" \"$@\"; fi";
    let mut wrong = Vec::new();
    for line in LINES {
        let ended = ended(&mut after(&bench, drops, line));
        let sound = std::panic::catch_unwind(|| is_sound(line, &ended, "read-only folder"));
        if sound.is_err() {
            wrong.push(line);
        }
    }
    let places = [
        ("run --rounds 1", "results"),
        ("history append --to new", "new"),
        ("init --no-probe", "cannot be written"),
    ];
    for (line, place) in places {
        let ended = ended(&mut after(&bench, drops, line));
        if ended.code != 1 || !ended.stderr.contains(place) {
            wrong.push(line);
            eprintln!("{line}: {}: {}", ended.code, ended.stderr);
        }
    }
    writable(&bench.path("."), true);
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(bench.left_behind().is_empty(), "{:?}", bench.left_behind());
}

/// Whether a condition holds within a minute.
fn soon(holds: impl Fn() -> bool) -> bool {
    wirebench_testing::holds_within(Duration::from_secs(60), holds)
}

#[test]
#[ignore = "nightly"]
fn a_terminal_that_is_closed_ends_verbs_that_wait() {
    if crate::interrupt::ignores_hangup() {
        println!("not asked: these tests run under nohup, which says that a closed terminal ends nothing");
        return;
    }
    let waits = "ready_timeout = \"300s\"";
    for (line, mode, more, begun) in [
        ("run --rounds 50", "ok", "", "server.py ok"),
        ("run --rounds 1", "never-ready", waits, "server.py never-ready"),
        ("verify", "never-ready", waits, "server.py never-ready"),
        ("site serve .", "ok", "", "site serve"),
    ] {
        let bench = Bench::new()
            .server("py", mode, more)
            .driver("fake", "ok")
            .file("index.html", "");
        let mut verb = bench.command_of(&words(line));
        let mut child = verb
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let has_begun = || bench.left_behind().iter().any(|command| command.contains(begun));
        assert!(soon(has_begun), "{line}: {:?}", bench.left_behind());
        // The terminal's end reaches the whole group.
        let sent = Command::new("kill")
            .args(["-s", "HUP", "--", &format!("-{}", child.id())])
            .status()
            .unwrap();
        assert!(sent.success(), "{line}");
        let status = child.wait().unwrap();
        assert!(
            status.code() == Some(129) || status.signal() == Some(1),
            "{line}: {status}"
        );
        // What was started ends with it, a moment later.
        assert!(
            soon(|| bench.left_behind().is_empty()),
            "{line}: {:?}",
            bench.left_behind()
        );
    }
}
