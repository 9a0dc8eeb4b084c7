//! `.github/actions/measure/measure.sh` and `scripts/lib/conclude.sh`: what the action does, run as it runs them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::bench::{Bench, Ended, ended, fixture, run_folder};

/// A project in a repository with two commits, and the folder that the action installs into.
fn place(build: &str) -> Bench {
    let build = format!("build = [\"sh\", \"-c\", {build:?}]");
    let bench = Bench::new()
        .server("py", "ok", &build)
        .driver("fake", "ok")
        .commit("one");
    installed(bench.file("change", "two").commit("two"))
}

fn installed(bench: Bench) -> Bench {
    fs::create_dir_all(bench.path("out/bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_wirebench"), bench.path("out/bin/wirebench")).unwrap();
    bench
}

fn act(bench: &Bench, inputs: &[(&str, &str)]) -> Ended {
    ended(&mut told(Command::new(SCRIPT), bench, inputs))
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.github/actions/measure/measure.sh");

/// What starts the script, with what it takes.
fn told(mut script: Command, bench: &Bench, inputs: &[(&str, &str)]) -> Command {
    script.arg(bench.path("out")).current_dir(bench.path("."));
    script
        .env("CONFIG", ".")
        .env("GITHUB_EVENT_NAME", "workflow_dispatch")
        .env("GITHUB_TOKEN", "a-token");
    script.env("GITHUB_ACTIONS", "true");
    for name in ["GITHUB_SHA", "RUNNER_ENVIRONMENT"] {
        script.env_remove(name);
    }
    // As every project of these tests: without a lock of its own it would wait for the longest of the others.
    script.env("WIREBENCH_LOCK", bench.path("wirebench.toml"));
    for file in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
        script.env(file, bench.path(&format!("out/{file}")));
    }
    script.envs(inputs.iter().copied());
    script
}

/// The log that a runner reads commands from: both outputs, as they came.
fn log(bench: &Bench) -> String {
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" \"$@\" 2>&1", SCRIPT]);
    ended(&mut told(shell, bench, &[("ROUNDS", "1")])).stdout
}

fn written(bench: &Bench, file: &str) -> String {
    fs::read_to_string(bench.path(&format!("out/{file}"))).unwrap_or_default()
}

