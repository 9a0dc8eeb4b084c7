//! The check run beside a commit: what it says where nothing was judged, and where several pull requests offer one commit.

use serde_json::{Value, json};

use crate::github::fake::{REPOSITORY, REPOSITORY_ID, repository};
use crate::github::scene::{ARTIFACT, FORK, HEAD, OTHER, PULL, RUN, Scene, comparison, listed, pull, run, zipped};

/// The comparison of that name, changed.
fn changed(golden: &str, change: impl Fn(&mut Value)) -> Scene {
    let mut value = comparison(golden);
    change(&mut value);
    Scene::with(&zipped(value.to_string().as_bytes()))
}

fn each_metric(value: &mut Value, change: impl Fn(&mut Value)) {
    let series = value["series"].as_array_mut().unwrap();
    let metrics = series.iter_mut().flat_map(|one| one["metrics"].as_array_mut().unwrap());
    metrics.for_each(change);
}

#[test]
fn nothing_judged_is_never_a_success() {
    let none = changed("unchanged", |value| value["series"] = json!([]));
    let one_sided = changed("added-removed", |value| {
        value["series"]
            .as_array_mut()
            .unwrap()
            .retain(|one| one["presence"] != "both");
        value["verdict"] = json!("unchanged");
    });
    let informative = changed("unchanged", |value| {
        each_metric(value, |metric| metric["primary"] = json!(false));
        for one in value["series"].as_array_mut().unwrap() {
            one["verdict"] = Value::Null;
        }
    });
    for scene in [none, one_sided, informative] {
        let text = scene.said();
        assert!(text.contains("Not judged"), "{text}");
        assert_eq!(scene.fake.known().checks[0]["conclusion"], "neutral");
    }
}

#[test]
fn a_claim_that_nothing_differs_is_no_success() {
    let forged = changed("regressed", |value| {
        for one in value["series"].as_array_mut().unwrap() {
            (one["same_program"], one["metrics"], one["verdict"]) = (json!(true), json!([]), json!("unchanged"));
        }
        value["verdict"] = json!("unchanged");
    });
    let text = forged.said();
    let known = forged.fake.known();
    let check = &known.checks[0];
    assert_eq!(check["conclusion"], "neutral");
    for shown in [text.as_str(), check["output"]["summary"].as_str().unwrap()] {
        assert!(
            shown.contains("own run says: same program on both sides. Nothing was measured"),
            "{shown}"
        );
    }
    assert!(text.contains("wirebench: – Not judged"), "{text}");
}

#[test]
fn margins_and_bounds_that_let_everything_pass_are_refused() {
    let margin = changed("unchanged", |value| {
        each_metric(value, |metric| metric["margin_percent"] = json!(1e11));
    });
    let said = margin.refused_by_the_check();
    assert!(said.contains("not possible"), "{said}");
    let bound = changed("unchanged", |value| {
        let metric = &mut value["series"][0]["metrics"][0];
        let ten_times = metric["baseline"].as_f64().unwrap() * 10.0;
        for (field, number) in [
            ("candidate", ten_times),
            ("effect_percent", 900.0),
            ("worse_at_most_percent", 0.1),
        ] {
            metric[field] = json!(number);
        }
    });
    let said = bound.refused_by_the_check();
    assert!(said.contains("effect_percent"), "{said}");
}

/// Pull request 8 is of another fork, at the same commit, and its own run says that nothing changed.
fn second_pull_request(scene: &Scene) {
    const SECOND: u64 = RUN + 1;
    let mut second = run();
    (second["id"], second["head_repository"]) = (json!(SECOND), repository(9002, "stranger/copy"));
    let zip = zipped(comparison("unchanged").to_string().as_bytes());
    let mut artifact = listed(zip.len());
    (artifact["id"], artifact["workflow_run"]["id"]) = (json!(ARTIFACT + 1), json!(SECOND));
    let mut known = scene.fake.known();
    known.pulls.push(pull(8, HEAD, 9002));
    known.runs.push(second.clone());
    known.artifacts.insert(SECOND, vec![artifact]);
    known.archives.insert(ARTIFACT + 1, zip);
    drop(known);
    scene.event(
        &json!({ "action": "completed", "workflow_run": second, "repository": repository(REPOSITORY_ID, REPOSITORY) }),
    );
}

