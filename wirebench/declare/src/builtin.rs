//! Built-in drivers and runtimes: this repository's own, compiled into the program, and used for every name that a project
//! does not declare.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::driver::Driver;
use crate::plan::digest::twelve_digits;
use crate::read::{DeclareError, Place, toml_text};
use crate::runtime::Runtime;

include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// The built-in drivers of a project that does not set `builtin_drivers`.
pub const USUAL: [&str; 4] = ["ghz", "h2load", "hey", "hyperfine"];

/// The folder below `.wirebench/` that takes their files, for jq and counted programs to read: `builtin/<12 hex digits of their
/// content>`.
pub fn folder() -> PathBuf {
    let mut content = Sha256::new();
    for (path, text) in FILES {
        content.update(format!("{path}\n{}\n{text}", text.len()));
    }
    Path::new("builtin").join(twelve_digits(&content.finalize()))
}

/// The same folder of the project in `root`.
pub fn place(root: &Path) -> PathBuf {
    root.join(".wirebench").join(folder())
}

/// The named drivers, for the project in `root`; their files need not be written yet.
///
/// # Errors
/// Never, as long as this repository's own drivers are well-formed, which a test checks.
pub(super) fn drivers(root: &Path, names: &[&str]) -> Result<Vec<Driver>, DeclareError> {
    let library = place(root).join("drivers/lib");
    declared(root, "drivers", "driver.toml")
        .filter(|(name, ..)| names.contains(name))
        .map(|(name, text, file)| {
            let driver: Driver = toml_text(text, &file)?;
            driver.check(&Place::file(&file), name.to_owned(), library.clone())
        })
        .collect()
}

/// The runtimes, for the project in `root`; their files need not be written yet.
///
/// # Errors
/// Never, as long as this repository's own counters are well-formed, which a test checks.
pub(super) fn runtimes(root: &Path) -> Result<Vec<Runtime>, DeclareError> {
    declared(root, "counters", "counter.toml")
        .map(|(name, text, file)| {
            let runtime: Runtime = toml_text(text, &file)?;
            runtime.check(&Place::file(&file), name.to_owned())
        })
        .collect()
}

/// The name, the text and the place of every declaration in a room.
fn declared<'a>(
    root: &Path,
    room: &'a str,
    file: &'a str,
) -> impl Iterator<Item = (&'static str, &'static str, PathBuf)> + use<'a> {
    let all = place(root);
    FILES.into_iter().filter_map(move |(path, text)| {
        let name = path.strip_prefix(room)?.strip_prefix('/')?.strip_suffix(file)?;
        Some((name.strip_suffix('/')?, text, all.join(path)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_comes_with_its_filter_and_without_its_samples() {
        for name in NAMES {
            for file in ["driver.toml", "normalise.jq"] {
                let path = format!("drivers/{name}/{file}");
                assert!(FILES.iter().any(|(known, _)| *known == path), "{path}");
            }
        }
        assert!(FILES.iter().any(|(path, _)| *path == "drivers/lib/read.jq"));
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
                .all(|driver| driver.folder.starts_with(place(Path::new("/p")).join("drivers")))
        );
        assert!(
            found
                .iter()
                .all(|driver| driver.library == driver.folder.with_file_name("lib"))
        );
    }

    #[test]
    fn each_runtime_comes_with_its_filter_and_what_it_injects() {
        let found = runtimes(Path::new("/p")).unwrap();
        let names: Vec<&str> = found.iter().map(|runtime| runtime.name.as_str()).collect();
        assert_eq!(names, ["go", "jvm", "node", "python"]);
        for file in [
            "jvm/prepare.sh",
            "jvm/Agent.java",
            "node/normalise.jq",
            "node/end.cjs",
            "python/normalise.jq",
            "python/sitecustomize.py",
        ] {
            let path = format!("counters/{file}");
            assert!(FILES.iter().any(|(known, _)| *known == path), "{path}");
        }
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
