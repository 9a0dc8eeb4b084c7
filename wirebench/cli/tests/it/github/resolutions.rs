//! Which pull request a run is about, and which runs are nobody's business: a table.

use serde_json::{Value, json};

use crate::github::fake::{REPOSITORY, REPOSITORY_ID, repository};
use crate::github::scene::{FORK, HEAD, OTHER, PULL, RUN, Scene, listed, pull, run};

/// A scene whose run says otherwise in one place.
fn with(pointer: &str, value: Value) -> Scene {
    let scene = Scene::of("regressed");
    let mut run = run();
    *run.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    scene.fake.known().runs = vec![run.clone()];
    scene.event(
        &json!({ "action": "completed", "workflow_run": run, "repository": repository(REPOSITORY_ID, REPOSITORY) }),
    );
    scene
}

#[test]
fn a_run_that_is_not_of_our_workflow_for_a_pull_request_is_refused_by_event_and_by_number() {
    for (pointer, value, why) in [
        ("/event", json!("push"), "not started by pull_request or merge_group"),
        (
            "/event",
            json!("workflow_dispatch"),
            "not started by pull_request or merge_group",
        ),
        (
            "/event",
            json!("pull_request_target"),
            "not started by pull_request or merge_group",
        ),
        ("/path", json!(".github/workflows/other.yml"), "another workflow"),
        ("/path", json!(".github/workflows/bench.yml@x.yml"), "another workflow"),
        ("/path", json!("bench.yml"), "another workflow"),
        ("/repository/id", json!(1), "another repository's"),
        ("/status", json!("in_progress"), "has not ended"),
        ("/head_repository", Value::Null, "was deleted"),
        ("/head_branch", Value::Null, "no branch"),
        ("/head_sha", json!("HEAD\n::error::x"), "names no commit"),
        ("/head_sha", json!("abc"), "names no commit"),
    ] {
        let scene = with(pointer, value);
        assert!(scene.refused().contains(why), "{pointer}: {}", scene.refused());
        let by_number = scene.run(&["github", "comment", "--run", &RUN.to_string()]);
        assert_eq!(by_number.code, 1);
        assert!(by_number.stderr.contains(why), "{}", by_number.stderr);
        assert!(scene.fake.writes().is_empty());
    }
}

#[test]
fn the_api_may_add_a_ref_to_the_workflows_path() {
    assert!(
        with("/path", json!(".github/workflows/bench.yml@refs/pull/7/merge"))
            .said()
            .contains("Regressed")
    );
}

#[test]
fn events_of_other_kinds_and_repositories_are_refused() {
    let scene = Scene::of("regressed");
    scene.event(
        &json!({ "action": "requested", "workflow_run": run(), "repository": repository(REPOSITORY_ID, REPOSITORY) }),
    );
    assert!(scene.refused().contains("not about a run that has ended"));
    scene.event(&json!({ "action": "completed", "workflow_run": run(), "repository": repository(1, "evil/weather") }));
    assert!(scene.refused().contains("another repository"));
    scene.event(&json!({ "action": "opened", "pull_request": {} }));
    assert!(scene.refused().contains("cannot be read"));
}

/// The pull requests that the API lists, and what comes of it: a comment (none), or a reason.
#[test]
fn one_open_pull_request_at_the_commit_is_commented_on() {
    let closed = || {
        let mut closed = pull(PULL, HEAD, FORK);
        closed["state"] = json!("closed");
        closed
    };
    let gone = || {
        let mut gone = pull(PULL, HEAD, FORK);
        gone["head"]["repo"] = Value::Null;
        gone
    };
    let table = [
        ("from a fork", vec![pull(PULL, HEAD, FORK)], None),
        (
            "beside one of another fork at that commit",
            vec![pull(8, HEAD, 9002), pull(PULL, HEAD, FORK)],
            None,
        ),
        ("closed", vec![closed()], Some("no open pull request")),
        ("none", vec![], Some("no open pull request")),
        ("its fork is gone", vec![gone()], Some("no open pull request")),
        (
            "of another fork",
            vec![pull(PULL, HEAD, 9002)],
            Some("no open pull request"),
        ),
        (
            "two at one commit",
            vec![pull(PULL, HEAD, FORK), pull(8, HEAD, FORK)],
            Some("several pull requests, 7 and 8"),
        ),
    ];
    for (name, pulls, why) in table {
        let scene = Scene::of("regressed");
        scene.fake.known().pulls = pulls;
        match why {
            None => assert!(scene.said().contains("Regressed"), "{name}"),
            Some(why) => assert!(scene.refused().contains(why), "{name}: {}", scene.refused()),
        }
    }
}

#[test]
fn a_pull_request_of_the_same_repository_takes_the_same_way() {
    let scene = with("/head_repository", repository(REPOSITORY_ID, REPOSITORY));
    scene.fake.known().pulls = vec![pull(PULL, HEAD, REPOSITORY_ID)];
    assert!(scene.said().contains("Regressed"));
}