#[test]
fn a_pull_request_is_held_against_what_it_merges_into() {
    let bench = place("true");
    let ran = act(&bench, &[("GITHUB_EVENT_NAME", "pull_request"), ("ROUNDS", "1")]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let outputs = written(&bench, "GITHUB_OUTPUT");
    for name in ["verdict=", "run=/", "report=/"] {
        assert!(outputs.lines().any(|line| line.starts_with(name)), "{outputs}");
    }
    let comparison: serde_json::Value = serde_json::from_str(&written(&bench, "result/comparison.json")).unwrap();
    let base = bench.git(&["rev-parse", "HEAD^1"]);
    assert_eq!(comparison["baseline"]["revision"]["commit"], base.trim());
    // Both sides are measured from folders of the same depth.
    let head = bench.git(&["rev-parse", "HEAD"]);
    for commit in [base, head] {
        assert!(bench.path(".wirebench/trees").join(&commit[..12]).is_dir(), "{commit}");
    }
    assert_eq!(fs::read_dir(bench.path("out/result")).unwrap().count(), 1);
    assert!(written(&bench, "GITHUB_STEP_SUMMARY").contains("wirebench:"));
    assert!(!bench.path("out/history").exists(), "only a push is kept");
}

/// The commit that a push was compared with, and the log.
fn compared_with(bench: &Bench, before: &str) -> (String, String) {
    let event = bench.path("out/event.json");
    fs::write(&event, format!("{{\"before\":\"{before}\"}}")).unwrap();
    let event = event.display().to_string();
    let inputs = [
        ("GITHUB_EVENT_NAME", "push"),
        ("GITHUB_EVENT_PATH", event.as_str()),
        ("ROUNDS", "1"),
    ];
    let ran = act(bench, &inputs);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let comparison: serde_json::Value = serde_json::from_str(&written(bench, "result/comparison.json")).unwrap();
    let commit = comparison["baseline"]["revision"]["commit"]
        .as_str()
        .unwrap()
        .to_owned();
    (commit, ran.stdout + &ran.stderr)
}

#[test]
fn a_push_is_compared_with_where_its_branch_stood() {
    let bench = place("true");
    let first = bench.git(&["rev-parse", "HEAD^1"]).trim().to_owned();
    let parent = bench.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let bench = bench.file("change", "three").commit("three");
    let (commit, log) = compared_with(&bench, &first);
    assert_eq!(commit, first, "a push of two commits: {log}");
    assert!(!log.contains("::notice::"), "{log}");
    let unknown = "1".repeat(40);
    bench.git(&["checkout", "-q", "-b", "left", &first]);
    let bench = bench.file("change", "elsewhere").commit("left-behind");
    let left = bench.git(&["rev-parse", "HEAD"]).trim().to_owned();
    bench.git(&["checkout", "-q", "-"]);
    for (before, reason) in [
        ("0".repeat(40), "the branch is new"),
        (unknown, "is not in this clone"),
        (left, "the push was forced"),
    ] {
        let (commit, log) = compared_with(&bench, &before);
        assert_eq!(commit, parent, "{log}");
        assert!(log.contains("::notice::") && log.contains(reason), "{log}");
    }
}

#[test]
fn a_judge_without_a_program_or_a_run_names_the_jobs_to_look_at() {
    let folder = tempfile::tempdir().unwrap();
    let judge = || {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.github/actions/judge/judge.sh");
        let ran = ended(Command::new(script).arg(folder.path()));
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        ran.stdout
    };
    assert_eq!(
        judge(),
        "::error::no runner built wirebench: see the jobs that measure\n"
    );
    let program = folder.path().join("bin/wirebench-1/wirebench");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(program, "").unwrap();
    assert_eq!(
        judge(),
        "::error::no runner measured anything: see the jobs that measure\n"
    );
}

/// The job that judges the parts of two runners, of which the second had a server that dies under load.
#[test]
fn parts_with_a_series_that_failed_are_joined_judged_and_kept() {
    let bench = installed(
        Bench::new()
            .server("one", "ok", "")
            .server("two", "dies-under-load", "")
            .driver("fake", "ok")
            .commit("one")
            .file("change", "two")
            .commit("two"),
    );
    for (from, to) in [
        ("../../.github/actions/judge", ".github/actions/judge"),
        ("../../scripts/lib", "scripts/lib"),
    ] {
        fs::create_dir_all(bench.path(to)).unwrap();
        let from = format!("{}/{from}/.", env!("CARGO_MANIFEST_DIR"));
        assert!(
            Command::new("cp")
                .args(["-r", &from])
                .arg(bench.path(to))
                .status()
                .unwrap()
                .success()
        );
    }
    let judged = |parts: [&str; 2]| {
        fs::create_dir_all(bench.path("out/runs")).unwrap();
        fs::remove_dir_all(bench.path("out/result")).ok();
        for (number, to) in parts.iter().enumerate().filter(|(_, to)| !to.is_empty()) {
            let (shard, out) = (format!("{}/2", number + 1), format!("part-{number}"));
            let measure = [
                "run",
                "--baseline",
                "HEAD^1",
                "--rounds",
                "1",
                "--measure-identical",
                "--shard",
                &shard,
            ];
            let ran = bench.run(&[&measure[..], &["--out", &out]].concat());
            assert_eq!(ran.code, i32::from(number == 1), "{}", ran.stderr);
            fs::rename(run_folder(&bench.path(&out)), bench.path(&format!("out/{to}"))).unwrap();
        }
        let script = Command::new(bench.path(".github/actions/judge/judge.sh"));
        let ran = ended(&mut told(script, &bench, &[]));
        fs::remove_dir_all(bench.path("out/runs")).unwrap();
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        ran.stderr
    };
    let log = judged(["runs/1", "runs/2"]);
    let comparison: serde_json::Value = serde_json::from_str(&written(&bench, "result/comparison.json")).unwrap();
    assert_eq!(comparison["series"].as_array().unwrap().len(), 2, "{log}");
    assert!(written(&bench, "GITHUB_OUTPUT").contains("verdict=invalid"), "{log}");
    // One artifact alone is unpacked without a folder of its own.
    let log = judged(["runs", ""]);
    assert!(log.contains("no run is of shard 2/2"), "{log}");
}

#[test]
fn a_push_leaves_what_is_published() {
    let bench = place("true");
    let ran = act(
        &bench,
        &[("GITHUB_EVENT_NAME", "push"), ("ROUNDS", "1"), ("SCENARIOS", "a* ask")],
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let month = fs::read_dir(bench.path("out/history/runs")).unwrap().count();
    assert_eq!(month, 1, "{}", ran.stderr);
    for name in ["bigger", "smaller"] {
        assert!(written(&bench, &format!("history/export/{name}-is-better.json")).contains("ask@py@fake"));
    }
}

const SUDO: &str = "shift\nexec \"$@\"";

/// Puts shell scripts in the place of programs.
fn programs(bench: &Bench, scripts: &[(&str, &str)]) {
    for (name, script) in scripts {
        let file = bench.path(&format!("out/bin/{name}"));
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }
}

/// The lists of a machine are older than its archive: apt finds the package only after an update.
#[test]
fn packages_are_installed_also_where_their_lists_are_too_old() {
    let bench = place("true");
    let driver = fs::read_to_string(bench.path("drivers/fake/driver.toml")).unwrap();
    let lacking = driver
        .replace(&format!("{:?}", crate::built::python()), "\"not-there\"")
        .replace("apt-get install fake", "apt-get install apache2-utils");
    let bench = bench.file("drivers/fake/driver.toml", &lacking);
    let told = bench.path("told");
    let apt = format!(
        "echo \"$@\" >> {told}\ncase \" $* \" in\n*' update '*) ;;\n*) grep -q update {told} || exit 100 ;;\nesac",
        told = told.display()
    );
    programs(&bench, &[("apt-get", &apt), ("sudo", SUDO)]);
    let ran = act(&bench, &[("ROUNDS", "1")]);
    assert!(
        !ran.stdout.contains("could not be installed"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let told = fs::read_to_string(told).unwrap();
    let install = "--quiet --yes install --no-install-recommends -- apache2-utils";
    assert_eq!(
        told.lines().collect::<Vec<&str>>(),
        [install, "--quiet --yes update", install]
    );
}

/// A hosted runner ends with its job; a machine that somebody owns keeps its kernel's settings.
#[test]
fn only_a_hosted_runner_is_set_to_sample_functions() {
    let bench = place("true");
    let told = bench.path("told");
    let tells = |name: &str| format!("echo {name} \"$@\" >> {}", told.display());
    programs(
        &bench,
        &[
            ("perf", "exit 2"),
            ("apt-get", &tells("apt-get")),
            ("sysctl", &tells("sysctl")),
            ("sudo", SUDO),
        ],
    );
    let asked = |environment: &str| {
        let ran = act(&bench, &[("ROUNDS", "1"), ("RUNNER_ENVIRONMENT", environment)]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        fs::read_to_string(&told).unwrap_or_default()
    };
    assert_eq!(asked("self-hosted"), "");
    let asked = asked("github-hosted");
    assert!(
        asked.contains("-- linux-tools-") && asked.ends_with("sysctl --quiet kernel.perf_event_paranoid=1\n"),
        "{asked}"
    );
}

/// Who can be a stranger's in a run: each writes its environment to a file of that name.
const STRANGERS: [&str; 5] = ["jq", "version", "build", "server", "driver"];

/// A project in which every stranger does so, and prints a workflow command.
fn watched(seen: &Path) -> Bench {
    let seen = seen.display();
    let says = |who: &str| format!("env >> {seen}/{who}; echo '::set-env name=A::b' >&2");
    let (server, driver) = (fixture("server.py"), fixture("driver.py"));
    let sh = |text: String| format!("\"sh\", \"-c\", {text:?}");
    let server = format!(
        "about = \"test\"\nprotocols = [\"http\"]\nbuild = [{}]\ncommand = [{}]\nargs = [\"{{port}}\"]\n\
         ready = {{ http = \"/health\" }}\n[operations.ask]\nrequest = {{ path = \"/ask\" }}\n",
        sh(says("build")),
        sh(format!("{}; exec python3 {server} ok \"$0\"", says("server"))),
    );
    let driver = format!(
        "about = \"test\"\n[tool]\nprogram = \"sh\"\nversion = \"1.2.3\"\ninstall = \"x\"\nversion_command = [{}]\n\
         version_pattern = 'driver (\\S+)'\n[protocols.http]\nargs = [\"-c\", {:?}, \"{{address}}\", [\"{{requests}}\"]]\n\
         [normalise]\nargs = [\"{{stdout}}\"]\n",
        sh(format!("{}; echo driver 1.2.3", says("version"))),
        format!("{}; exec python3 {driver} ok \"$0\" \"$1\"", says("driver")),
    );
    let bench = Bench::new()
        .driver("fake", "ok")
        .file("drivers/fake/driver.toml", &driver)
        .file("servers/py/server.toml", &server)
        .file(".tools/bin/jq", &format!("#!/bin/sh\n{}\nexec jq \"$@\"\n", says("jq")));
    fs::set_permissions(bench.path(".tools/bin/jq"), PermissionsExt::from_mode(0o755)).unwrap();
    installed(bench.commit("one").file("change", "two").commit("two"))
}

/// What belongs to the workflow, beside the files that `act` names.
const WORKFLOW: [&str; 9] = [
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_ENV",
    "GITHUB_PATH",
    "GITHUB_STATE",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_RUNTIME_URL",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_URL",
];

#[test]
fn nothing_of_the_workflow_reaches_what_is_looked_at_built_or_started() {
    let held: Vec<(&str, &str)> = WORKFLOW.iter().map(|name| (*name, "held-by-the-workflow")).collect();
    for by_script in [true, false] {
        let seen = tempfile::tempdir().unwrap();
        let bench = watched(seen.path());
        let ran = if by_script {
            act(&bench, &[&held[..], &[("ROUNDS", "1")]].concat())
        } else {
            let tools = bench.path(".tools").display().to_string();
            let more = [("WIREBENCH_TOOLS", tools.as_str()), ("GITHUB_OUTPUT", "x")];
            bench.run_with(
                &["run", "--rounds", "1"],
                &[&held[..], &more, &[("GITHUB_STEP_SUMMARY", "x")]].concat(),
            )
        };
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        for who in STRANGERS {
            let environment = fs::read_to_string(seen.path().join(who)).unwrap_or_default();
            assert!(environment.contains("PATH="), "{who} was not started");
            for name in WORKFLOW.iter().chain(&["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"]) {
                let has = environment.lines().any(|line| line.starts_with(&format!("{name}=")));
                assert!(!has, "{who} sees {name}, by_script: {by_script}");
            }
        }
    }
}

#[test]
fn what_is_looked_at_built_and_started_gives_no_commands() {
    let seen = tempfile::tempdir().unwrap();
    let bench = watched(seen.path());
    let words = || {
        let printed = log(&bench);
        let (mut stopped, mut words, mut tried) = (None, Vec::new(), 0);
        for line in printed.lines() {
            if let Some(word) = line.strip_prefix("::stop-commands::") {
                assert_eq!(stopped, None, "{printed}");
                stopped = Some(word.to_owned());
                words.push(word.to_owned());
            } else if stopped.as_ref().is_some_and(|word| line == format!("::{word}::")) {
                stopped = None;
            } else if line.contains("::set-env") {
                assert!(stopped.is_some(), "a command was given: {printed}");
                tried += 1;
            }
        }
        assert_eq!(stopped, None, "{printed}");
        assert!(tried > 0, "{printed}");
        words
    };
    let mut all = words();
    all.extend(words());
    for word in &all {
        assert!(
            word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{word}"
        );
    }
    let different: BTreeSet<&String> = all.iter().collect();
    assert!(
        all.len() > 2 && different.len() == all.len(),
        "it can be foreseen: {all:?}"
    );
}

#[test]
fn an_input_is_never_a_flag() {
    let bench = place("touch started");
    for (name, value) in [
        ("CONFIG", "-x"),
        ("SCENARIOS", "ask --out=/tmp/elsewhere"),
        ("BASELINE", "--candidate=one"),
        ("CANDIDATE", "-"),
        ("ROUNDS", "-1"),
        ("PROFILE", "--help"),
        ("BASELINE", "one\ntwo"),
    ] {
        let ran = act(&bench, &[(name, value)]);
        assert_eq!(ran.code, 2, "{name}={value}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("::error::input"), "{name}={value}: {}", ran.stderr);
    }
    for (name, value) in [
        ("BASELINE", "$(touch started)"),
        ("SCENARIOS", "`touch started`"),
        ("ROUNDS", "1; touch started"),
    ] {
        assert_ne!(act(&bench, &[(name, value)]).code, 0, "{name}={value}");
    }
    assert!(!bench.path("started").exists(), "an input was run");
}
