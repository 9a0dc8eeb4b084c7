//! Stored runs, shown again.

use std::fs;

use crate::bench::{Bench, ended, repository, run_folder, wirebench};

fn measured() -> Bench {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    let ended = bench.run(&["run", "--seed", "7"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    bench
}

#[test]
fn the_newest_run_is_shown_again_with_the_same_table() {
    let bench = measured();
    let record = bench.record();
    let shown = bench.run(&["report"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(
        shown.stdout.contains("py") && shown.stdout.contains("fake") && shown.stdout.contains("req/s"),
        "{}",
        shown.stdout
    );
    let report = fs::read_to_string(run_folder(&bench.path("results")).join("report.md")).unwrap();
    for needed in [
        "## ask",
        "repeat: `wirebench run",
        "--seed 7",
        record["id"].as_str().unwrap(),
        "How to read this",
    ] {
        assert!(report.contains(needed), "no {needed:?} in\n{report}");
    }
}

#[test]
fn a_report_page_needs_no_other_file_and_says_where_it_lies() {
    let bench = measured();
    let file = run_folder(&bench.path("results")).join("report.html");
    let page = fs::read_to_string(&file).unwrap();
    let id = bench.record()["id"].as_str().unwrap().to_owned();
    for needed in ["passed every check", "ask@py@fake", "--seed 7", &id] {
        assert!(page.contains(needed), "no {needed:?} in\n{page}");
    }
    for outside in ["<script", "<link", "<img", "src=\""] {
        assert!(!page.contains(outside), "{outside}");
    }
    fs::remove_file(&file).unwrap();
    let shown = bench.run(&["report", "--write"]);
    assert!(shown.stderr.contains("report.html"), "{}", shown.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), page, "shown again it is the same");
}

#[test]
fn a_cut_off_record_is_refused_by_name_and_left_as_it_was() {
    let bench = measured();
    let file = run_folder(&bench.path("results")).join("run.json");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let ended = bench.run(&["report"]);
    assert_eq!(ended.code, 1);
    assert!(
        ended.stderr.contains("run.json") && ended.stderr.contains("cut off"),
        "{}",
        ended.stderr
    );
    assert_eq!(fs::read(&file).unwrap(), &whole[..whole.len() / 2]);
}

#[test]
fn without_a_run_it_says_how_to_make_one() {
    let ended = Bench::new()
        .server("py", "ok", "")
        .driver("fake", "ok")
        .run(&["report"]);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("wirebench run --profile quick"),
        "{}",
        ended.stderr
    );
}

/// The committed report is the golden file: another text, or another number, is seen in review.
#[test]
fn the_reference_report_is_what_its_record_gives() {
    let reference = repository().join("results/reference");
    let folder = tempfile::tempdir().unwrap();
    fs::copy(reference.join("run.json"), folder.path().join("run.json")).unwrap();
    let args = ["report", "--write", &*folder.path().to_string_lossy()];
    let shown = ended(wirebench(&args).current_dir(repository()));
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let [written, committed] =
        [folder.path(), &reference].map(|place| fs::read_to_string(place.join("report.md")).unwrap());
    assert!(
        written == committed,
        "write it anew with: wirebench report --write results/reference\n{written}"
    );
}

/// Whoever only reads a committed run finds no changed file afterwards.
#[test]
fn printing_a_report_writes_nothing_and_names_the_files_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let golden = repository().join("wirebench/cli/tests/golden/comparison/regressed.json");
    fs::copy(
        repository().join("results/reference/run.json"),
        folder.path().join("run.json"),
    )
    .unwrap();
    fs::copy(golden, folder.path().join("comparison.json")).unwrap();
    let below = || {
        let mut names: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let report = |more: &[&str]| {
        let run = folder.path().to_string_lossy();
        let args = [&["report", &*run], more].concat();
        let shown = ended(wirebench(&args).current_dir(repository()));
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        shown
    };
    for more in [&[][..], &["--json"]] {
        let shown = report(more);
        assert!(!shown.stdout.is_empty(), "{more:?}");
        assert_eq!(below(), ["comparison.json", "run.json"], "{more:?}");
        for missing in ["report.md", "report.html", "comparison.md"] {
            assert!(!shown.stderr.contains(missing), "{more:?}: {}", shown.stderr);
        }
    }
    for shown in [report(&["--write"]), report(&[])] {
        for file in ["report.md", "report.html", "comparison.md"] {
            assert!(
                folder.path().join(file).is_file() && shown.stderr.contains(file),
                "{}",
                shown.stderr
            );
        }
    }
}

#[test]
fn raw_output_is_kept_when_asked_for() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok");
    bench.run(&["run", "--keep-raw"]);
    let kept = run_folder(&bench.path("results")).join("raw/0000-ask@py@fake/stdout");
    assert!(fs::metadata(kept).unwrap().len() > 0);
}
