//! Built-in drivers: this repository's own, compiled into the program, and used for every name that a project's
//! `drivers/` does not declare.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::driver::Driver;
use crate::read::{DeclareError, Place, toml_text};

include!(concat!(env!("OUT_DIR"), "/drivers.rs"));

/// The built-in drivers of a project that does not set `builtin_drivers`.
pub const USUAL: [&str; 4] = ["ghz", "h2load", "hey", "hyperfine"];

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
            let driver: Driver = toml_text(text, &file)?;
            driver.check(&Place::file(&file), name.to_owned(), all.join("lib"))
        };
        Some(read())
    };
    FILES.into_iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_comes_with_its_filter_and_without_its_samples() {
        for name in NAMES {
            for file in ["driver.toml", "normalise.jq"] {
                let path = format!("{name}/{file}");
                assert!(FILES.iter().any(|(known, _)| *known == path), "{path}");
            }
        }
        assert!(FILES.iter().any(|(path, _)| *path == "lib/read.jq"));
        assert!(
            FILES
                .iter()
                .all(|(path, _)| !path.contains("samples") && !path.ends_with("package.json"))
        );
        assert!(USUAL.iter().all(|name| NAMES.contains(name)));
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
