//! Stored runs in other programs' formats.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{ended, repository, wirebench};

fn exported(out: &Path) {
    export("results/reference", out);
}

fn export(run: &str, out: &Path) {
    let out = out.to_string_lossy().into_owned();
    let args = ["export", run, "--format", "github-action-benchmark", "--out", &out];
    let ended = ended(wirebench(&args).current_dir(repository()));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

/// The recorded run with these of its series alone.
fn export_of(keep: impl Fn(&mut Value) -> bool, out: &Path) {
    let text = fs::read(repository().join("results/reference/run.json")).unwrap();
    let mut run: Value = serde_json::from_slice(&text).unwrap();
    run["series"].as_array_mut().unwrap().retain_mut(keep);
    fs::create_dir_all(out).unwrap();
    fs::write(out.join("run.json"), run.to_string()).unwrap();
    export(&out.join("run.json").to_string_lossy(), out);
}

/// Makes every round of a series one that was not measured.
fn crash(series: &mut Value) -> bool {
    for round in series["rounds"].as_array_mut().unwrap() {
        round["status"] = json!("failed");
        round["reason"] = json!("the server ended with signal 11");
    }
    true
}

/// What the publishing job is told of a folder of exports: its outputs, and what it prints.
fn figures(out: &Path) -> (String, String) {
    let outputs = out.join("outputs");
    fs::write(&outputs, "").unwrap();
    let mut command = Command::new(repository().join("scripts/lib/figures.sh"));
    let ended = ended(command.arg(out).env("GITHUB_OUTPUT", &outputs));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    (fs::read_to_string(&outputs).unwrap(), ended.stdout)
}

#[test]
fn a_suite_without_a_figure_is_skipped_and_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let (all, start_up, crashed) = (
        folder.path().join("all"),
        folder.path().join("start-up"),
        folder.path().join("crashed"),
    );
    exported(&all);
    assert_eq!(figures(&all), ("smaller=true\nbigger=true\n".into(), String::new()));
    export_of(|series| series["driver"] == "hyperfine", &start_up);
    let (outputs, said) = figures(&start_up);
    assert_eq!(outputs, "smaller=true\nbigger=false\n");
    assert!(said.contains("no figure that is better bigger"), "{said}");
    export_of(crash, &crashed);
    assert_eq!(figures(&crashed).0, "smaller=false\nbigger=false\n");
    let action = fs::read_to_string(repository().join(".github/actions/publish/action.yml")).unwrap();
    let steps: Vec<&str> = action.split("    - name: ").collect();
    for kind in ["smaller", "bigger"] {
        let name = format!("github-action-benchmark, {kind} is better");
        let step = steps.iter().find(|step| step.starts_with(&name)).unwrap();
        assert!(
            step.contains(&format!("if: ${{{{ steps.figures.outputs.{kind} == 'true' }}}}")),
            "{step}"
        );
    }
}

fn suite(file: &Path) -> Vec<Value> {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

#[test]
fn both_suites_hold_what_the_action_asks_of_an_entry() {
    let out = tempfile::tempdir().unwrap();
    exported(out.path());
    for name in ["bigger-is-better", "smaller-is-better"] {
        let entries = suite(&out.path().join(format!("{name}.json")));
        assert!(!entries.is_empty());
        for entry in entries {
            assert!(
                entry["name"].is_string() && entry["unit"].is_string() && entry["value"].is_number(),
                "{entry}"
            );
        }
    }
}

/// Runs the real action on a suite of a folder: true if it stores the suite in the folder's data.json.
fn stores(action: &Path, folder: &Path, name: &str, tool: &str) -> bool {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let person = json!({"name": "a", "email": "a@example.test", "username": "a"});
    let commit = json!({"id": "0".repeat(40), "message": "m", "timestamp": "2026-01-01T00:00:00Z", "url": "https://example.test",
        "author": person, "committer": person});
    let event =
        json!({"head_commit": commit, "repository": {"html_url": "https://example.test/o/r", "private": false}});
    fs::write(path("event.json"), event.to_string()).unwrap();
    fs::write(path("summary.md"), "").unwrap();
    let inputs = [
        ("NAME", name),
        ("TOOL", tool),
        ("OUTPUT-FILE-PATH", &path(&format!("{name}.json"))),
        ("EXTERNAL-DATA-JSON-PATH", &path("data.json")),
        ("SAVE-DATA-FILE", "true"),
        ("ALERT-THRESHOLD", "200%"),
        ("GH-PAGES-BRANCH", "gh-pages"),
        ("BENCHMARK-DATA-DIR-PATH", "dev/bench"),
    ];
    let off = [
        "AUTO-PUSH",
        "COMMENT-ALWAYS",
        "SUMMARY-ALWAYS",
        "COMMENT-ON-ALERT",
        "FAIL-ON-ALERT",
        "SKIP-FETCH-GH-PAGES",
        "GO-FORCE-PACKAGE-SUFFIX",
    ];
    let status = Command::new("node")
        .arg(action.join("dist/src/index.js"))
        .current_dir(folder)
        .envs(inputs.map(|(input, value)| (format!("INPUT_{input}"), value.to_owned())))
        .envs(off.map(|input| (format!("INPUT_{input}"), "false".to_owned())))
        .envs([
            ("GITHUB_EVENT_PATH", path("event.json")),
            ("GITHUB_STEP_SUMMARY", path("summary.md")),
        ])
        .envs([
            ("GITHUB_EVENT_NAME", "push"),
            ("GITHUB_REPOSITORY", "o/r"),
            ("GITHUB_REF", "refs/heads/main"),
        ])
        .status()
        .unwrap();
    status.success()
}

/// The real action, where a checkout of its release is named by WIREBENCH_ACTION_BENCHMARK.
#[test]
fn the_real_action_stores_every_suite_that_has_a_figure() {
    let Some(action) = std::env::var_os("WIREBENCH_ACTION_BENCHMARK") else {
        eprintln!("skipped: WIREBENCH_ACTION_BENCHMARK names no checkout of github-action-benchmark");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let folder = |name: &str| place.path().join(name);
    fs::create_dir(folder("all")).unwrap();
    exported(&folder("all"));
    export_of(|series| series["driver"] == "hyperfine", &folder("start-up"));
    export_of(crash, &folder("crashed"));
    for name in ["all", "start-up", "crashed"] {
        let folder = folder(name);
        let (outputs, _) = figures(&folder);
        for (kind, tool) in [("bigger", "customBiggerIsBetter"), ("smaller", "customSmallerIsBetter")] {
            let name = format!("{kind}-is-better");
            let has_figures = outputs.contains(&format!("{kind}=true"));
            assert_eq!(
                stores(Path::new(&action), &folder, &name, tool),
                has_figures,
                "{}",
                folder.display()
            );
            if has_figures {
                let sent = suite(&folder.join(format!("{name}.json")));
                let stored: Value = serde_json::from_slice(&fs::read(folder.join("data.json")).unwrap()).unwrap();
                let kept = stored["entries"][&name][0]["benches"].as_array().unwrap();
                assert_eq!(kept.len(), sent.len(), "{name}");
                assert_eq!(kept[0]["value"].as_f64(), sent[0]["value"].as_f64(), "{name}");
            }
        }
    }
}
