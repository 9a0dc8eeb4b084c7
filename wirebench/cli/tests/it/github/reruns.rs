//! `/bench` in a comment: who is answered, with which run, and what the next attempt reads of it.

use serde_json::{Value, json};

use crate::bench::Ended;
use crate::github::fake::{Failure, REPOSITORY, REPOSITORY_ID, comment, repository};
use crate::github::scene::{FORK, HEAD, OTHER, PULL, RUN, Scene, pull, run};

/// Somebody comments on the pull request; the comment's time is an hour after the run's.
fn commented(scene: &Scene, author: &str, body: &str) -> Ended {
    let comment = comment(77, author, "User", body);
    scene.event(&json!({
        "action": "created", "issue": { "number": PULL, "pull_request": { "url": "x" } }, "comment": comment,
        "repository": repository(REPOSITORY_ID, REPOSITORY),
    }));
    scene.run(&["github", "rerun"])
}

fn scene() -> Scene {
    let scene = Scene::of("regressed");
    scene.fake.known().permissions.insert("maintainer".into(), "write");
    scene
}

#[test]
fn a_writer_is_answered_with_the_run_of_the_head() {
    for permission in ["write", "maintain", "admin"] {
        let scene = scene();
        scene.fake.known().permissions.insert("maintainer".into(), permission);
        let ended = commented(&scene, "maintainer", "/bench weather-* 'x'\nthanks");
        assert_eq!(ended.code, 1, "quotes are no part of a glob");
        let ended = commented(&scene, "maintainer", "/bench weather-*\nthanks");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let known = scene.fake.known();
        assert_eq!(known.reruns, [RUN]);
        assert_eq!(known.reactions, [(77, "confused".into()), (77, "rocket".into())]);
    }
}

#[test]
fn strangers_and_other_comments_change_nothing() {
    for (author, body) in [
        ("stranger", "/bench"),
        ("stranger", "/bench $(curl evil.example)"),
        ("maintainer", "looks good, /bench later"),
        ("maintainer", "/benchmark"),
        ("maintainer", "> /bench"),
        ("maintainer", ""),
    ] {
        let scene = scene();
        let ended = commented(&scene, author, body);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains("nothing to do"), "{}", ended.stderr);
        assert!(scene.fake.writes().is_empty(), "{body}");
    }
}

#[test]
fn edited_comments_issues_bots_and_other_repositories_are_not_answered() {
    let scene = scene();
    let event = |pointer: &str, value: Value| {
        let mut event = json!({
            "action": "created", "issue": { "number": PULL, "pull_request": {} },
            "comment": comment(77, "maintainer", "User", "/bench"), "repository": repository(REPOSITORY_ID, REPOSITORY),
        });
        *event.pointer_mut(pointer).unwrap() = value;
        scene.event(&event);
        scene.run(&["github", "rerun"]).code
    };
    assert_eq!(event("/action", json!("edited")), 0);
    assert_eq!(event("/issue/pull_request", Value::Null), 0);
    assert_eq!(event("/comment/user/type", json!("Bot")), 0);
    assert_eq!(event("/comment/user/login", json!("../../user")), 0);
    assert_eq!(event("/comment/user", Value::Null), 0);
    assert_eq!(event("/repository/full_name", json!("evil/weather")), 1);
    assert!(scene.fake.writes().is_empty());
}

