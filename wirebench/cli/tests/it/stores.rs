//! Histories in object storage, through the command line and a real S3 server: gofakes3, which `scripts/setup.sh --dev` installs. Where
//! `WIREBENCH_MINIO` names a program of MinIO, that one; it checks signatures too.

use std::fs;
use std::process::Child;

use serde_json::{Value, json};

use crate::bench::{Ended, ended, fixture, free_port};
use crate::made::{Place, files, history, plain};
use crate::storage::{SECRET, Store};

const HISTORY: &str = "s3://benchmarks/my/project";

/// The trend of a history as JSON.
fn trend(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.stderr))
}

#[test]
fn a_published_history_gives_the_same_trend_from_runs_and_from_summaries() {
    let (store, place) = (Store::start(), Place::new());
    for made in history(16, 8) {
        place.append(&made);
    }
    let published = store.done(&place, &["history", "publish", "h", "--to", HISTORY]);
    assert_eq!(published.stdout.lines().count(), 16);
    assert!(
        published.stdout.starts_with(&format!("{HISTORY}/runs/2026/11/")),
        "{}",
        published.stdout
    );
    let wanted = place.trend(&[]).1;
    let of_runs = store.done(&place, &["history", "trend", HISTORY, "--json"]);
    assert_eq!(trend(&of_runs), wanted);
    let advice = format!("16 runs were read one by one; summarise them with: wirebench history index {HISTORY}");
    assert!(of_runs.stderr.contains(&advice), "{}", of_runs.stderr);

    assert_eq!(
        store.done(&place, &["history", "index", HISTORY]).stdout,
        "2026-11 16 runs\n"
    );
    let of_summary = store.done(&place, &["history", "trend", HISTORY, "--json"]);
    assert_eq!(trend(&of_summary), wanted);
    assert!(
        of_summary.stderr.contains("1 files read from"),
        "no run is read: {}",
        of_summary.stderr
    );
    assert_eq!(store.done(&place, &["history", "index", HISTORY]).stdout, "");
    let rebuilt = store.done(&place, &["history", "index", HISTORY, "--rebuild"]);
    assert_eq!(rebuilt.stdout, "2026-11 16 runs\n");

    let name = place.record("made", &history(17, 8)[16].record());
    let appended = store.done(&place, &["history", "append", &name, "--to", HISTORY]);
    assert!(
        appended.stdout.starts_with(HISTORY) && appended.stderr.contains("added"),
        "{}",
        appended.stderr
    );
    let grown = store.done(&place, &["history", "trend", HISTORY, "--json"]);
    assert_eq!(trend(&grown)["runs"], 17);
    assert!(
        grown.stderr.contains("2 files read from"),
        "one summary and one run: {}",
        grown.stderr
    );
    assert_eq!(
        store.done(&place, &["history", "index", HISTORY]).stdout,
        "2026-11 17 runs\n"
    );
}

#[test]
fn a_file_with_other_content_is_refused_before_anything_is_written() {
    let (store, place) = (Store::start(), Place::new());
    place.append(&plain(3));
    store.done(&place, &["history", "publish", "h", "--to", HISTORY]);
    let again = store.done(&place, &["history", "publish", "h", "--to", HISTORY]);
    assert_eq!(again.stdout, "");
    assert!(
        again.stderr.contains("0 added, 1 were there already"),
        "{}",
        again.stderr
    );

    let run = files(&place.path("h/runs/2026/11")).remove(0);
    let original = fs::read_to_string(place.path("h/runs/2026/11").join(&run)).unwrap();
    let mut edited = plain(3).record();
    edited["seed"] = json!(1);
    fs::write(place.path("h/runs/2026/11").join(&run), edited.to_string()).unwrap();
    place.append(&plain(1));
    place.append(&plain(5));
    let refused = store.run(&place, &["history", "publish", "h", "--to", HISTORY]);
    assert_eq!(refused.code, 1);
    let address = format!("{HISTORY}/runs/2026/11/{run}: is there with other content");
    assert!(refused.stderr.contains(&address), "{}", refused.stderr);
    assert_eq!(store.read(&format!("my/project/runs/2026/11/{run}")), original);
    let fetched = store.done(&place, &["history", "fetch", HISTORY, "--to", "copy"]);
    assert_eq!(files(&place.path("copy/runs/2026/11")), [run], "{}", fetched.stderr);
}

