//! Built-in drivers: this repository's own, compiled into the program, and used for every name that a project's
//! `drivers/` does not declare.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::driver::Driver;
use crate::read::{DeclareError, Place, toml_text};

/// Their names.
pub const NAMES: [&str; 15] = [
    "ab",
    "ab-keepalive",
    "autocannon",
    "autocannon-pipelined",
    "criterion",
    "ghz",
    "ghz-async",
    "ghz-defaults",
    "h2load",
    "hey",
    "hyperfine",
    "k6",
    "messages",
    "oha",
    "wrk",
];

/// The built-in drivers of a project that does not set `builtin_drivers`.
pub const USUAL: [&str; 4] = ["ghz", "h2load", "hey", "hyperfine"];

macro_rules! embedded {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../../../drivers/", $path)))),*]
    };
}

/// Their files: path below the drivers' folder, and text.
pub const FILES: [(&str, &str); 39] = embedded![
    "ab/driver.toml",
    "ab/normalise.jq",
    "ab-keepalive/driver.toml",
    "ab-keepalive/normalise.jq",
    "autocannon/collect.cjs",
    "autocannon/driver.toml",
    "autocannon/normalise.jq",
    "autocannon-pipelined/driver.toml",
    "autocannon-pipelined/normalise.jq",
    "criterion/driver.toml",
    "criterion/normalise.jq",
    "criterion/sample.sh",
    "ghz/driver.toml",
    "ghz/normalise.jq",
    "ghz-async/driver.toml",
    "ghz-async/normalise.jq",
    "ghz-defaults/driver.toml",
    "ghz-defaults/normalise.jq",
    "h2load/driver.toml",
    "h2load/normalise.jq",
    "hey/driver.toml",
    "hey/normalise.jq",
    "hyperfine/driver.toml",
    "hyperfine/normalise.jq",
    "k6/driver.toml",
    "k6/normalise.jq",
    "k6/script.js",
    "messages/driver.toml",
    "messages/normalise.jq",
    "oha/driver.toml",
    "oha/normalise.jq",
    "wrk/driver.toml",
    "wrk/normalise.jq",
    "wrk/report.lua",
    "lib/ab.jq",
    "lib/autocannon.jq",
    "lib/ghz.jq",
    "lib/read.jq",
    "lib/rows.jq",
];

/// The folder below `.wirebench/` that takes their files, for jq to read: `drivers/<12 hex digits of their content>`.
#[must_use]
pub fn folder() -> PathBuf {
    let mut content = Sha256::new();
    for (path, text) in FILES {
        content.update(format!("{path}\n{}\n{text}", text.len()));
    }
    let digits: String = content
        .finalize()
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Path::new("drivers").join(digits)
}

/// The named drivers, for the project in `root`; their files need not be written yet.
///
/// # Errors
/// Never, as long as this repository's own drivers are well-formed, which a test checks.
pub(super) fn drivers(root: &Path, names: &[&str]) -> Result<Vec<Driver>, DeclareError> {
    let all = root.join(".wirebench").join(folder());
    let one = |(path, text): (&str, &str)| {
        let (name, _) = path
            .split_once('/')
            .filter(|(name, rest)| names.contains(name) && *rest == "driver.toml")?;
        let file = all.join(path);
        let read = || {
            Driver::check(
                toml_text(text, &file)?,
                &Place::file(&file),
                name.to_owned(),
                all.join("lib"),
            )
        };
        Some(read())
    };
    FILES.into_iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_driver_of_this_repository_comes_with_the_program() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drivers");
        let mut folders: Vec<String> = std::fs::read_dir(&here)
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().join("driver.toml").is_file())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        folders.sort();
        assert_eq!(folders, NAMES);
        assert!(USUAL.iter().all(|name| NAMES.contains(name)));
        // Files that a driver runs or reads are in its folder and embedded; files that only this repository uses are
        // not.
        let own = ["go.mod", "go.sum", "package.json", "package-lock.json"];
        for name in NAMES.into_iter().chain(["lib"]) {
            for entry in std::fs::read_dir(here.join(name)).unwrap().flatten() {
                let file = entry.file_name().to_string_lossy().into_owned();
                if entry.path().is_file() && !own.contains(&&*file) && file != "check-samples" {
                    let path = format!("{name}/{file}");
                    assert!(FILES.iter().any(|(known, _)| *known == path), "{path}");
                }
            }
        }
    }

    #[test]
    fn they_are_well_formed_and_lie_below_the_project() {
        let found = drivers(Path::new("/p"), &NAMES).unwrap();
        let names: Vec<&str> = found.iter().map(|driver| driver.name.as_str()).collect();
        assert_eq!(names, NAMES);
        assert!(
            found
                .iter()
                .all(|driver| driver.folder.starts_with("/p/.wirebench/drivers"))
        );
        assert!(
            found
                .iter()
                .all(|driver| driver.library == driver.folder.with_file_name("lib"))
        );
    }

    #[test]
    fn how_to_install_a_tool_holds_in_any_repository() {
        for driver in drivers(Path::new("/p"), &NAMES).unwrap() {
            let install = &driver.tool.install;
            assert!(!install.contains("scripts/"), "{}: {install}", driver.name);
            if let Some(version) = &driver.tool.version {
                assert!(install.contains(&format!("@{version}")), "{}: {install}", driver.name);
            }
        }
    }
}
