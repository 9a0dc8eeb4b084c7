//! The dashboard from the command line: what is in its files and pages, whatever the history holds.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::bench::{Ended, ended, repository, wirebench};
use crate::made::{Place, assert_fits, history};

/// Builds a site from a folder.
fn build(folder: &Path, args: &[&str]) -> Ended {
    let args = [&["site", "build"], args].concat();
    ended(wirebench(&args).current_dir(folder))
}

fn page(folder: &Path, name: &str) -> String {
    let file = folder.join("_site").join(name);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn data(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&page(folder, &format!("data/{name}"))).unwrap()
}

/// The numbers that a script makes of a row.
fn decoded(row: &Value) -> Vec<Option<f64>> {
    let scale = row["scale"].as_f64().unwrap();
    let mut sum = 0;
    let deltas = row["deltas"].as_array().unwrap().iter();
    let number = |delta: &Value| {
        sum += delta.as_i64()?;
        #[expect(clippy::cast_precision_loss, reason = "small integers")]
        Some(sum as f64 * scale)
    };
    deltas.map(number).collect()
}

fn imported() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dirty.data.js")
}

#[test]
fn a_history_becomes_pages_with_the_fact_and_data_with_every_value() {
    let place = Place::new();
    for made in history(24, 20) {
        place.append(&made);
    }
    let folder = place.path("");
    let done = build(&folder, &["h", "--repository", "octo/weather"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.stdout.trim(), "_site/index.html");
    let overview = page(&folder, "index.html");
    assert!(overview.contains("▼ worse") && overview.contains("+10."), "{overview}");

    let manifest = data(&folder, "manifest.json");
    assert_fits("site.v1.schema.json", &manifest);
    let head = manifest["columns"].as_array().unwrap();
    let cpu = head
        .iter()
        .find(|one| one["label"] == "server CPU per request")
        .unwrap();
    let column = data(&folder, &format!("columns/{}.json", cpu["column"].as_str().unwrap()));
    assert_fits("column.v1.schema.json", &column);
    assert_eq!((&column["places"], &column["basis"]), (&json!(24), &json!("ratio")));
    assert_eq!(column["steps"][0]["first_after"], 20);
    let ratios = decoded(&column["points"]["ratio"]);
    assert_eq!(ratios.len(), 24);
    assert!(
        (ratios[23].unwrap() / ratios[0].unwrap() - 1.1).abs() < 0.03,
        "{ratios:?}"
    );
    let pushes = data(&folder, "pushes/runs.0.json");
    assert_fits("pushes.v1.schema.json", &pushes);
    assert_eq!(pushes["commits"].as_array().unwrap().len(), 24);

    let series = page(&folder, &format!("series/{}.html", cpu["page"].as_str().unwrap()));
    let before = &history(24, 20)[19].commit()[..12];
    for needed in [
        "▼ worse: server CPU per request +",
        before,
        "https://github.com/octo/weather/compare/",
        "class=\"spark\"",
        "aria-label=\"▼ worse",
    ] {
        assert!(series.contains(needed), "no {needed} in {series}");
    }
    let feed = page(&folder, "changes.xml");
    assert!(
        feed.contains("<entry>") && feed.contains(" server CPU per request worse by "),
        "{feed}"
    );
    let run = pushes["runs"][23].as_str().unwrap();
    assert!(page(&folder, &format!("run/{run}.html")).contains(run));
    assert_eq!(data(&folder, &format!("runs/{run}.json"))["id"], run);
}

#[test]
fn pages_hold_no_script_and_no_style_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let demo = repository().join("site/tests/fixtures/made-up");
    let done = build(folder.path(), &[&demo.to_string_lossy()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut pages = Vec::new();
    pages_below(&folder.path().join("_site"), &mut pages);
    assert!(pages.len() > 20, "{pages:?}");
    for file in pages {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.display();
        assert!(text.contains("default-src 'self'"), "{name} has no policy");
        for (place, _) in text.match_indices("<script") {
            let tag = &text[place..text[place..].find("</script>").map(|end| place + end).unwrap()];
            assert!(tag.contains(" src=\"") && tag.ends_with('>'), "{name}: {tag}");
        }
        for never in [
            " style=",
            "<style",
            " onclick=",
            " onload=",
            "javascript:",
            "src=\"http",
            "//cdn",
        ] {
            assert!(!text.contains(never), "{name} holds {never}");
        }
    }
}

fn pages_below(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages_below(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "html") {
            into.push(path);
        }
    }
}

#[test]
fn a_history_of_github_action_benchmark_needs_one_command_and_its_broken_values_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let done = build(folder.path(), &["--from", &imported().to_string_lossy()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let manifest = data(folder.path(), "manifest.json");
    let columns = manifest["columns"].as_array().unwrap();
    let failures: usize = columns
        .iter()
        .map(|head| {
            data(
                folder.path(),
                &format!("columns/{}.json", head["column"].as_str().unwrap()),
            )
        })
        .map(|column| column["failures"].as_array().unwrap().len())
        .sum();
    assert!(failures >= 5, "{failures} values are marked as broken");
    let overview = page(folder.path(), "index.html");
    assert!(overview.contains("verdicts start at 5 values"), "{overview}");
}

#[test]
fn a_folder_with_something_else_in_it_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("_site");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("thesis.txt"), "years of work").unwrap();
    let done = build(folder.path(), &["--from", &imported().to_string_lossy()]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("holds no dashboard"), "{}", done.stderr);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    // And what a build left there goes when its series goes, while a stranger's file beside the pages stays.
    fs::remove_file(out.join("thesis.txt")).unwrap();
    assert_eq!(build(folder.path(), &["--from", &imported().to_string_lossy()]).code, 0);
    fs::write(out.join("CNAME"), "bench.example").unwrap();
    let before = fs::read_dir(out.join("series")).unwrap().count();
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_eq!(build(folder.path(), &["empty"]).code, 0);
    assert!(before > 0 && fs::read_dir(out.join("series")).unwrap().count() == 0);
    assert!(out.join("CNAME").is_file());
    assert!(page(folder.path(), "index.html").contains("No data yet"));
}

