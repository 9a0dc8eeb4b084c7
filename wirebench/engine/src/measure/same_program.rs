//! Whether a server is the same program on both sides of a comparison, so that nothing needs to be measured.
//!
//! A native program is the same if every section that is loaded into memory is equal; debug information, symbol tables
//! and build ids are ignored. A script or an interpreted program is the same if all files of both sides are the same,
//! and so are the dependencies that were resolved for them; documents that no program reads are left out. Files that a native
//! program may read while it runs must be the same too.
//!
//! The versions of the packages that were resolved for a side's interpreted programs: Python distributions and npm packages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSection as _, SectionFlags};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::measure::same_files::{Files, documents_are_unread, is_document, is_of, same_files};
use crate::measure::side::Side;
use crate::measure::staging::is_native;
use wirebench_declare::server::Server;
use wirebench_declare::tier::Part;

/// Extensions of files that only compilers read: a native program does not read them while it runs.
const COMPILED: [&str; 14] = [
    "rs", "go", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "s", "S", "zig", "mod", "sum",
];
/// Names of such files.
const COMPILED_NAMES: [&str; 7] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "Makefile",
    "CMakeLists.txt",
    "server.toml",
    "wirebench.toml",
];
/// Sections that identify a build and are never executed or read as data.
const BUILD_IDS: [&str; 3] = [".note.gnu.build-id", ".note.go.buildid", ".go.buildinfo"];
/// The flag of sections that are loaded into memory.
const SHF_ALLOC: u64 = 2;

/// Compares the servers of two sides that have been built and not staged yet.
#[derive(Debug)]
pub struct Compared<'a> {
    sides: [&'a Side; 2],
    /// Whether every file that an interpreted program may read is the same.
    interpreted_files: bool,
    /// Whether every file that a native program may read is the same.
    native_files: bool,
    dependencies: bool,
}

impl<'a> Compared<'a> {
    /// Compares files and dependencies once, for all servers.
    pub fn new(sides: [&'a Side; 2], files: [&Files; 2]) -> Self {
        let [base, head] = sides;
        let one_folder = base.folder == head.folder;
        let is_read = |name: &Path| !is_document(name);
        let is_read_by_native = |name: &Path| !is_document(name) && !is_of(name, &COMPILED, &COMPILED_NAMES);
        Self {
            sides,
            interpreted_files: one_folder || (same_files(files, is_read) && documents_are_unread(files)),
            native_files: one_folder || same_files(files, is_read_by_native),
            dependencies: dependencies_of(base) == dependencies_of(head),
        }
    }

    /// Whether a server is the same program on both sides, started in the same way.
    pub fn is_same(&self, server: &str) -> bool {
        let [base, head] = self.sides;
        let (Some(before), Some(after)) = (base.servers.get(server), head.servers.get(server)) else {
            return false;
        };
        let is_declared_equally = launch_settings(before) == launch_settings(after);
        if !is_declared_equally || [base, head].iter().any(|side| side.broken.contains_key(server)) {
            return false;
        }
        let keys = |server: &Server| -> Vec<String> { server.parts().map(Part::key).collect() };
        keys(before) == keys(after) && keys(before).iter().all(|key| self.is_same_part(key))
    }

    /// Whether one process of a server is the same program on both sides.
    fn is_same_part(&self, key: &str) -> bool {
        let [base, head] = self.sides;
        let (Some(before), Some(after)) = (base.programs.get(key), head.programs.get(key)) else {
            return false;
        };
        if before.get(1..) != after.get(1..) {
            return false;
        }
        let [before, after] = [&before[0], &after[0]].map(Path::new);
        // One file on both sides is an interpreter, or another program whose code is elsewhere.
        let is_one = before
            .canonicalize()
            .is_ok_and(|file| after.canonicalize().is_ok_and(|other| file == other));
        if is_native(before) && is_native(after) && !is_one {
            return self.native_files && same_code_and_data(before, after);
        }
        // A program of the system, such as an interpreter, has the same name on both sides; a script lies in each side's folder.
        let inside = |side: &Side, program: &Path| {
            program
                .strip_prefix(&side.folder)
                .map_or(program.to_path_buf(), PathBuf::from)
        };
        inside(base, before) == inside(head, after) && self.interpreted_files && self.dependencies
    }
}

/// How a server is started, without where its programs come from and without its requests.
fn launch_settings(server: &Server) -> Value {
    let part = |part: &Part| {
        json!([
            part.tier,
            part.working_directory,
            part.args,
            part.env,
            part.host,
            part.port,
            part.keep
        ])
    };
    let parts: Vec<Value> = server.parts().map(part).collect();
    let ready = &server.front.ready;
    json!([
        server.name,
        server.protocols,
        server.ca,
        ready,
        server.before,
        server.seed,
        parts
    ])
}

/// True if two programs are equal files, or ELF files whose loaded sections are equal.
pub fn same_code_and_data(before: &Path, after: &Path) -> bool {
    let (Ok(before), Ok(after)) = (fs::read(before), fs::read(after)) else {
        return false;
    };
    before == after || loaded(&before).is_some_and(|digest| loaded(&after) == Some(digest))
}

/// A digest over name, address and contents of every section that is loaded into memory; `None` if the file is not ELF.
fn loaded(program: &[u8]) -> Option<Vec<u8>> {
    let file = object::File::parse(program).ok()?;
    let mut digest = Sha256::new();
    digest.update(file.entry().to_le_bytes());
    let mut found = false;
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
            return None;
        };
        let name = section.name().ok()?;
        if sh_flags.0 & SHF_ALLOC == 0 || BUILD_IDS.contains(&name) {
            continue;
        }
        found = true;
        for number in [name.len() as u64, section.address(), section.size(), sh_flags.0] {
            digest.update(number.to_le_bytes());
        }
        digest.update(name.as_bytes());
        digest.update(section.data().ok()?);
    }
    found.then(|| digest.finalize().to_vec())
}