#[test]
fn a_pull_request_at_the_same_commit_does_not_change_the_check_of_another() {
    let scene = Scene::of("regressed");
    assert_eq!(scene.comment().code, 0);
    let first = scene.fake.known().checks[0].clone();
    assert_eq!(first["conclusion"], "failure");
    second_pull_request(&scene);
    let ended = scene.comment();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let known = scene.fake.known();
    assert_eq!(known.checks[0], first, "pull request 7's own check is as it was");
    let second = &known.checks[1];
    assert_eq!(second["conclusion"], "neutral");
    assert_ne!(second["external_id"], first["external_id"]);
    assert_eq!(second["output"]["title"], "Pull request 8: = Unchanged");
    let summary = second["output"]["summary"].as_str().unwrap();
    assert!(
        summary.starts_with("This is of pull request 8.") && summary.contains("others (7)"),
        "{summary}"
    );
}

#[test]
fn a_check_is_neutral_while_another_open_pull_request_has_its_commit_and_tells_again_afterwards() {
    let scene = Scene::of("regressed");
    let conclusion = |scene: &Scene| {
        assert_eq!(scene.comment().code, 0);
        let known = scene.fake.known();
        assert_eq!(known.checks.len(), 1);
        known.checks[0]["conclusion"].clone()
    };
    let mut closed = pull(9, HEAD, 9003);
    closed["state"] = json!("closed");
    let others = vec![pull(PULL, HEAD, FORK), pull(10, OTHER, 9002), closed];
    scene.fake.known().pulls.clone_from(&others);
    assert_eq!(conclusion(&scene), "failure");
    scene.fake.known().pulls.push(pull(8, HEAD, 9002));
    assert_eq!(conclusion(&scene), "neutral");
    scene.fake.known().pulls = others;
    assert_eq!(conclusion(&scene), "failure");
}

#[test]
fn a_base_that_is_another_one_now_is_said_beside_the_one_that_was_measured() {
    let scene = Scene::of("regressed");
    scene.fake.known().pulls[0]["base"]["sha"] = json!(OTHER);
    let text = scene.said();
    assert!(text.contains("`3f9d2c71a0b8` → `b81e05d44c7f`"), "{text}");
    assert!(
        text.contains("Measured against 3f9d2c71a0b8; this pull request is offered to 0123456789ab now."),
        "{text}"
    );
}

#[test]
fn a_sentence_in_place_of_a_functions_name_is_not_said() {
    let sentence = "Your token has leaked. Visit evil.example to replace it";
    let scene = changed("counted-regressed", |value| {
        for one in value["series"].as_array_mut().unwrap() {
            for change in one["functions"].as_array_mut().into_iter().flatten() {
                change["function"] = json!(sentence);
                change["source"] = json!({ "file": "servers/runtime/src/waste.rs", "line": 12 });
            }
        }
    });
    let patch = "@@ -10,3 +10,5 @@\n a\n+b\n+c\n d\n";
    let file = json!({ "filename": "servers/runtime/src/waste.rs", "status": "modified", "patch": patch });
    scene.fake.known().files.insert(PULL, vec![file]);
    let text = scene.said();
    let check = scene.fake.known().checks[0].to_string();
    assert!(
        text.contains("a function of this file") && check.contains("a function of this file: +"),
        "{check}"
    );
    assert!(
        !text.contains("evil") && !text.contains("token has") && !check.contains("evil"),
        "{text}\n{check}"
    );
}

