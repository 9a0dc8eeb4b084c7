//! Every recorded sample of every driver through its own filter, with the real jq.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::bench::{repository, wirebench};

#[test]
fn every_sample_gives_what_it_should() {
    let mut checked = 0;
    for driver in fs::read_dir(repository().join("drivers")).unwrap().flatten() {
        let samples = driver.path().join("samples");
        if !samples.is_dir() {
            continue;
        }
        for case in fs::read_dir(&samples)
            .unwrap()
            .flatten()
            .filter(|case| case.path().is_dir())
        {
            check(&driver.file_name().to_string_lossy(), &driver.path(), &case.path());
            checked += 1;
        }
    }
    assert!(checked >= 12, "only {checked} samples were found");
}

fn check(driver: &str, folder: &Path, case: &Path) {
    let args = jq_args(driver, case);
    let output = Command::new("jq")
        .args(["--compact-output", "-L"])
        .arg(repository().join("drivers/lib"))
        .arg("--from-file")
        .arg(folder.join("normalise.jq"))
        .args(args)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    match fs::read_to_string(case.join("expected-error")) {
        Ok(words) => {
            assert!(!output.status.success(), "{}: was not refused", case.display());
            assert!(
                stderr.contains(words.trim()),
                "{}: expected {words:?} in {stderr:?}",
                case.display()
            );
        }
        Err(_) => {
            let expected: Value = serde_json::from_slice(&fs::read(case.join("expected.json")).unwrap()).unwrap();
            let found: Value =
                serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}: {stderr}", case.display()));
            assert_eq!(found, expected, "{}", case.display());
        }
    }
}

/// The driver's own normalise.args with the sample's files filled in.
fn jq_args(driver: &str, case: &Path) -> Vec<String> {
    let text = fs::read_to_string(repository().join("drivers").join(driver).join("driver.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let file = |name: &str| case.join(name).to_string_lossy().into_owned();
    let args = table["normalise"]["args"].as_array().unwrap();
    args.iter()
        .map(|arg| {
            arg.as_str()
                .unwrap()
                .replace("{stdout}", &file("stdout"))
                .replace("{raw}", &file("raw"))
        })
        .collect()
}

#[test]
fn the_normalise_command_reads_a_sample() {
    let sample = repository().join("drivers/hey/samples/good/stdout");
    let output = wirebench(&["normalise", "hey", "--stdout", &sample.to_string_lossy()])
        .current_dir(repository())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("answers") && text.contains("200:"),
        "{text}"
    );
}