/// What the API says of runs and pull request, and why a writer is refused.
#[test]
fn a_writer_is_told_why_nothing_is_started() {
    let changed = |pointer: &str, value: Value| {
        let mut run = run();
        *run.pointer_mut(pointer).unwrap() = value;
        run
    };
    let mut closed = pull(PULL, HEAD, FORK);
    closed["state"] = json!("closed");
    let head = || pull(PULL, HEAD, FORK);
    let mut again = changed("/created_at", json!("2026-11-21T11:00:00Z"));
    again["id"] = json!(501);
    for (runs, pull, why) in [
        (vec![run()], closed, "is not open"),
        (vec![], head(), "has not measured its head"),
        (vec![run()], pull(PULL, OTHER, FORK), "has not measured its head"),
        (
            vec![changed("/path", json!(".github/workflows/evil.yml"))],
            head(),
            "has not measured its head",
        ),
        (
            vec![changed("/event", json!("push"))],
            head(),
            "has not measured its head",
        ),
        (
            vec![changed("/head_branch", json!("other"))],
            head(),
            "has not measured its head",
        ),
        (
            vec![changed("/head_repository/id", json!(1))],
            head(),
            "has not measured its head",
        ),
        (
            vec![changed("/created_at", json!("2026-11-21T10:00:00Z"))],
            head(),
            "pushed after the comment",
        ),
        // A commit that was there, left, and came back after the comment.
        (vec![run(), again], head(), "pushed after the comment"),
        (vec![changed("/status", json!("in_progress"))], head(), "has not ended"),
        (
            vec![changed("/conclusion", json!("action_required"))],
            head(),
            "waits for somebody to approve",
        ),
    ] {
        let scene = scene();
        (scene.fake.known().runs, scene.fake.known().pulls) = (runs, vec![pull]);
        let ended = commented(&scene, "maintainer", "/bench");
        assert_eq!(ended.code, 1);
        assert!(ended.stderr.contains(why), "{why}: {}", ended.stderr);
        let known = scene.fake.known();
        assert_eq!(
            (known.reruns.len(), &known.reactions[..]),
            (0, &[(77, "confused".to_owned())][..])
        );
    }
}

/// The comment is of 10:00:00; the run of the commit that is the head now is an hour older.
#[test]
fn a_head_that_was_set_back_after_the_comment_is_not_measured() {
    let commit = json!({ "event": "committed", "sha": HEAD });
    let event = |event: &str, at: &str| json!({ "event": event, "created_at": at, "commit_id": null });
    for (name, at, starts) in [
        ("head_ref_force_pushed", "2026-11-21T09:59:59Z", true),
        ("head_ref_force_pushed", "2026-11-21T10:00:00Z", false),
        ("head_ref_force_pushed", "2026-11-21T10:00:10Z", false),
        ("head_ref_restored", "2026-11-21T10:00:10Z", false),
        ("commented", "2026-11-21T10:00:10Z", true),
    ] {
        let scene = scene();
        let mut events = vec![commit.clone(); 150];
        events.push(event(name, at));
        scene.fake.known().timeline.insert(PULL, events);
        let ended = commented(&scene, "maintainer", "/bench");
        assert_eq!(ended.code, i32::from(!starts), "{name} {at}: {}", ended.stderr);
        let known = scene.fake.known();
        assert_eq!(known.reruns.len(), usize::from(starts), "{name} {at}");
        assert!(
            starts || ended.stderr.contains("was force-pushed after the comment"),
            "{}",
            ended.stderr
        );
    }
}

/// Somebody who may write lets the failed check of the head pass; of other comments, or without a failed check, nothing changes.
#[test]
fn a_failed_check_is_accepted_for_its_commit() {
    let scene = scene();
    assert_eq!(scene.comment().code, 0);
    let said = |key: &str| scene.fake.known().checks[0]["output"][key].as_str().unwrap().to_owned();
    let (title, summary) = (said("title"), said("summary"));
    assert_eq!(commented(&scene, "stranger", "/bench accept").code, 0);
    assert_eq!(scene.fake.known().checks[0]["conclusion"], "failure");

    let ended = commented(&scene, "maintainer", "/bench accept $(evil) dearer, but right");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(scene.fake.known().checks[0]["conclusion"], "success");
    assert_eq!(said("title"), format!("Accepted by maintainer: {title}"));
    assert!(
        said("summary").ends_with(&summary) && !said("summary").contains("evil"),
        "{}",
        said("summary")
    );
    assert_eq!(scene.fake.known().reactions, [(77, "+1".into())]);
    assert!(scene.fake.known().reruns.is_empty());

    let ended = commented(&scene, "maintainer", "/bench accept");
    assert!(
        ended.code == 1 && ended.stderr.contains("has not failed"),
        "{}",
        ended.stderr
    );

    // Measured again, the commit is judged anew.
    assert_eq!(scene.fake.known().checks.len(), 1);
    scene.completed();
    assert_eq!(scene.comment().code, 0);
    let newest = scene.fake.known().checks.last().unwrap().clone();
    assert_eq!(newest["conclusion"], "failure", "{newest}");
}

