//! The comment and the check run on a pull request: made once, then kept up to date, whatever others write and GitHub says.

use serde_json::{Value, json};

use crate::github::fake::{Failure, TOKEN, comment};
use crate::github::scene::{HEAD, OTHER, PULL, Scene, comparison, pull, zipped};

const MARKER: &str = "<!-- wirebench: .github/workflows/bench.yml -->\n";
const COMMENTS: &str = "/issues/7/comments";

fn bodies(scene: &Scene) -> Vec<String> {
    let known = scene.fake.known();
    known.comments[&PULL]
        .iter()
        .map(|comment| comment["body"].as_str().unwrap().to_owned())
        .collect()
}

fn put(scene: &Scene, comments: Vec<Value>) {
    scene.fake.known().comments.insert(PULL, comments);
}

#[test]
fn the_first_run_makes_a_comment_and_a_check_and_the_next_one_updates_both() {
    let scene = Scene::of("regressed");
    let first = scene.comment();
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(
        first.stderr.contains("created") && first.stderr.contains("took "),
        "{}",
        first.stderr
    );
    let text = &bodies(&scene)[0];
    assert!(text.starts_with(MARKER) && text.contains("✗ Regressed"), "{text}");
    assert!(
        text.contains("in [run 500](https://github.com/octo/weather/actions/runs/500)"),
        "{text}"
    );
    {
        let known = scene.fake.known();
        let check = &known.checks[0];
        assert_eq!(
            (&check["name"], &check["head_sha"], &check["conclusion"]),
            (&json!("wirebench"), &json!(HEAD), &json!("failure"))
        );
        assert_eq!(check["details_url"], "https://github.com/octo/weather/actions/runs/500");
    }
    let zip = zipped(comparison("inconclusive").to_string().as_bytes());
    scene.fake.known().archives.insert(600, zip);
    let second = scene.comment();
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(second.stderr.contains("updated"), "{}", second.stderr);
    assert_eq!(bodies(&scene).len(), 1);
    assert!(bodies(&scene)[0].contains("? Inconclusive"));
    let known = scene.fake.known();
    assert_eq!(
        (known.checks.len(), &known.checks[0]["conclusion"]),
        (1, &json!("neutral"))
    );
}

#[test]
fn without_a_change_only_the_check_is_written_and_a_comment_that_exists_is_updated() {
    for golden in ["unchanged", "counted-unchanged", "same-program", "inconclusive"] {
        let scene = Scene::of(golden);
        let ended = scene.comment();
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(
            ended.stderr.contains("no comment: nothing changed"),
            "{golden}: {}",
            ended.stderr
        );
        {
            let known = scene.fake.known();
            assert_eq!((known.comments.len(), known.checks.len()), (0, 1), "{golden}");
        }
        let ours = comment(
            9,
            "github-actions[bot]",
            "Bot",
            &format!("{MARKER}### wirebench: ✗ Regressed"),
        );
        put(&scene, vec![ours]);
        assert_eq!(scene.comment().code, 0);
        assert!(
            !bodies(&scene)[0].contains("Regressed"),
            "{golden}: {}",
            bodies(&scene)[0]
        );
    }
    for golden in [
        "regressed",
        "improved",
        "accepted",
        "invalid",
        "improved-but-worse",
        "new-call",
        "not-judged",
        "added-removed",
    ] {
        let scene = Scene::of(golden);
        assert_eq!(scene.comment().code, 0);
        assert_eq!(bodies(&scene).len(), 1, "{golden}");
    }
}

#[test]
fn a_verdict_has_its_conclusion() {
    for (golden, conclusion) in [
        ("unchanged", "success"),
        ("improved", "success"),
        ("accepted", "success"),
        ("invalid", "failure"),
        ("inconclusive", "neutral"),
        ("not-judged", "neutral"),
        ("same-program", "neutral"),
    ] {
        let scene = Scene::of(golden);
        assert_eq!(scene.comment().code, 0);
        assert_eq!(scene.fake.known().checks[0]["conclusion"], conclusion, "{golden}");
    }
}

