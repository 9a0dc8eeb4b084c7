//! The issue about what is worse on the default branch: opened once, kept up to date, closed when it is taken back or meant.

use serde_json::{Value, json};

use crate::github::fake::Failure;
use crate::github::scene::Scene;
use crate::made::{Made, Place, history};

/// Appends runs to the history of a place.
fn append(place: &Place, runs: &[Made]) {
    for made in runs {
        place.append(made);
    }
}

/// Runs the alert on a place's history.
fn alert(scene: &Scene, place: &Place) -> String {
    let folder = place.path("h");
    let ended = scene.run(&[
        "github",
        "alert",
        &folder.to_string_lossy(),
        "--root",
        &place.path("").to_string_lossy(),
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    ended.stderr
}

fn issues(scene: &Scene) -> Vec<Value> {
    scene.fake.known().issues.clone()
}

#[test]
fn a_step_opens_one_issue_that_is_updated_and_closed() {
    let (scene, place) = (Scene::of("regressed"), Place::new());
    std::fs::write(place.path("wirebench.toml"), "").unwrap();
    append(&place, &history(20, 20));
    assert!(alert(&scene, &place).contains("no issue is open"));
    assert!(issues(&scene).is_empty());

    append(&place, &history(24, 20)[20..]);
    assert!(alert(&scene, &place).contains("issue 40 opened"));
    let runs = history(24, 20);
    let text = issues(&scene)[0]["body"].as_str().unwrap().to_owned();
    for needed in [
        &runs[20].commit()[..12],
        "`weather-fixed-count@http@h2load` | server CPU per request | +9.",
        "wirebench run --baseline ",
        "--scenario 'weather-fixed-count'",
    ] {
        assert!(text.contains(needed), "no {needed} in\n{text}");
    }
    assert!(alert(&scene, &place).contains("issue 40 updated"));
    assert_eq!(issues(&scene).len(), 1);

    // Meant: the issue is closed, and a later run opens none.
    let accepted = place.run(&[
        "accept",
        "--series",
        "*",
        "--at-most",
        "12%",
        "--commit",
        &runs[20].commit()[..12],
        "--reason",
        "meant",
    ]);
    assert_eq!(accepted.code, 0, "{}", accepted.stderr);
    assert!(alert(&scene, &place).contains("issue 40 closed"));
    assert_eq!(issues(&scene)[0]["state"], "closed");
    assert!(alert(&scene, &place).contains("no issue is open"));
}

#[test]
fn an_issue_that_was_opened_although_its_response_was_lost_is_not_opened_twice() {
    for status in [502, 201] {
        let (scene, place) = (Scene::of("regressed"), Place::new());
        append(&place, &history(24, 20));
        scene.fake.known().failures.push(Failure::lost("/issues", status));
        assert!(alert(&scene, &place).contains("issue 40 opened"), "{status}");
        assert_eq!(issues(&scene).len(), 1, "{status}");
    }
}

#[test]
fn what_others_wrote_is_never_touched() {
    let (scene, place) = (Scene::of("regressed"), Place::new());
    append(&place, &history(24, 20));
    let by = |login: &str, kind: &str, body: &str| json!({"number": 1, "state": "open", "body": body, "user": {"id": 1, "login": login, "type": kind}});
    let mut pull = by("github-actions[bot]", "Bot", "<!-- wirebench: trend -->\n");
    pull["pull_request"] = json!({});
    scene.fake.known().issues = vec![
        by("mallory", "User", "<!-- wirebench: trend -->\n"),
        by("github-actions[bot]", "Bot", "see <!-- wirebench: trend -->\n"),
        pull,
    ];
    assert!(alert(&scene, &place).contains("opened"));
    let all = issues(&scene);
    assert_eq!(all.len(), 4);
    assert!(
        all[..3]
            .iter()
            .all(|issue| issue["state"] == "open" && issue["title"].is_null())
    );
}

#[test]
fn a_step_of_long_ago_opens_no_issue_and_a_failure_is_said() {
    let (scene, place) = (Scene::of("regressed"), Place::new());
    append(&place, &history(40, 20));
    assert!(alert(&scene, &place).contains("no issue is open"));
    append(&place, &[]);
    let other = Place::new();
    append(&other, &history(24, 20));
    scene
        .fake
        .known()
        .failures
        .push(Failure::new("POST", "/issues", 403, 9));
    let folder = other.path("h");
    let ended = scene.run(&["github", "alert", &folder.to_string_lossy()]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("403"), "{}", ended.stderr);
    let dry = scene.run(&["github", "alert", &folder.to_string_lossy(), "--dry-run"]);
    assert!(dry.code == 0 && dry.stdout.contains("figure"), "{}", dry.stdout);
}

#[test]
fn the_script_reads_the_branch_data_and_leaves_the_checkout_alone() {
    let (scene, place) = (Scene::of("regressed"), Place::new());
    append(&place, &history(24, 20));
    let git = |folder: &str, args: &[&str]| {
        let mut command = std::process::Command::new("git");
        let identity = [
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.invalid",
            "-c",
            "init.defaultBranch=main",
        ];
        let done = command
            .args(identity)
            .args(args)
            .current_dir(place.path(folder))
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    };
    std::fs::create_dir_all(place.path("checkout")).unwrap();
    std::fs::write(place.path("checkout/wirebench.toml"), "").unwrap();
    git("", &["init", "--quiet", "--bare", "remote"]);
    git("h", &["init", "--quiet"]);
    git("h", &["add", "."]);
    git("h", &["commit", "--quiet", "-m", "data"]);
    git("checkout", &["init", "--quiet"]);
    git(
        "checkout",
        &["remote", "add", "origin", &place.path("remote").to_string_lossy()],
    );
    let script = || {
        let mut command = std::process::Command::new(crate::bench::repository().join(".github/actions/alert/alert.sh"));
        command
            .current_dir(place.path("checkout"))
            .env("WIREBENCH", env!("CARGO_BIN_EXE_wirebench"))
            .env("GITHUB_API_URL", &scene.fake.url)
            .env("GITHUB_SERVER_URL", "https://github.com")
            .env("GITHUB_REPOSITORY", crate::github::fake::REPOSITORY)
            .env("GITHUB_TOKEN", crate::github::fake::TOKEN);
        let done = command.output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (code, said) = script();
    assert!(code == Some(0) && said.contains("no branch data yet"), "{said}");
    git(
        "h",
        &[
            "push",
            "--quiet",
            &place.path("remote").to_string_lossy(),
            "HEAD:refs/heads/data",
        ],
    );
    let (code, said) = script();
    assert!(code == Some(0) && said.contains("issue 40 opened"), "{said}");
    assert_eq!(issues(&scene).len(), 1);
    assert_eq!(
        std::fs::read_dir(place.path("checkout")).unwrap().count(),
        2,
        "wirebench.toml and .git"
    );
}
