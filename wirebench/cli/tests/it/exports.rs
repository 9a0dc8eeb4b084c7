//! Stored runs in other programs' formats.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{ended, repository, wirebench};

fn exported(out: &Path) {
    let out = out.to_string_lossy().into_owned();
    let args = [
        "export",
        "results/reference",
        "--format",
        "github-action-benchmark",
        "--out",
        &out,
    ];
    let ended = ended(wirebench(&args).current_dir(repository()));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
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

/// The real action, where a checkout of its release is named by WIREBENCH_ACTION_BENCHMARK.
#[test]
fn the_real_action_stores_both_suites() {
    let Some(action) = std::env::var_os("WIREBENCH_ACTION_BENCHMARK") else {
        eprintln!("skipped: WIREBENCH_ACTION_BENCHMARK names no checkout of github-action-benchmark");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    exported(folder.path());
    let person = json!({"name": "a", "email": "a@example.test", "username": "a"});
    let commit = json!({"id": "0".repeat(40), "message": "m", "timestamp": "2026-01-01T00:00:00Z", "url": "https://example.test",
        "author": person, "committer": person});
    let event =
        json!({"head_commit": commit, "repository": {"html_url": "https://example.test/o/r", "private": false}});
    fs::write(path("event.json"), event.to_string()).unwrap();
    fs::write(path("summary.md"), "").unwrap();
    for (name, tool) in [
        ("bigger-is-better", "customBiggerIsBetter"),
        ("smaller-is-better", "customSmallerIsBetter"),
    ] {
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
            .arg(Path::new(&action).join("dist/src/index.js"))
            .current_dir(folder.path())
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
        assert!(status.success(), "{tool}");
    }
    let stored: Value = serde_json::from_slice(&fs::read(path("data.json")).unwrap()).unwrap();
    for name in ["bigger-is-better", "smaller-is-better"] {
        let sent = suite(&folder.path().join(format!("{name}.json")));
        let kept = stored["entries"][name][0]["benches"].as_array().unwrap();
        assert_eq!(kept.len(), sent.len(), "{name}");
        assert_eq!(kept[0]["value"].as_f64(), sent[0]["value"].as_f64(), "{name}");
    }
}