#[test]
fn a_comment_that_others_planted_is_never_touched() {
    let scene = Scene::of("regressed");
    let planted = [
        comment(1, "stranger", "User", &format!("{MARKER}planted")),
        comment(2, "github-actions[bot]", "User", &format!("{MARKER}planted")),
        comment(3, "other[bot]", "Bot", &format!("{MARKER}planted")),
        comment(4, "github-actions[bot]", "Bot", &format!("quoting\n{MARKER}planted")),
        comment(
            6,
            "github-actions[bot]",
            "Bot",
            &format!("{} another action's own text\nplanted", MARKER.trim()),
        ),
        comment(
            5,
            "github-actions[bot]",
            "Bot",
            "<!-- wirebench: .github/workflows/other.yml -->\nplanted",
        ),
    ];
    put(&scene, planted.to_vec());
    assert_eq!(scene.comment().code, 0);
    let all = bodies(&scene);
    assert_eq!(all.len(), 7);
    assert!(all[..6].iter().all(|body| body.ends_with("planted")) && all[6].contains("Regressed"));
}

#[test]
fn our_comment_is_found_on_any_page() {
    let scene = Scene::of("regressed");
    let mut all: Vec<Value> = (1..=250).map(|id| comment(id, "stranger", "User", "hello")).collect();
    all[239] = comment(240, "github-actions[bot]", "Bot", &format!("{MARKER}old"));
    put(&scene, all);
    let ended = scene.comment();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("comment 240 updated"), "{}", ended.stderr);
    assert!(bodies(&scene).len() == 250 && bodies(&scene)[239].contains("Regressed"));
}

#[test]
fn exactly_one_hundred_comments_are_read_to_their_end() {
    let scene = Scene::of("regressed");
    put(
        &scene,
        (1..=100).map(|id| comment(id, "stranger", "User", "hello")).collect(),
    );
    assert_eq!(scene.comment().code, 0);
    assert_eq!(bodies(&scene).len(), 101);
}

#[test]
fn a_comment_that_was_deleted_meanwhile_is_made_anew() {
    for status in [404, 422] {
        let scene = Scene::of("regressed");
        put(
            &scene,
            vec![comment(9, "github-actions[bot]", "Bot", &format!("{MARKER}old"))],
        );
        scene
            .fake
            .known()
            .failures
            .push(Failure::new("PATCH", "/issues/comments/9", status, 9));
        let ended = scene.comment();
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains("created") && bodies(&scene).len() == 2);
    }
}

#[test]
fn several_comments_of_ours_that_cannot_be_written_end_in_a_new_one() {
    let scene = Scene::of("regressed");
    let old = |id| comment(id, "github-actions[bot]", "Bot", &format!("{MARKER}old"));
    put(&scene, vec![old(9), old(10)]);
    for id in [9, 10] {
        let path = format!("/issues/comments/{id}");
        scene.fake.known().failures.push(Failure::new("PATCH", &path, 422, 99));
    }
    assert_eq!(scene.comment().code, 0);
    assert_eq!(bodies(&scene).len(), 3);
}

#[test]
fn what_the_token_may_not_do_is_said_with_the_permission_it_needs() {
    for (method, path, permission) in [
        ("POST", COMMENTS, "pull-requests: write"),
        ("GET", "/pulls", "pull-requests: read"),
        ("GET", "/artifacts", "actions: read"),
        ("POST", "/check-runs", "checks: write"),
    ] {
        let scene = Scene::of("regressed");
        let mut failure = Failure::new(method, path, 403, 99);
        failure.body = json!({ "message": "Resource not accessible by integration\n::error::x" });
        scene.fake.known().failures.push(failure);
        let ended = scene.comment();
        assert_eq!(ended.code, 1);
        let error = ended.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
        assert!(
            error.contains("Resource not accessible") && error.contains(permission),
            "{error}"
        );
        assert_eq!(
            scene
                .fake
                .requests()
                .iter()
                .filter(|asked| asked.path.ends_with(path) && asked.method == method)
                .count(),
            1
        );
    }
}