#[test]
fn sixteen_at_once_lose_nothing_beside_others_who_summarise() {
    const AT_ONCE: u32 = 16;
    let (store, place) = (Store::start(), Place::new());
    let begin = place.record("first", &plain(0).record());
    store.done(&place, &["history", "append", &begin, "--to", HISTORY]);
    let mut children = Vec::new();
    for number in 1..=AT_ONCE {
        let name = place.record(&format!("r{number}"), &plain(number).record());
        children.push(store.start_of(&place, &["history", "append", &name, "--to", HISTORY]));
        if number % 4 == 0 {
            children.push(store.start_of(&place, &["history", "index", HISTORY]));
        }
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    store.done(&place, &["history", "index", HISTORY]);
    let all = store.done(&place, &["history", "trend", HISTORY, "--json"]);
    assert_eq!(trend(&all)["runs"], 1 + AT_ONCE);
    let summary: Value = serde_json::from_str(&store.read("my/project/months/2026-11.json")).unwrap();
    assert_eq!(summary["runs"].as_array().unwrap().len(), 1 + AT_ONCE as usize);
}

/// Without `If-None-Match` the last of them would win: each looks which runs are there, writes many others, and this one last.
#[test]
fn of_different_runs_with_one_name_at_once_the_first_is_kept() {
    let (store, place) = (Store::start(), Place::new());
    let folder = |seed: u32| {
        let history = format!("h{seed}");
        for number in (0..60).map(|number| 10 + 100 * seed + number).chain([500]) {
            let mut run = plain(number).record();
            run["seed"] = json!(seed);
            let name = place.record("made", &run);
            let ended = place.run(&["history", "append", &name, "--to", &history]);
            assert_eq!(ended.code, 0, "{}", ended.stderr);
        }
        history
    };
    let folders: Vec<String> = (0..3).map(folder).collect();
    let start = |folder: &String| store.start_of(&place, &["history", "publish", folder, "--to", HISTORY]);
    let children: Vec<Child> = folders.iter().map(start).collect();
    let mut kept = Vec::new();
    for (seed, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => kept.push(seed),
            _ => assert!(stderr.contains("is there with other content"), "{stderr}"),
        }
    }
    assert_eq!(kept.len(), 1, "{kept:?}");
    let name = format!("{}-{}.json", &plain(500).commit()[..12], plain(500).id());
    let stored: Value = serde_json::from_str(&store.read(&format!("my/project/runs/2026/11/{name}"))).unwrap();
    assert_eq!(stored["seed"], kept[0]);
}

