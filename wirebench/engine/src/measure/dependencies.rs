//! The versions of the packages that were resolved for a side's interpreted programs: Python distributions and npm packages.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::measure::side::Side;

/// Folders of a project that hold a Python environment.
const PYTHON: [&str; 3] = [".wirebench/venv", ".venv", "venv"];

/// Name and version of every package found below a side's folder, sorted.
pub fn of(side: &Side) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for folder in PYTHON {
        python(&side.folder.join(folder), &mut found);
    }
    npm(&side.folder, &mut found);
    found
}

/// Packages installed by pip and uv: `site-packages/NAME-VERSION.dist-info`.
fn python(environment: &Path, found: &mut BTreeSet<(String, String)>) {
    let below = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    for version in below(&environment.join("lib")) {
        for entry in below(&version.path().join("site-packages")) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let package = name.strip_suffix(".dist-info").and_then(|name| name.split_once('-'));
            found.extend(package.map(|(name, version)| (name.to_owned(), version.to_owned())));
        }
    }
}

/// Packages installed by npm: `node_modules/.package-lock.json`.
fn npm(folder: &Path, found: &mut BTreeSet<(String, String)>) {
    let text = fs::read(folder.join("node_modules/.package-lock.json")).unwrap_or_default();
    let Ok(lock) = serde_json::from_slice::<Value>(&text) else {
        return;
    };
    for (place, package) in lock["packages"].as_object().into_iter().flatten() {
        if let Some(version) = package["version"].as_str() {
            let name = place.strip_prefix("node_modules/").unwrap_or(place);
            found.insert((name.to_owned(), version.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_versions_are_read_from_what_pip_and_npm_leave() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("venv/lib/python3.11/site-packages");
        fs::create_dir_all(site.join("fastapi-0.110.0.dist-info")).unwrap();
        fs::create_dir_all(site.join("fastapi")).unwrap();
        fs::create_dir_all(folder.path().join("node_modules")).unwrap();
        let lock = r#"{"packages":{"":{"name":"own"},"node_modules/fastify":{"version":"5.2.0"}}}"#;
        fs::write(folder.path().join("node_modules/.package-lock.json"), lock).unwrap();
        let mut found = BTreeSet::new();
        python(&folder.path().join("venv"), &mut found);
        npm(folder.path(), &mut found);
        let expected = [("fastapi", "0.110.0"), ("fastify", "5.2.0")];
        assert_eq!(
            found,
            expected.map(|(name, version)| (name.into(), version.into())).into()
        );
    }
}