#[test]
fn a_token_that_an_answer_repeats_is_not_printed() {
    let scene = Scene::of("regressed");
    let mut failure = Failure::new("GET", "/pulls", 401, 99);
    failure.body = json!({ "message": format!("Bad credentials: Bearer {TOKEN}, twice: {TOKEN}") });
    scene.fake.known().failures.push(failure);
    let why = scene.refused();
    assert!(why.contains("Bearer (token), twice: (token)"), "{why}");
}

#[test]
fn what_fails_for_a_while_is_asked_again() {
    let scene = Scene::of("regressed");
    {
        let mut known = scene.fake.known();
        known.failures.push(Failure::new("GET", "/pulls", 502, 2));
        known.failures.push(Failure::new("GET", "/zip", 503, 1));
        known.failures.push(Failure::new("POST", COMMENTS, 502, 1));
        let mut slow = Failure::new("POST", "/check-runs", 403, 1);
        slow.headers = vec![("retry-after", "1".into())];
        slow.body = json!({ "message": "You have exceeded a secondary rate limit" });
        known.failures.push(slow);
        known.failures.push(Failure::new("GET", "/artifacts", 429, 1));
    }
    let ended = scene.comment();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!((bodies(&scene).len(), scene.fake.known().checks.len()), (1, 1));
}

#[test]
fn half_an_answer_is_asked_for_again_and_never_taken_for_a_whole_one() {
    let scene = Scene::of("regressed");
    for path in ["/pulls", "/artifacts", COMMENTS] {
        let mut half = Failure::new("GET", path, 200, 1);
        half.headers = vec![("content-length", "5000".into())];
        half.body = json!([]);
        scene.fake.known().failures.push(half);
    }
    let ended = scene.comment();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!((bodies(&scene).len(), scene.fake.known().checks.len()), (1, 1));
    let asked = |path: &str| {
        scene
            .fake
            .requests()
            .iter()
            .filter(|asked| asked.path.ends_with(path))
            .count()
    };
    assert!(asked("/artifacts") > 1, "nothing was cut off");
}

#[test]
fn an_api_that_leads_elsewhere_is_not_followed() {
    let scene = Scene::of("regressed");
    let mut elsewhere = Failure::new("GET", "/pulls", 302, 1000);
    elsewhere.headers = vec![("location", format!("{}/elsewhere", scene.fake.url))];
    scene.fake.known().failures.push(elsewhere);
    let why = scene.refused();
    assert!(why.contains("status 302"), "{why}");
    assert!(
        scene
            .fake
            .requests()
            .iter()
            .all(|asked| !asked.path.contains("elsewhere"))
    );
    assert!(scene.fake.writes().is_empty());
}

#[test]
fn what_was_made_although_its_response_was_lost_is_not_made_twice() {
    for status in [502, 201] {
        // With and without notes: a check run that has some is never changed.
        for scene in [Scene::of("regressed"), at("servers/runtime/src/waste.rs", 12)] {
            for path in [COMMENTS, "/check-runs"] {
                scene.fake.known().failures.push(Failure::lost(path, status));
            }
            let ended = scene.comment();
            assert_eq!(ended.code, 0, "{}", ended.stderr);
            assert_eq!(
                (bodies(&scene).len(), scene.fake.known().checks.len()),
                (1, 1),
                "{status}"
            );
            assert!(scene.fake.known().failures.iter().all(|failure| failure.times == 0));
        }
    }
}

#[test]
fn what_fails_for_good_ends_after_a_few_tries() {
    let scene = Scene::of("regressed");
    scene
        .fake
        .known()
        .failures
        .push(Failure::new("GET", "/pulls", 500, 1000));
    let why = scene.refused();
    assert!(
        why.contains("status 500") && why.contains("run this again later"),
        "{why}"
    );
    assert_eq!(
        scene
            .fake
            .requests()
            .iter()
            .filter(|asked| asked.path == "/pulls")
            .count(),
        5
    );
    let scene = Scene::of("regressed");
    scene
        .fake
        .known()
        .failures
        .push(Failure::new("POST", COMMENTS, 500, 1000));
    assert_eq!(scene.comment().code, 1);
    assert_eq!(scene.fake.writes().len(), 3);
    let mut patient = Failure::new("GET", "/pulls", 403, 1000);
    patient.headers = vec![("retry-after", "3600".into())];
    let scene = Scene::of("regressed");
    scene.fake.known().failures.push(patient);
    assert!(scene.refused().contains("asks for a long pause"));
    assert_eq!(
        scene
            .fake
            .requests()
            .iter()
            .filter(|asked| asked.path == "/pulls")
            .count(),
        1
    );
}

