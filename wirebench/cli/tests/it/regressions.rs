//! Open regressions: one number, decided by the history, on every page, in the badge, the feed, the issue and the exit code.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Ended, ended, wirebench};
use crate::made::{Made, Place, history, plain, trace};

/// A folder with a data file of github-action-benchmark, and what is said of it.
struct Imported(TempDir);

impl Imported {
    fn of(content: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path("data.js"), content).unwrap();
        let done = place.run(&["history", "import", "data.js", "--to", "h"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Ended {
        ended(wirebench(args).current_dir(self.0.path()))
    }
}

/// A data file with one suite: of each series its unit and values in ns, by push; `commit` gives the commit of a push.
fn data_file(series: &[(&str, &str, &[f64])], commit: impl Fn(usize) -> usize) -> String {
    let pushes = series.iter().map(|(.., values)| values.len()).max().unwrap_or(0);
    let run = |push: usize| {
        let benches = series.iter().filter_map(|(name, unit, values)| {
            let value = values.get(push)?;
            Some(json!({"name": name, "value": value, "unit": unit}))
        });
        json!({
            "commit": {"id": format!("{:040x}", 0xabc_0000 + commit(push)), "timestamp": time(commit(push))},
            "date": 1_600_000_000_000_u64 + 3_600_000 * push as u64,
            "benches": benches.collect::<Vec<_>>(),
        })
    };
    json!({"entries": {"s": (0..pushes).map(run).collect::<Vec<_>>()}}).to_string()
}

fn time(hour: usize) -> String {
    format!(
        "2023-{:02}-{:02}T{:02}:00:00Z",
        1 + hour / 672,
        1 + hour / 24 % 28,
        hour % 24
    )
}

/// Values around levels, each for so many pushes.
fn levels(levels: &[(f64, u32)]) -> Vec<f64> {
    let around = |(level, pushes): (f64, u32)| -> Vec<f64> {
        (0..pushes)
            .map(|push| level * (1.0 + 0.002 * f64::from(push * 5 % 7)))
            .collect()
    };
    levels.iter().copied().flat_map(around).collect()
}

/// The number in front of "open regression" in a text; 0 without one.
fn count(text: &str) -> u64 {
    let found = Regex::new(r"(\d+) open regressions?").unwrap();
    found
        .captures_iter(text)
        .map(|found| found[1].parse::<u64>().unwrap())
        .sum()
}

/// The first element that begins with `start`, up to `end`.
fn part<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start} in {text}"));
    rest.split_once(end).unwrap().0
}