#[test]
fn nothing_is_accepted_at_a_head_that_was_not_judged() {
    let scene = scene();
    assert_eq!(scene.comment().code, 0);
    scene.fake.known().pulls = vec![pull(PULL, OTHER, FORK)];
    let ended = commented(&scene, "maintainer", "/bench accept");
    assert!(
        ended.code == 1 && ended.stderr.contains("has not measured its head"),
        "{}",
        ended.stderr
    );
    assert_eq!(scene.fake.known().checks[0]["conclusion"], "failure");
}

#[test]
fn the_newest_of_several_runs_is_started() {
    let scene = scene();
    let mut newer = run();
    (newer["id"], newer["created_at"]) = (json!(501), json!("2026-11-21T09:30:00Z"));
    scene.fake.known().runs = vec![newer, run()];
    assert_eq!(commented(&scene, "maintainer", "/bench").code, 0);
    assert_eq!(scene.fake.known().reruns, [501]);
}

#[test]
fn nasty_globs_are_refused_and_not_repeated() {
    for nasty in [
        "--help",
        "a;evil",
        "$(evil)",
        "`evil`",
        "../evil",
        "::evil",
        "evil\u{202e}",
        "a b c d e f g h i j k",
    ] {
        let scene = scene();
        let ended = commented(&scene, "maintainer", &format!("/bench {nasty}"));
        assert_eq!(ended.code, 1, "{nasty}");
        assert!(!ended.stderr.contains("evil"), "{}", ended.stderr);
        assert_eq!(scene.fake.known().reruns.len(), 0);
    }
}

#[test]
fn a_run_that_cannot_be_started_again_is_said_and_a_reaction_that_fails_does_no_harm() {
    let scene = scene();
    let mut failure = Failure::new("POST", "/rerun", 403, 9);
    failure.body = json!({ "message": "The workflow run cannot be retried" });
    scene.fake.known().failures.push(failure);
    let ended = commented(&scene, "maintainer", "/bench");
    assert_eq!(ended.code, 1);
    assert!(
        ended.stderr.contains("cannot be retried") && ended.stderr.contains("actions: write"),
        "{}",
        ended.stderr
    );
    scene.fake.known().failures = vec![Failure::new("POST", "/reactions", 403, 9)];
    let ended = commented(&scene, "maintainer", "/bench");
    assert_eq!(ended.code, 0);
    assert!(ended.stderr.contains("warning: no reaction"), "{}", ended.stderr);
}

#[test]
fn the_next_attempt_reads_the_newest_comment_of_somebody_of_the_project() {
    let scene = scene();
    scene.event(
        &json!({ "number": PULL, "action": "synchronize", "repository": repository(REPOSITORY_ID, REPOSITORY) }),
    );
    let asked = || {
        let ended = scene.run(&["github", "rerun", "--asked"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ended.stdout
    };
    assert_eq!(asked(), "");
    let said = |id: u64, association: &str, at: &str, body: &str| {
        let mut comment = comment(id, "somebody", "User", body);
        (comment["author_association"], comment["created_at"]) = (json!(association), json!(at));
        comment
    };
    let mut all: Vec<Value> = (0..120)
        .map(|id| said(id, "NONE", "2026-11-21T12:00:00Z", "/bench evil-*"))
        .collect();
    all.push(said(
        200,
        "MEMBER",
        "2026-11-21T09:00:00Z",
        "/bench count-* weather-{a,b}\n--evil",
    ));
    all.push(said(201, "OWNER", "2026-11-21T08:00:00Z", "/bench old"));
    all.push(said(202, "CONTRIBUTOR", "2026-11-21T11:00:00Z", "/bench evil"));
    all.push(said(203, "COLLABORATOR", "2026-11-21T10:00:00Z", "/bench $(evil)"));
    all.push(said(204, "COLLABORATOR", "2026-11-21T10:00:00Z", "no"));
    scene.fake.known().comments.insert(PULL, all.clone());
    assert_eq!(asked(), "count-*\nweather-{a,b}\n");
    all.push(said(205, "OWNER", "2026-11-21T10:20:00Z", "/bench accept"));
    scene.fake.known().comments.insert(PULL, all.clone());
    assert_eq!(
        asked(),
        "count-*\nweather-{a,b}\n",
        "an acceptance asks for no scenario"
    );
    all.push(said(206, "COLLABORATOR", "2026-11-21T10:30:00Z", "/bench"));
    scene.fake.known().comments.insert(PULL, all);
    assert_eq!(asked(), "", "everything is asked for");
    assert!(scene.fake.writes().is_empty());
}