#[test]
fn a_history_comes_back_whole_and_other_objects_stay_where_they_are() {
    let (store, place) = (Store::start(), Place::new());
    for made in history(4, 2) {
        place.append(&made);
    }
    fs::write(place.path("h/history.json"), "{\"schema\":\"wirebench.history/v1\"}").unwrap();
    store.done(&place, &["history", "publish", "h", "--to", HISTORY]);
    store.write("my/project/README.md", "by hand").unwrap();
    store.write("my/project-2/history.json", "of another").unwrap();
    let fetched = store.done(&place, &["history", "fetch", HISTORY, "--to", "copy"]);
    assert!(
        fetched.stderr.contains("5 files copied, 0 were there already"),
        "{}",
        fetched.stderr
    );
    assert!(
        fetched.stderr.contains("1 objects are no files of a history"),
        "{}",
        fetched.stderr
    );
    assert_eq!(files(&place.path("copy")), ["history.json", "runs"]);
    for name in files(&place.path("h/runs/2026/11")) {
        let content = |folder: &str| fs::read(place.path(folder).join("runs/2026/11").join(&name)).unwrap();
        assert_eq!(content("copy"), content("h"));
    }
    let again = store.done(&place, &["history", "fetch", HISTORY, "--to", "copy"]);
    assert!(
        again.stderr.contains("0 files copied, 5 were there already"),
        "{}",
        again.stderr
    );

    // A file of the folder with other content is kept, and said.
    let name = files(&place.path("copy/runs/2026/11")).remove(0);
    fs::write(place.path("copy/runs/2026/11").join(&name), "mine").unwrap();
    let refused = store.run(&place, &["history", "fetch", HISTORY, "--to", "copy"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains(&name) && refused.stderr.contains("other content"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        fs::read_to_string(place.path("copy/runs/2026/11").join(&name)).unwrap(),
        "mine"
    );
}

#[test]
fn a_broken_object_is_named_by_its_address_and_costs_nothing_else() {
    let (store, place) = (Store::start(), Place::new());
    for made in history(4, 9) {
        place.append(&made);
    }
    store.done(&place, &["history", "publish", "h", "--to", HISTORY]);
    store
        .write("my/project/runs/2026/11/broken.json", "{\"schema\":")
        .unwrap();
    let address = format!("{HISTORY}/runs/2026/11/broken.json: is not a whole");
    for args in [&["history", "index", HISTORY][..], &["history", "trend", HISTORY]] {
        let ended = store.run(&place, args);
        assert_eq!(ended.code, 1, "{args:?}");
        assert!(ended.stderr.contains(&address), "{args:?}: {}", ended.stderr);
    }
    let ended = store.run(&place, &["history", "trend", HISTORY, "--json"]);
    assert_eq!(trend(&ended)["runs"], 4);
}

#[test]
fn the_dashboard_and_the_alert_are_made_of_object_storage_too() {
    let (store, place) = (Store::start(), Place::new());
    for made in history(16, 8) {
        place.append(&made);
    }
    store.done(&place, &["history", "publish", "h", "--to", HISTORY]);
    store.done(&place, &["history", "index", HISTORY]);
    let built = |history: &str, out: &str| {
        let args = [
            "site",
            "build",
            history,
            "--out",
            out,
            "--no-stills",
            "--run-pages",
            "3",
        ];
        store.done(&place, &args);
        files(&place.path(out).join("run"))
    };
    let pages = built(HISTORY, "of-store");
    assert_eq!(pages, built("h", "of-folder"));
    assert!(
        pages.iter().any(|page| page.contains(&history(16, 8)[15].id())),
        "{pages:?}"
    );
    let said = store.done(&place, &["github", "alert", HISTORY, "--dry-run"]);
    assert_eq!(
        said.stdout,
        store.done(&place, &["github", "alert", "h", "--dry-run"]).stdout
    );
    assert!(
        said.stdout.contains("weather-fixed-count@http@h2load"),
        "{}",
        said.stdout
    );
}

#[test]
fn another_program_s_history_is_imported_there() {
    let (store, place) = (Store::start(), Place::new());
    fs::copy(fixture("dirty.data.js"), place.path("data.js")).unwrap();
    store.done(
        &place,
        &["history", "import", "data.js", "--to", HISTORY, "--name", "old"],
    );
    assert!(
        store
            .read("my/project/imported/old.json")
            .contains("wirebench.imported/v1")
    );
    let again = store.done(
        &place,
        &["history", "import", "data.js", "--to", HISTORY, "--name", "old"],
    );
    assert!(again.stderr.contains("already there"), "{}", again.stderr);
}

#[test]
fn what_cannot_be_reached_is_said_with_address_and_remedy() {
    let (store, place) = (Store::start(), Place::new());
    place.append(&plain(1));
    let closed = format!("http://127.0.0.1:{}", free_port());
    let publish = |to: &str, set: &[(&str, &str)], unset: &[&str]| {
        let mut command = store.command(&place, &["history", "publish", "h", "--to", to]);
        command.envs(set.iter().copied());
        for name in unset {
            command.env_remove(name);
        }
        ended(&mut command)
    };
    let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    for (ended, code, parts) in [
        (
            publish("s3://B", &[], &[]),
            2,
            &["s3://B", "the bucket's name", "expected s3://BUCKET/PREFIX"][..],
        ),
        (publish("elsewhere", &[], &[]), 2, &["does not begin with s3://"]),
        (
            publish(HISTORY, &[], &keys),
            1,
            &[HISTORY, "no credentials: set AWS_ACCESS_KEY_ID"],
        ),
        (
            publish(HISTORY, &[], &keys[1..]),
            1,
            &["AWS_SECRET_ACCESS_KEY is not; set both"],
        ),
        (
            publish(HISTORY, &[], &["AWS_ALLOW_HTTP"]),
            1,
            &["is not encrypted", "AWS_ALLOW_HTTP=true"],
        ),
        (
            publish(HISTORY, &[("AWS_ENDPOINT_URL", &closed)], &[]),
            1,
            &[HISTORY, "cannot be listed", &closed],
        ),
        (
            publish("s3://no-such-bucket/a", &[], &[]),
            1,
            &["s3://no-such-bucket/a", "cannot be listed", "make the bucket"],
        ),
    ] {
        assert_eq!(ended.code, code, "{}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "no {part:?} in {}", ended.stderr);
        }
        assert!(
            !ended.stderr.contains(SECRET) && !ended.stderr.contains("panicked"),
            "{}",
            ended.stderr
        );
    }
    for args in [
        &["history", "trend", HISTORY][..],
        &["history", "fetch", HISTORY, "--to", "copy"],
    ] {
        let empty = store.run(&place, args);
        assert_eq!(empty.code, 1);
        assert!(
            empty.stderr.contains(&format!("{HISTORY}: holds no history")),
            "{}",
            empty.stderr
        );
        assert!(!place.path("copy").exists());
    }
    if std::env::var_os("WIREBENCH_MINIO").is_some() {
        let ended = publish(HISTORY, &[("AWS_SECRET_ACCESS_KEY", "another-secret")], &[]);
        assert_eq!(ended.code, 1);
        assert!(
            ended.stderr.contains("check the credentials in AWS_ACCESS_KEY_ID"),
            "{}",
            ended.stderr
        );
    }
}