/// The number of open regressions of the history `h` in a folder, after every place that states it stated the same.
fn open(folder: &Path) -> u64 {
    let run = |args: &[&str]| ended(wirebench(args).current_dir(folder));
    let trend = run(&["history", "trend", "h", "--json", "--fail-on-alert"]);
    let found: Value = serde_json::from_str(&trend.stdout).unwrap();
    let open = found["open"].as_u64().unwrap();
    assert_eq!(trend.code, if open > 0 { 3 } else { 0 }, "{}", trend.stderr);
    assert_eq!(count(&run(&["history", "trend", "h"]).stdout), open);

    let issue = run(&["github", "alert", "h", "--dry-run"]).stdout;
    assert_eq!(count(issue.lines().next().unwrap()), open, "{issue}");
    assert_eq!(issue.contains("Nothing is worse any more"), open == 0, "{issue}");

    let built = run(&["site", "build", "h"]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    let page = |name: &str| fs::read_to_string(folder.join("_site").join(name)).unwrap();
    let overview = page("index.html");
    let leads = overview
        .split("<p class=\"lead\">")
        .skip(1)
        .map(|rest| rest.split("</p>").next().unwrap());
    assert_eq!(leads.map(count).sum::<u64>(), open, "{overview}");
    // The worst are shown first, up to eight.
    let cards = overview.matches("data-status=\"open\"").count() as u64;
    assert_eq!(cards, open.min(8), "{overview}");
    let badge: Value = serde_json::from_str(&page("badges/overall.json")).unwrap();
    assert_eq!(count(badge["message"].as_str().unwrap()), open, "{badge}");
    assert_eq!(badge["color"] == "red", open > 0, "{badge}");
    let changes = page("changes.html");
    assert_eq!(count(part(&changes, "<p class=\"lead\">", "</p>")), open, "{changes}");
    assert_eq!(
        changes.matches("data-status=\"open\"").count() as u64,
        open,
        "{changes}"
    );
    // Every change is counted once.
    let lead = part(&changes, "<p class=\"lead\">", "</p>");
    let numbers: Vec<u64> = Regex::new(r"\d+")
        .unwrap()
        .find_iter(lead)
        .map(|number| number.as_str().parse().unwrap())
        .collect();
    let all = changes.matches("<article class=\"cause").count() as u64;
    assert_eq!(numbers.first().copied().unwrap_or(0), all, "{lead}");
    assert_eq!(numbers.iter().skip(2).sum::<u64>(), all, "{lead}");
    // A series' page lists each of its open steps, and its headline says that the series is worse.
    let series = fs::read_dir(folder.join("_site/series")).unwrap().flatten();
    let series: Vec<String> = series.map(|file| fs::read_to_string(file.path()).unwrap()).collect();
    let steps_open = series
        .iter()
        .map(|page| page.matches("<td>open</td>").count())
        .sum::<usize>();
    let feed = page("changes.xml");
    assert_eq!(count(part(&feed, "<subtitle>", "</subtitle>")), open, "{feed}");
    assert_eq!(feed.matches("<category term=\"open\"/>").count() as u64, open, "{feed}");
    if found["alerts"] != 0 {
        assert_eq!(count(&page("health.html")), open);
    }
    // The series with an open step are those that are called worse.
    let traces = found["traces"].as_array().unwrap();
    let steps = |trace: &Value| {
        let segments = trace["segments"].as_array().unwrap().clone();
        segments
            .into_iter()
            .flat_map(|segment| segment["change_points"].as_array().unwrap().clone())
    };
    let worse = traces
        .iter()
        .filter(|trace| steps(trace).any(|step| step["open"] == true))
        .count();
    assert_eq!(
        overview.matches("<tr data-state=\"worse\"").count(),
        worse,
        "{overview}"
    );
    let stepped = traces
        .iter()
        .flat_map(steps)
        .filter(|step| step["open"] == true)
        .count();
    assert_eq!(steps_open, stepped, "series' pages");
    let said = |page: &&String| part(page, "<p class=\"lead ", "</p>").contains("▼ worse");
    let first_worse = series.iter().filter(said).count();
    assert!(
        first_worse <= worse && (first_worse > 0) == (worse > 0),
        "{first_worse} of {worse}"
    );
    open
}

#[test]
fn a_step_of_the_machine_is_counted_among_the_changes() {
    // Both sides of the step are runs of one commit.
    let values = levels(&[(100.0, 40), (150.0, 40)]);
    let commit = |push: usize| if (38..44).contains(&push) { 38 } else { push };
    let place = Imported::of(&data_file(&[("b", "ns", &values)], commit));
    assert_eq!(open(place.0.path()), 0);
    let changes = fs::read_to_string(place.path("_site/changes.html")).unwrap();
    let lead = part(&changes, "<p class=\"lead\">", "</p>");
    assert_eq!(lead, "1 change moved 1 metric: 0 open regressions, 1 of the machine.");
    assert!(
        changes.contains("≈ the machine") && !changes.contains("▼ worse</span> b"),
        "{changes}"
    );
}

#[test]
fn a_regression_counts_until_it_is_fixed_however_old_it_is() {
    let worse = [(100.0, 40), (560.0, 80)];
    let place = Imported::of(&data_file(&[("b", "ns", &levels(&worse))], |push| push));
    assert_eq!(open(place.0.path()), 1);
    let series = fs::read_dir(place.path("_site/series"))
        .unwrap()
        .flatten()
        .next()
        .unwrap()
        .path();
    let series = fs::read_to_string(series).unwrap();
    assert!(
        series.contains("▼ worse: × 5.6") && series.contains("<td>open</td>"),
        "{series}"
    );
    let only_new = place.run(&["history", "trend", "h", "--fail-on-alert", "--newest", "5"]);
    assert_eq!(only_new.code, 0, "an old regression is no new alert");

    let fixed = [worse.as_slice(), &[(100.0, 12)]].concat();
    let place = Imported::of(&data_file(&[("b", "ns", &levels(&fixed))], |push| push));
    assert_eq!(open(place.0.path()), 0);
}

#[test]
fn runs_of_one_commit_are_one_push_and_age_no_alert_out() {
    let place = Place::new();
    let runs = history(24, 20);
    for made in &runs {
        place.append(made);
    }
    for number in 24..32 {
        let mut record = runs[23].record();
        record["id"] = json!(plain(number).id());
        let name = place.record("made", &record);
        assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    }
    let (code, trend) = place.trend(&["--fail-on-alert", "--newest", "5"]);
    assert_eq!((code, &trend["recent_alerts"]), (3, &json!(1)));
    let issue = place.run(&["github", "alert", "h", "--dry-run"]).stdout;
    assert!(
        issue.starts_with("1 open regression on the default branch, 1 figure worse"),
        "{issue}"
    );
}

#[test]
fn a_break_closes_no_regression_and_an_acceptance_does() {
    let place = Place::new();
    let record = |number: u32| {
        let mut made = plain(number);
        made.cpu = (1.0 + 0.002 * f64::from(number * 5 % 7)) * if number >= 20 { 1.2 } else { 1.0 };
        let mut record = made.record();
        record["host"]["fingerprint"] = json!(if number < 40 { "one-machine" } else { "other-machine" });
        record
    };
    for number in 0..52 {
        let name = place.record("made", &record(number));
        assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    }
    assert_eq!(open(&place.path("")), 1);
    let issue = place.run(&["github", "alert", "h", "--dry-run"]).stdout;
    let command = part(&issue, "If it is meant:\n\n```sh\nwirebench ", "\n```");
    let expected = "accept --series 'weather-fixed-count@http@h2load' --metric server_cpu --at-most ";
    assert!(command.starts_with(expected), "{issue}");
    fs::write(place.path("wirebench.toml"), "").unwrap();
    let args: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
    assert_eq!(place.run(&args).code, 0);
    assert_eq!(open(&place.path("")), 0);
}

#[test]
fn the_series_that_got_worse_are_proposed_and_no_others() {
    let (steady, worse) = (levels(&[(100.0, 60)]), levels(&[(100.0, 40), (150.0, 20)]));
    let series = [
        ("quick", "ns", worse.as_slice()),
        ("slow", "ns", &worse),
        ("steady", "ns", &steady),
    ];
    let place = Imported::of(&data_file(&series, |push| push));
    assert_eq!(open(place.0.path()), 1);
    let issue = place.run(&["github", "alert", "h", "--dry-run"]).stdout;
    assert!(
        issue.contains("wirebench accept --series '{quick,slow}' --at-most 6"),
        "{issue}"
    );
    assert!(
        issue.contains("In `imported/data: s`") && !issue.contains("wirebench run --baseline"),
        "{issue}"
    );
}

#[test]
fn files_given_to_the_site_keep_their_steps_and_their_names() {
    let place = Place::new();
    place.append(&plain(1));
    let content = data_file(&[("b", "ns", &levels(&[(100.0, 40), (150.0, 20)]))], |push| push);
    for folder in ["one", "other"] {
        fs::create_dir(place.path(folder)).unwrap();
        fs::write(place.path(folder).join("data.js"), &content).unwrap();
    }
    let args = ["site", "build", "h", "--from", "one/data.js", "--from", "other/data.js"];
    let built = place.run(&args);
    assert_eq!(built.code, 0, "{}", built.stderr);
    let page = |name: &str| fs::read_to_string(place.path("_site").join(name)).unwrap();
    assert_eq!(count(part(&page("changes.html"), "<p class=\"lead\">", "</p>")), 2);
    assert_eq!(page("index.html").matches("data-status=\"open\"").count(), 2);
    let overview = page("index.html");
    assert!(
        overview.contains("one-data: s") && overview.contains("other-data: s"),
        "{overview}"
    );
}

#[test]
fn a_series_that_stopped_is_shown_as_stopped_with_its_last_value() {
    let (whole, gone) = (levels(&[(100.0, 60)]), levels(&[(50.0, 40)]));
    // The newest commit is measured five times: 20 pushes without the series, then 19.
    for (pushes, state) in [(64, "stopped"), (63, "noise")] {
        let whole = [whole.as_slice(), &[100.0; 4]].concat();
        let series = [("gone", "ns", gone.as_slice()), ("kept", "ns", &whole[..pushes])];
        let place = Imported::of(&data_file(&series, |push| push.min(pushes - 5)));
        assert_eq!(open(place.0.path()), 0);
        let overview = fs::read_to_string(place.path("_site/index.html")).unwrap();
        assert!(
            overview.contains(&format!("<tr data-state=\"{state}\" data-series=\"gone\"")),
            "{overview}"
        );
        let trend = place.run(&["history", "trend", "h"]).stdout;
        assert_eq!(
            trend.contains("stopped: last measured at"),
            state == "stopped",
            "{trend}"
        );
        if state == "stopped" {
            let day = &time(39)[..10];
            assert!(
                overview.contains(&format!("stopped: its last value is of {day} at")),
                "{overview}"
            );
            assert!(
                overview.contains("Nothing beyond noise") && overview.contains("1 metric compared"),
                "{overview}"
            );
            assert!(overview.contains("1 no longer measured"), "{overview}");
        }
    }
}

#[test]
fn a_run_without_a_series_is_no_failed_one() {
    let place = Place::new();
    for made in history(24, 30) {
        let mut record = made.record();
        if made.number >= 20 {
            record["series"] = json!([]);
        }
        let name = place.record("made", &record);
        assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    }
    let (_, trend) = place.trend(&[]);
    let cpu = trace(&trend, "server_cpu");
    assert_eq!((&cpu["left_out"], &cpu["stopped"]), (&json!(0), &json!(false)));
    assert_eq!(cpu["newest"]["at"]["commit"], history(24, 30)[19].commit());
}

#[test]
fn a_time_that_falls_to_nothing_is_a_failure_and_no_improvement() {
    for (unit, value, is_failure) in [("ns", 0.0, true), ("ms/op", 0.01, true), ("allocs/op", 0.0, false)] {
        let place = Imported::of(&data_file(
            &[("b", unit, &levels(&[(100.0, 40), (value, 12)]))],
            |push| push,
        ));
        assert_eq!(open(place.0.path()), 0);
        let overview = fs::read_to_string(place.path("_site/index.html")).unwrap();
        let state = if is_failure { "withheld" } else { "better" };
        assert!(
            overview.contains(&format!("<tr data-state=\"{state}\"")),
            "{unit}: {overview}"
        );
        assert_eq!(overview.contains("no measurement"), is_failure, "{unit}: {overview}");
    }
}

#[test]
fn a_server_that_crashes_from_its_first_run_on_is_on_the_overview() {
    let place = Place::new();
    let mut record = plain(1).record();
    let series = &mut record["series"][0];
    (series["status"], series["reason"]) = (json!("failed"), json!("the server ended with signal 11"));
    for round in series["rounds"].as_array_mut().unwrap() {
        (round["status"], round["reason"]) = (json!("failed"), json!("the server ended with signal 11"));
    }
    let name = place.record("made", &record);
    assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    assert_eq!(open(&place.path("")), 0);
    let overview = fs::read_to_string(place.path("_site/index.html")).unwrap();
    for needed in [
        "! no good value",
        "the server ended with signal 11",
        "weather-fixed-count <span class=\"chip of-http\">http</span>",
    ] {
        assert!(overview.contains(needed), "no {needed} in {overview}");
    }
    // A crash in a month without any good run is a failure of the series, not its end.
    let good = Made {
        number: 0,
        cpu: 1.0,
        reference: None,
    };
    let mut good = good.record();
    good["started_at"] = json!("2026-10-01T00:00:00Z");
    good["variants"][0]["committed_at"] = json!("2026-10-01T00:00:00Z");
    let name = place.record("made", &good);
    assert_eq!(place.run(&["history", "append", &name, "--to", "h"]).code, 0);
    open(&place.path(""));
    let overview = fs::read_to_string(place.path("_site/index.html")).unwrap();
    assert!(
        overview.contains("verdict withheld") && overview.contains("signal 11"),
        "{overview}"
    );
}

#[derive(Debug, Clone)]
struct RandomSeries {
    levels: Vec<(f64, u32)>,
    is_rate: bool,
}

fn random_series() -> impl Strategy<Value = RandomSeries> {
    let factor = prop_oneof![0.2..0.9f64, 1.1..6.0f64, Just(1.0)];
    let steps = prop::collection::vec((factor, 6..40u32), 1..6);
    (steps, any::<bool>()).prop_map(|(steps, is_rate)| {
        let mut level = 1000.0;
        let levels = steps.into_iter().map(|(factor, pushes)| {
            level *= factor;
            (level, pushes)
        });
        RandomSeries {
            levels: levels.collect(),
            is_rate,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    #[test]
    fn every_place_states_the_same_number(
        series in prop::collection::vec(random_series(), 1..6),
        again in 1..4usize,
    ) {
        let names: Vec<String> = (0..series.len()).map(|number| format!("series {number}")).collect();
        let values: Vec<Vec<f64>> = series.iter().map(|series| levels(&series.levels)).collect();
        let rows: Vec<(&str, &str, &[f64])> = (names.iter().zip(&series).zip(&values))
            .map(|((name, series), values)| (name.as_str(), if series.is_rate { "req/s" } else { "ns" }, values.as_slice()))
            .collect();
        // Each commit is measured up to three times.
        let place = Imported::of(&data_file(&rows, |push| push / again));
        open(place.0.path());
    }
}
