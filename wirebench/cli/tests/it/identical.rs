//! Programs that are the same on both sides, and start conditions that differ between equal programs: neither may ever be
//! called a change.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::{Bench, git_in, run_folder, series};
use crate::built;
use crate::variants::{of, rounds, two_revisions};

fn comparison(bench: &Bench) -> Value {
    let run = run_folder(&bench.path("results"));
    serde_json::from_slice(&fs::read(run.join("comparison.json")).unwrap()).unwrap()
}

#[test]
fn an_untouched_clone_beside_its_own_commit_is_the_same_program_and_nothing_is_measured() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok").commit("v1");
    let ended = bench.run(&["run", "--baseline", "HEAD", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("Same program on both sides"), "{}", ended.stdout);
    assert!(
        !ended.stdout.contains('–') && ended.stdout.contains("Nothing was measured"),
        "{}",
        ended.stdout
    );
    let record = bench.record();
    let asked = series(&record, "ask@py@fake");
    assert_eq!((&asked["same_program"], rounds(asked).len()), (&Value::Bool(true), 0));
    let comparison = comparison(&bench);
    assert_eq!(comparison["verdict"], "unchanged");
    assert_eq!(comparison["series"][0]["same_program"], true);
    let gate = bench.run(&["gate"]);
    assert_eq!(gate.code, 0);
    let commit = bench.git(&["rev-parse", "--short=12", "HEAD"]);
    let sides = format!("candidate {commit} against baseline HEAD ({commit})");
    assert!(gate.stdout.lines().next().unwrap().contains(&sides), "{}", gate.stdout);
}