/// The check of a run that says otherwise in some places, left no artifact, and had these jobs; nobody is answered by a comment.
fn check_without_artifact(changes: &[(&str, Value)], jobs: Vec<Value>) -> (i32, Value) {
    let scene = Scene::of("regressed");
    let mut run = run();
    for (field, value) in changes {
        run[*field] = value.clone();
    }
    {
        let mut known = scene.fake.known();
        known.runs = vec![run.clone()];
        known.artifacts.clear();
        known.jobs.insert(RUN, jobs);
    }
    scene.event(
        &json!({ "action": "completed", "workflow_run": run, "repository": repository(REPOSITORY_ID, REPOSITORY) }),
    );
    let ended = scene.comment();
    let known = scene.fake.known();
    assert!(known.comments.is_empty(), "{:?}", known.comments);
    (ended.code, known.checks[0].clone())
}

#[test]
fn a_run_that_failed_says_in_the_check_which_job_and_step() {
    let job = |id: u64, name: &str, conclusion: &str| {
        json!({ "id": id, "name": name, "conclusion": conclusion, "steps": [
            { "number": 1, "conclusion": "success", "name": "x" }, { "number": 2, "conclusion": conclusion, "name": "@everyone" },
        ] })
    };
    let jobs = vec![
        job(1, "measure 1/2", "failure"),
        job(2, "measure 2/2", "success"),
        job(3, "@everyone see this", "failure"),
    ];
    let (code, check) = check_without_artifact(&[("conclusion", json!("failure"))], jobs);
    assert_eq!(
        (code, &check["conclusion"], &check["output"]["title"]),
        (1, &json!("failure"), &json!("✗ Not measured"))
    );
    let page = "https://github.com/octo/weather/actions/runs/500";
    assert_eq!(
        check["output"]["summary"],
        format!(
            "`run 500 (failure): expected one artifact bench-result of its newest attempt, found 0; see the run's own log`\n\n\
             Jobs that failed:\n\n- [measure 1/2]({page}/job/1), in step 2\n- [another job]({page}/job/3), in step 2\n\nSee [the run]({page}).\n"
        )
    );
}

#[test]
fn a_run_that_had_nothing_to_measure_is_answered_and_passes_nothing() {
    for (changes, title) in [
        (vec![], "– Not measured: nothing to compare"),
        (
            vec![("conclusion", json!("skipped"))],
            "– Not measured: nothing to compare",
        ),
        (
            vec![("conclusion", json!("action_required"))],
            "– Not measured yet: the run waits for approval",
        ),
    ] {
        let (code, check) = check_without_artifact(&changes, vec![]);
        assert_eq!(
            (code, &check["conclusion"], &check["output"]["title"]),
            (0, &json!("neutral"), &json!(title))
        );
    }
}

#[test]
fn a_merge_group_is_answered_at_its_own_commit() {
    let group = |owner: Value, branch: String| {
        [
            ("event", json!("merge_group")),
            ("head_sha", json!(OTHER)),
            ("head_branch", json!(branch)),
            ("head_repository", owner),
        ]
    };
    let ours = || repository(REPOSITORY_ID, REPOSITORY);
    let (code, check) = check_without_artifact(&group(ours(), format!("gh-readonly-queue/main/pr-7-{HEAD}")), vec![]);
    assert_eq!(
        (code, &check["conclusion"], &check["head_sha"]),
        (0, &json!("neutral"), &json!(OTHER))
    );
    let summary = check["output"]["summary"].as_str().unwrap();
    assert!(
        summary.starts_with("Pull request 7 was measured at its own head"),
        "{summary}"
    );
    for (owner, branch) in [
        (ours(), "main".to_owned()),
        (repository(FORK, "a/b"), format!("gh-readonly-queue/main/pr-7-{HEAD}")),
    ] {
        let scene = Scene::of("regressed");
        let mut run = run();
        for (field, value) in group(owner, branch) {
            run[field] = value;
        }
        scene.event(&json!({ "action": "completed", "workflow_run": run, "repository": ours() }));
        assert!(scene.refused().contains("none of a merge queue"));
    }
}