#[test]
fn a_head_that_moves_while_the_artifact_is_read_gets_no_comment() {
    let scene = Scene::of("regressed");
    // The list still has the old head; the pull request itself, asked last, has a new one.
    let mut elsewhere = pull(PULL, OTHER, 1);
    elsewhere["head"]["ref"] = json!("other");
    scene.fake.known().pulls.insert(0, elsewhere);
    let ended = scene.comment();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("has moved on"), "{}", ended.stderr);
    assert!(scene.fake.writes().is_empty());
    assert!(scene.fake.requests().iter().any(|asked| asked.download));
}

/// The counted comparison, its worst function at a line of a file.
fn at(file: &str, line: u32) -> Scene {
    let mut value = comparison("counted-regressed");
    value["series"][0]["functions"][0]["source"] = json!({ "file": file, "line": line });
    let scene = Scene::with(&zipped(value.to_string().as_bytes()));
    let patch = "@@ -10,3 +10,5 @@ fn spin() {\n     let a = 1;\n+    let b = 2;\n+    let c = 3;\n     let d = 4;\n";
    let files: Vec<Value> = (0..120)
        .map(|number| json!({ "filename": format!("docs/{number}.md"), "status": "modified" }))
        .chain([json!({ "filename": "servers/runtime/src/waste.rs", "status": "modified", "patch": patch })])
        .collect();
    scene.fake.known().files.insert(PULL, files);
    scene
}

#[test]
fn a_function_that_costs_more_is_noted_on_its_line_of_the_diff() {
    let scene = at("servers/runtime/src/waste.rs", 12);
    let ended = scene.comment();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("lines noted: 1"), "{}", ended.stderr);
    {
        let known = scene.fake.known();
        let note = &known.checks[0]["output"]["annotations"][0];
        assert_eq!(
            (&note["path"], &note["start_line"], &note["end_line"]),
            (&json!("servers/runtime/src/waste.rs"), &json!(12), &json!(12))
        );
        let message = note["message"].as_str().unwrap();
        assert_eq!(
            message,
            "server_runtime::waste::spin: +165.1 instructions per request (+1.0 %) on count-weather@http@hey"
        );
    }
    // Notes are only ever added to a check run: the next result gets a new one.
    assert_eq!(scene.comment().code, 0);
    assert_eq!(scene.fake.known().checks.len(), 2);
}

#[test]
fn lines_that_the_diff_does_not_have_are_not_noted() {
    for (file, line) in [
        ("servers/runtime/src/waste.rs", 99),
        ("servers/runtime/src/other.rs", 12),
        ("../../etc/passwd", 12),
        ("docs/1.md", 1),
    ] {
        let scene = at(file, line);
        assert_eq!(scene.comment().code, 0);
        assert_eq!(
            scene.fake.known().checks[0]["output"]["annotations"],
            json!([]),
            "{file}:{line}"
        );
    }
}

#[test]
fn a_check_that_somebody_else_made_is_left() {
    let scene = Scene::of("unchanged");
    let job = json!({
        "id": 1, "name": "wirebench", "head_sha": HEAD, "external_id": "a job's", "app": { "slug": "github-actions" },
        "output": { "annotations_count": 0 }, "conclusion": "failure",
    });
    let foreign = json!({
        "id": 2, "name": "wirebench", "head_sha": HEAD, "external_id": MARKER.trim(), "app": { "slug": "other" },
        "output": { "annotations_count": 0 }, "conclusion": "failure",
    });
    scene.fake.known().checks = vec![job.clone(), foreign.clone()];
    assert_eq!(scene.comment().code, 0);
    let known = scene.fake.known();
    assert_eq!(
        (known.checks.len(), &known.checks[0], &known.checks[1]),
        (3, &job, &foreign)
    );
}