#[test]
fn a_file_that_an_interpreted_server_may_read_makes_another_program_until_it_is_asked_for_all_the_same() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok").commit("v1");
    fs::write(bench.path("data.txt"), "other").unwrap();
    let ended = bench.run(&["run", "--baseline", "HEAD", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(!rounds(series(&bench.record(), "ask@py@fake")).is_empty());
    fs::remove_file(bench.path("data.txt")).unwrap();
    fs::remove_dir_all(bench.path("results")).unwrap();
    let ended = bench.run(&["run", "--baseline", "HEAD", "--rounds", "1", "--measure-identical"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    assert!(!rounds(series(&record, "ask@py@fake")).is_empty());
    assert!(record["repeat"].as_str().unwrap().contains("--measure-identical"));
}

/// Whether a run against the newest commit measures the server, as the files are now.
fn is_measured(bench: &Bench) -> bool {
    let _ = fs::remove_dir_all(bench.path("results"));
    let ended = bench.run(&["run", "--baseline", "HEAD", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    let asked = series(&record, "ask@py@fake");
    assert_eq!(
        asked["same_program"].as_bool().unwrap_or(false),
        rounds(asked).is_empty()
    );
    !rounds(asked).is_empty()
}

#[test]
#[ignore = "nightly"]
fn a_change_in_a_submodule_makes_another_program_and_one_of_a_document_does_not() {
    let bench = Bench::new()
        .server("py", "ok", "")
        .driver("fake", "ok")
        .file("README.md", "one")
        .file("lib/work.py", "one");
    let library = bench.path("lib");
    git_in(&library, &["init", "--quiet"]);
    git_in(&library, &["add", "--all"]);
    git_in(&library, &["commit", "--quiet", "--message", "one"]);
    let bench = bench.commit("v1");
    assert_eq!(bench.git(&["ls-files", "--stage", "lib"]).get(..6), Some("160000"));
    assert!(!is_measured(&bench));
    fs::write(bench.path("README.md"), "two").unwrap();
    assert!(!is_measured(&bench));
    fs::write(library.join("work.py"), "two").unwrap();
    assert!(is_measured(&bench));
    fs::write(library.join("work.py"), "one").unwrap();
    let bench = bench.file("page.py", "open('README.md')").commit("v2");
    fs::write(bench.path("README.md"), "three").unwrap();
    assert!(is_measured(&bench));
}

#[test]
fn the_baseline_takes_part_a_second_time_in_some_rounds_and_the_difference_is_reported() {
    let bench = two_revisions();
    let ended = bench.run(&[
        "run",
        "--baseline",
        "v1",
        "--rounds",
        "12",
        "--seed",
        "7",
        "--budget",
        "2m",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    let asked = series(&record, "ask@py@fake");
    let null = of(asked, "null").len();
    assert!(null > 0 && null < of(asked, "baseline").len(), "{null}");
    let found = comparison(&bench);
    let metrics = found["series"][0]["metrics"].as_array().unwrap();
    assert!(
        metrics.iter().any(|one| one["null_pairs"].as_u64().unwrap_or(0) > 0),
        "{metrics:#?}"
    );
}

/// A copy of the C server at a path of some length below a folder.
fn at_length(folder: &Path, longer: usize) -> PathBuf {
    let place = folder.join("x".repeat(longer)).join("server");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::copy(built::c_server(), &place).unwrap();
    place
}

#[test]
#[ignore = "nightly"]
fn one_program_at_two_lengths_of_its_path_is_started_from_equal_ones_and_counts_the_same() {
    let bench = Bench::new()
        .file(
            "wirebench.toml",
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\nrequests = [20, 220]\n",
        )
        .real_driver("hey")
        .c_server("c", "alloc=7", "");
    let folder = tempfile::tempdir().unwrap();
    let side = |longer| format!("c={} alloc=7", at_length(folder.path(), longer).display());
    let (short, long) = (side(1), side(45));
    let count = |more: &[&str]| {
        let _ = fs::remove_dir_all(bench.path("results"));
        let ended = bench.run(&[&["count", "--baseline", &short, "--candidate", &long], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        comparison(&bench)
    };
    assert_eq!(count(&[])["series"][0]["same_program"], true);
    let measured = count(&["--measure-identical"]);
    assert_eq!(measured["verdict"], "unchanged", "{measured:#}");
    let metrics = measured["series"][0]["metrics"].as_array().unwrap();
    let instructions = metrics.iter().find(|one| one["metric"] == "instructions").unwrap();
    for percent in ["effect_percent", "null_percent"] {
        let percent = instructions[percent].as_f64().unwrap();
        assert!(percent.abs() < 0.1, "{instructions:#}");
    }
    let record = bench.record();
    let counts = series(&record, "count-ask@c@hey")["counts"].as_array().unwrap();
    let layouts = |variant: &str| {
        let of = counts.iter().find(|one| one["variant"] == variant).unwrap();
        let figures = of["figures"].as_array().unwrap();
        let instructions = figures.iter().find(|one| one["metric"] == "instructions").unwrap();
        instructions["by_layout"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(["baseline", "candidate", "null"].map(layouts), [3, 3, 0]);
    assert!(
        !bench
            .path(".wirebench")
            .read_dir()
            .unwrap()
            .flatten()
            .any(|one| { one.file_name().to_string_lossy().starts_with("stage-") })
    );
}

/// Both sides install their requirements themselves; the baseline's must not be what the candidate's installation left.
#[test]
#[ignore = "nightly"]
fn each_side_of_a_python_comparison_has_packages_of_its_own() {
    let package = |version: &str| {
        format!(
            "[build-system]\nrequires = []\nbuild-backend = \"own\"\nbackend-path = [\".\"]\n[project]\nname = \"thing\"\nversion = \"{version}\"\n"
        )
    };
    // A build backend in one file, so that nothing is downloaded.
    let backend = "import re, zipfile, pathlib\ndef build_wheel(folder, config_settings=None, metadata_directory=None):\n    version = re.search(r'version = \"(.*)\"', pathlib.Path('pyproject.toml').read_text()).group(1)\n    name = f'thing-{version}-py3-none-any.whl'\n    info = f'thing-{version}.dist-info'\n    with zipfile.ZipFile(pathlib.Path(folder) / name, 'w') as wheel:\n        wheel.writestr('thing.py', f'VERSION = \"{version}\"\\n')\n        wheel.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\\nName: thing\\nVersion: {version}\\n')\n        wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: own\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n        wheel.writestr(f'{info}/RECORD', '')\n    return name\n";
    let build = "build = [\"python3\", \"-m\", \"pip\", \"install\", \"--quiet\", \"--no-index\", \"--no-build-isolation\", \"./thing\"]\n";
    let bench = Bench::new()
        .server("py", "ok", build)
        .driver("fake", "ok")
        .file("thing/own.py", backend)
        .file("thing/pyproject.toml", &package("1.0"))
        .commit("v1")
        .file("thing/pyproject.toml", &package("2.0"))
        .commit("v2");
    let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    let thing = record["dependencies"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "thing");
    let thing = thing.unwrap_or_else(|| panic!("{:#}", record["dependencies"]));
    assert_eq!(
        (&thing["baseline"], &thing["candidate"]),
        (&"1.0".into(), &"2.0".into())
    );
    let notes = &comparison(&bench)["notes"];
    let packages = notes
        .as_array()
        .unwrap()
        .iter()
        .find(|note| note["kind"] == "different_packages");
    assert!(
        packages.unwrap()["packages"].as_array().unwrap().contains(thing),
        "{notes:#}"
    );
}