/// Folders of a project that hold a Python environment.
const PYTHON: [&str; 3] = [".wirebench/venv", ".venv", "venv"];

/// Name and version of every package found below a side's folder, sorted.
pub fn dependencies_of(side: &Side) -> BTreeSet<(String, String)> {
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
    use std::process::Command;

    use super::*;

    /// Compiles a C program; `extra` are further arguments.
    fn compile(folder: &Path, name: &str, text: &str, extra: &[&str]) -> PathBuf {
        let source = folder.join(format!("{name}.c"));
        fs::write(&source, text).unwrap();
        let program = folder.join(name);
        let status = Command::new("cc")
            .args(extra)
            .arg("-o")
            .arg(&program)
            .arg(&source)
            .status();
        assert!(status.unwrap().success());
        program
    }

    #[test]
    fn debug_information_and_build_ids_do_not_make_another_program_but_code_and_data_do() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name, text, extra: &[&str]| compile(folder.path(), name, text, extra);
        let text = "int main(void) { return 7; }\n";
        let plain = make("plain", text, &["-Wl,--build-id=0x01"]);
        let debug = make("debug", text, &["-g", "-Wl,--build-id=0x02"]);
        let other = make("other", "int main(void) { return 8; }\n", &["-Wl,--build-id=0x01"]);
        let one = make(
            "one",
            "const char text[] = \"A\"; int main(void) { return text[0]; }\n",
            &[],
        );
        let two = make(
            "two",
            "const char text[] = \"B\"; int main(void) { return text[0]; }\n",
            &[],
        );
        assert_ne!(fs::read(&plain).unwrap(), fs::read(&debug).unwrap());
        assert!(same_code_and_data(&plain, &debug));
        assert!(!same_code_and_data(&plain, &other));
        assert!(!same_code_and_data(&one, &two));
        assert!(!same_code_and_data(&plain, &folder.path().join("absent")));
    }
}

#[cfg(test)]
mod dependencies_tests {
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
