//! The drivers that come with the program: this repository's own, used for every name that a project's `drivers/` does not
//! declare.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::declare::driver::Driver;
use crate::declare::read::{DeclareError, Place, toml_text};

/// Their names.
pub const NAMES: [&str; 4] = ["ghz", "h2load", "hey", "hyperfine"];

macro_rules! embedded {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../../../drivers/", $path)))),*]
    };
}

/// What they consist of: path below the drivers' folder, and text.
pub const FILES: [(&str, &str); 9] = embedded![
    "ghz/driver.toml",
    "ghz/normalise.jq",
    "h2load/driver.toml",
    "h2load/normalise.jq",
    "hey/driver.toml",
    "hey/normalise.jq",
    "hyperfine/driver.toml",
    "hyperfine/normalise.jq",
    "lib/read.jq",
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

/// Those named, as drivers of the project in `root`; their files need not be there yet.
///
/// # Errors
/// Never while this repository's own drivers are well-formed, which a test sees to.
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
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../drivers");
        let mut folders: Vec<String> = std::fs::read_dir(here)
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().join("driver.toml").is_file())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        folders.sort();
        assert_eq!(folders, NAMES);
        for name in NAMES {
            for file in ["driver.toml", "normalise.jq"] {
                let path = format!("{name}/{file}");
                assert!(FILES.iter().any(|(known, _)| *known == path), "{path}");
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