#[test]
fn runs_of_this_machine_are_shown_beside_no_history() {
    let place = Place::new();
    let runs = history(3, 20);
    for (number, made) in runs.iter().enumerate() {
        let folder = place.path(&format!("results/{number}-run"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("run.json"), made.record().to_string()).unwrap();
    }
    fs::create_dir_all(place.path("results/4-cut-off")).unwrap();
    fs::write(place.path("results/4-cut-off/run.json"), "{\"schema\":").unwrap();
    let folder = place.path("");
    let done = build(&folder, &["--runs", "results"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("4-cut-off"), "{}", done.stderr);
    assert_eq!(data(&folder, "pushes/runs.0.json")["provisional"], json!([0, 1, 2]));
    assert!(page(&folder, "index.html").contains("verdicts start at 5 values"));
}

#[test]
fn nothing_to_build_from_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let done = build(folder.path(), &[]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("--from data.js"), "{}", done.stderr);
    let served = ended(wirebench(&["site", "serve", "nowhere"]).current_dir(folder.path()));
    assert_eq!(served.code, 2);
    assert!(served.stderr.contains("site build"), "{}", served.stderr);
}

#[test]
fn every_series_has_a_badge_and_the_markdown_to_show_it() {
    let place = Place::new();
    for made in history(24, 20) {
        place.append(&made);
    }
    let folder = place.path("");
    let built = |args: &[&str]| {
        let done = build(&folder, &[&["h"], args].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let badge = |name: &str| serde_json::from_str::<Value>(&page(&folder, &format!("badges/{name}.json"))).unwrap();
        let series = page(&folder, "series/weather-fixed-count.http.h2load.html");
        (badge("weather-fixed-count.http.h2load"), badge("overall"), series)
    };
    let (badge, overall, series) = built(&["--repository", "Octo/weather"]);
    assert_eq!(badge["schemaVersion"], 1);
    assert_eq!(
        badge["label"],
        "weather-fixed-count@http@h2load: server CPU per request"
    );
    let message = badge["message"].as_str().unwrap();
    assert!(message.contains("µs, ▼ worse"), "{message}");
    assert_eq!((&badge["color"], &overall["color"]), (&json!("red"), &json!("red")));
    assert_eq!(overall["label"], "Octo/weather");
    assert!(overall["message"].as_str().unwrap().starts_with("1 of "), "{overall}");
    let markdown = "[![weather-fixed-count.http.h2load](https://img.shields.io/endpoint?url=https%3A%2F%2Focto.github.io%2F\
                    weather%2Fbadges%2Fweather-fixed-count.http.h2load.json)]\
                    (https://octo.github.io/weather/series/weather-fixed-count.http.h2load.html)";
    assert!(series.contains(markdown), "{series}");
    let (_, _, series) = built(&[]);
    assert!(
        series.contains("<code>badges/weather-fixed-count.http.h2load.json</code>")
            && !series.contains("img.shields.io")
    );
}

/// 40 runs of a repository's suite: one benchmark that goes on, and one that only the first ten have.
fn with_messages() -> String {
    let run = |number: u32| {
        let bench = |name: &str, value: u32| format!(r#"{{"name": "{name}", "value": {value}, "unit": "ns"}}"#);
        let gone = if number < 10 {
            format!(", {}", bench("gone", 50 + number % 2))
        } else {
            String::new()
        };
        format!(
            r#"{{"commit": {{"id": "{:040x}", "timestamp": "2023-11-{:02}T00:00:00Z", "message": "Cache <b> answers (#{number})\n\nmore", "author": {{"name": "Ada & Co", "email": "ada@example.invalid"}}}}, "date": {}, "benches": [{}{gone}]}}"#,
            0xabc_0000 + number,
            1 + number / 2,
            1_700_000_000_000u64 + u64::from(number),
            bench("kept", 100 + number % 3),
        )
    };
    let runs: Vec<String> = (0..40).map(run).collect();
    format!(
        "window.BENCHMARK_DATA = {{\"repoUrl\": \"https://github.com/octo/weather\", \"entries\": {{\"s\": [{}]}}}}",
        runs.join(",")
    )
}

#[test]
fn an_import_shows_its_owners_commits_and_says_when_a_series_ended() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.js"), with_messages()).unwrap();
    let done = build(folder.path(), &["--from", "data.js"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let manifest = data(folder.path(), "manifest.json");
    let head = |series: &str| {
        let heads = manifest["columns"].as_array().unwrap().iter();
        heads.clone().find(|head| head["series"] == series).unwrap().clone()
    };
    let series = page(
        folder.path(),
        &format!("series/{}.html", head("kept")["page"].as_str().unwrap()),
    );
    for needed in [
        "https://github.com/octo/weather/pull/39",
        "https://github.com/octo/weather/commit/",
        "Cache &#60;b&#62; answers (#39)",
        "Ada &#38; Co",
    ] {
        assert!(series.contains(needed), "no {needed} in {series}");
    }
    assert!(
        !series.contains("example.invalid") && !series.contains("<b>"),
        "{series}"
    );
    let overview = page(folder.path(), "index.html");
    assert!(overview.contains("its last value is of 2023-11-05 at"), "{overview}");
    let column = data(
        folder.path(),
        &format!("columns/{}.json", head("gone")["column"].as_str().unwrap()),
    );
    assert_eq!(column["places"], 10, "cropped to where it was measured");
}