#[test]
fn a_head_that_has_moved_on_is_left_to_its_own_run() {
    let scene = Scene::of("regressed");
    scene.fake.known().pulls = vec![pull(PULL, OTHER, FORK)];
    let ended = scene.comment();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("has moved on from b81e"), "{}", ended.stderr);
    assert!(scene.fake.writes().is_empty());
    assert!(
        scene
            .fake
            .requests()
            .iter()
            .all(|asked| !asked.path.contains("artifacts")),
        "nothing is downloaded"
    );
}

#[test]
fn branches_with_strange_names_are_asked_for_as_they_are() {
    let strange = "a&state=closed#\u{e4} @x/../..?head=octo:main";
    let scene = with("/head_branch", json!(strange));
    let mut pull = pull(PULL, HEAD, FORK);
    pull["head"]["ref"] = json!(strange);
    scene.fake.known().pulls = vec![pull];
    let text = scene.said();
    assert!(text.contains("Regressed") && !text.contains("state=closed"));
    let asked = scene
        .fake
        .requests()
        .into_iter()
        .find(|asked| asked.path == "/pulls")
        .unwrap();
    assert_eq!(asked.query["head"], format!("stranger:{strange}"));
    assert_eq!(asked.query["state"], "open");
}

#[test]
fn exactly_one_artifact_of_the_newest_attempt_is_taken() {
    let named = |id: u64, name: &str, at: &str| {
        let mut artifact = listed(1000);
        (artifact["id"], artifact["name"], artifact["created_at"]) = (json!(id), json!(name), json!(at));
        artifact
    };
    let (now, before) = ("2026-11-21T09:08:00Z", "2026-11-21T08:59:59Z");
    let scene = with("/conclusion", json!("failure"));
    let mut expired = listed(1000);
    expired["expired"] = json!(true);
    let mut others = listed(1000);
    others["workflow_run"]["id"] = json!(1);
    let mut nobodys = listed(1000);
    nobodys["workflow_run"] = Value::Null;
    let mut unsaid = listed(1000);
    unsaid.as_object_mut().unwrap().remove("workflow_run");
    for (artifacts, why) in [
        (vec![], "found 0"),
        (vec![named(1, "bench-result2", now), named(2, "other", now)], "found 0"),
        (vec![named(600, "bench-result", before)], "found 0"),
        (
            vec![named(600, "bench-result", now), named(601, "bench-result", now)],
            "found 2",
        ),
        (vec![expired], "expired"),
        (vec![others], "not known to be of this run"),
        (vec![nobodys], "not known to be of this run"),
        (vec![unsaid], "not known to be of this run"),
    ] {
        scene.fake.known().artifacts.insert(RUN, artifacts);
        let said = scene.refused_by_the_check();
        assert!(said.contains(why), "{why}: {said}");
    }
    let mut many: Vec<Value> = (0..150).map(|id| named(id, &format!("shard-{id}"), now)).collect();
    many.push(named(599, "bench-result", before));
    many.push(named(600, "bench-result", now));
    scene.fake.known().artifacts.insert(RUN, many);
    assert!(scene.said().contains("Regressed"));
}

#[test]
fn the_result_of_a_run_that_was_cut_off_is_not_read() {
    for (conclusion, read) in [
        (json!("success"), true),
        (json!("failure"), true),
        (json!("cancelled"), false),
        (json!("timed_out"), false),
        (json!("::error::x"), false),
        (Value::Null, false),
    ] {
        let scene = with("/conclusion", conclusion.clone());
        if read {
            assert!(scene.said().contains("Regressed"), "{conclusion}");
        } else {
            let said = scene.refused_by_the_check();
            assert!(said.contains("only results of runs that end as"), "{conclusion}");
        }
    }
}

#[test]
fn a_token_goes_nowhere_in_the_open_and_is_asked_for_by_name() {
    let scene = Scene::of("regressed");
    for (variable, value, why) in [
        (
            "GITHUB_API_URL",
            "http://api.github.com",
            "GITHUB_API_URL: expected https",
        ),
        (
            "GITHUB_SERVER_URL",
            "javascript:alert(1)",
            "GITHUB_SERVER_URL: expected https",
        ),
        (
            "GITHUB_REPOSITORY",
            "octo/../..",
            "GITHUB_REPOSITORY: expected owner/name",
        ),
        ("GITHUB_REPOSITORY", "octo", "GITHUB_REPOSITORY: expected owner/name"),
        ("GITHUB_TOKEN", "", "GITHUB_TOKEN is not set"),
        ("GITHUB_TOKEN", "secret secret", "GITHUB_TOKEN holds characters"),
    ] {
        let mut command = crate::bench::wirebench(&["github", "comment"]);
        command
            .env("GITHUB_API_URL", &scene.fake.url)
            .env("GITHUB_REPOSITORY", REPOSITORY)
            .env("GITHUB_TOKEN", "x");
        let ended = crate::bench::ended(command.env(variable, value));
        assert_eq!(ended.code, 1);
        assert!(
            ended.stderr.contains(why) && !ended.stderr.contains("secret"),
            "{}",
            ended.stderr
        );
    }
    for args in [
        ["github", "comment", "--workflow", "../x.yml"],
        ["github", "comment", "--artifact", "a/b"],
    ] {
        assert_eq!(scene.run(&args).code, 2);
    }
    assert!(scene.fake.requests().is_empty());
}
