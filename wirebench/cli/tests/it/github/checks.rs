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
    assert!(margin.refused().contains("not possible"), "{}", margin.refused());
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
    assert!(bound.refused().contains("effect_percent"), "{}", bound.refused());
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
