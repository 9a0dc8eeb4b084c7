//! Whether two projects have the same files. What cannot be read is never the same.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use regex::bytes::Regex;

/// Folders of generated files, which a run of the project may have left.
const DERIVED: [&str; 5] = ["__pycache__", "node_modules", ".venv", "venv", "target"];
/// Extensions of files that only people read.
const DOCUMENTS: [&str; 3] = ["md", "adoc", "rst"];
/// Names of files that only people and git read.
const DOCUMENT_NAMES: [&str; 8] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "NOTICE",
    "AUTHORS",
    "CODEOWNERS",
    ".gitignore",
    ".gitattributes",
];
/// Files that packaging and workflows read, and no running program: they often name documents.
const PACKAGING: [&str; 8] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "MANIFEST.in",
    "package.json",
    "package-lock.json",
    "Dockerfile",
    ".dockerignore",
];
/// The folder of workflows.
const WORKFLOWS: &str = ".github";
/// The owner's right to execute, the only one that git keeps.
const EXECUTABLE: u32 = 0o100;

/// The files of a side's project.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// The folder that the names are relative to.
    pub root: PathBuf,
    /// Tracked files, and new ones that are not ignored; `None` if they are not known, such as outside of a repository.
    pub names: Option<BTreeSet<PathBuf>>,
}

/// Whether a file is in a folder of generated files.
pub fn is_derived(name: &Path) -> bool {
    name.iter().any(|part| DERIVED.iter().any(|derived| part == *derived))
}

/// Whether only people read a file, as far as its name tells.
pub(super) fn is_document(name: &Path) -> bool {
    is_of(name, &DOCUMENTS, &DOCUMENT_NAMES)
}

/// Whether a file has one of these extensions or names.
pub(super) fn is_of(name: &Path, extensions: &[&str], names: &[&str]) -> bool {
    let is_one = |wanted: &[&str], part: Option<&OsStr>| part.is_some_and(|part| wanted.iter().any(|one| part == *one));
    is_one(extensions, name.extension()) || is_one(names, name.file_name())
}

/// Whether two projects have the same relevant files with the same contents.
pub(super) fn same_files(files: [&Files; 2], relevant: fn(&Path) -> bool) -> bool {
    let [Some(before), Some(after)] = files.map(|files| files.names.as_ref()) else {
        return false;
    };
    let names =
        |all: &BTreeSet<PathBuf>| -> BTreeSet<PathBuf> { all.iter().filter(|name| relevant(name)).cloned().collect() };
    let (before, after) = (names(before), names(after));
    before == after && before.iter().all(|name| same_entry(files, name))
}

/// Whether no document that differs is read by a program: no other file of the candidate mentions its name, its extension
/// or a folder that it is in.
pub(super) fn documents_are_unread(files: [&Files; 2]) -> bool {
    let [Some(before), Some(after)] = files.map(|files| files.names.as_ref()) else {
        return false;
    };
    let documents: Vec<&PathBuf> = before
        .union(after)
        .filter(|name| is_document(name) && !same_entry(files, name))
        .collect();
    if documents.is_empty() {
        return true;
    }
    // Files that may be a part of the program.
    let may_read =
        |name: &&PathBuf| !is_document(name) && !is_of(name, &[], &PACKAGING) && !name.starts_with(WORKFLOWS);
    let mut sources = after.iter().filter(may_read);
    naming(&documents).is_some_and(|naming| {
        sources.all(|source| content(&files[1].root.join(source)).is_some_and(|text| !naming.is_match(&text)))
    })
}

/// What a file says: its content, or where a link leads. `None` if it cannot be read.
fn content(file: &Path) -> Option<Vec<u8>> {
    if fs::symlink_metadata(file).ok()?.is_symlink() {
        let target = fs::read_link(file).ok()?;
        return Some(target.as_os_str().as_bytes().to_vec());
    }
    fs::read(file).ok()
}

/// Matches a text that has the name of a document or of a folder of it as a word, or its extension as `.md` or `"md"`. `None` if a name
/// is not UTF-8.
fn naming(documents: &[&PathBuf]) -> Option<Regex> {
    let mut words = BTreeSet::new();
    for document in documents {
        for part in *document {
            words.insert(format!("(^|[^a-z0-9_]){}", regex::escape(part.to_str()?)));
        }
        if let Some(extension) = document.extension() {
            words.insert(format!("[.\"'`]{}", regex::escape(extension.to_str()?)));
        }
    }
    let words: Vec<String> = words.into_iter().collect();
    Regex::new(&format!("(?i-u)({})([^a-z0-9_]|$)", words.join("|"))).ok()
}

/// Whether a name is the same file, or the same link, in both projects.
fn same_entry(files: [&Files; 2], name: &Path) -> bool {
    let [before, after] = files.map(|files| files.root.join(name));
    let (Ok(its), Ok(others)) = (fs::symlink_metadata(&before), fs::symlink_metadata(&after)) else {
        return false;
    };
    if its.is_symlink() && others.is_symlink() {
        return same_link(files, [&before, &after]);
    }
    same_file([&before, &after], [&its, &others])
}

/// Whether two regular files have the same content, and may both be executed or not.
fn same_file([before, after]: [&Path; 2], [its, others]: [&Metadata; 2]) -> bool {
    let is_executable = |file: &Metadata| file.permissions().mode() & EXECUTABLE != 0;
    let read = |file: &Path| fs::read(file).ok();
    its.is_file()
        && others.is_file()
        && its.len() == others.len()
        && is_executable(its) == is_executable(others)
        && read(before).is_some_and(|content| read(after) == Some(content))
}

/// Whether two links have the same text and lead to the same: to one place, to one place of both projects, or to files with
/// the same content. A link that leads nowhere is unknown.
fn same_link(files: [&Files; 2], links: [&Path; 2]) -> bool {
    let [Ok(text), Ok(other)] = links.map(fs::read_link) else {
        return false;
    };
    let [Ok(before), Ok(after)] = links.map(fs::canonicalize) else {
        return false;
    };
    if text != other {
        return false;
    }
    if before == after {
        return true;
    }
    let (Ok(its), Ok(others)) = (fs::metadata(&before), fs::metadata(&after)) else {
        return false;
    };
    let inside = |side: usize, target: &Path| {
        let root = files[side].root.canonicalize().ok()?;
        target.strip_prefix(root).ok().map(Path::to_path_buf)
    };
    // The files of a folder of the project are compared by themselves.
    if its.is_dir() && others.is_dir() {
        return inside(0, &before).is_some_and(|place| inside(1, &after) == Some(place));
    }
    same_file([&before, &after], [&its, &others])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::symlink;
    use std::process::Command;
    use std::sync::OnceLock;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::git::with_submodules;

    /// Names of any bytes, at the top, in a folder, in a submodule and in a submodule of it.
    const NAMES: [&[u8]; 10] = [
        b"a",
        b" b",
        b"c ",
        b"d\n",
        b"e\xff",
        b"dir/f",
        b"dir/g\n\xfe ",
        b"sub/h",
        b"sub/ i\n",
        b"sub/deep/j\xff",
    ];
    /// Where links lead: to a file, a folder, a submodule, nowhere, out of the project, and to themselves.
    const TARGETS: [&str; 6] = ["a", "dir", "sub", "nowhere", "../outside", " b"];

    fn git(folder: &Path, args: &[&str]) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(identity).args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    /// Puts something at a name, in place of what is there: a file, an executable file, a link, a folder, or nothing.
    fn put(root: &Path, (name, kind, what): (usize, u8, u8)) {
        let path = root.join(OsStr::from_bytes(NAMES[name]));
        if path.parent().is_some_and(|parent| !parent.is_dir()) {
            return;
        }
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        match kind {
            0 | 1 => {
                fs::write(&path, [what]).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(if kind == 0 { 0o644 } else { 0o755 })).unwrap();
            }
            2 => symlink(TARGETS[usize::from(what) % TARGETS.len()], &path).unwrap(),
            3 => {
                fs::create_dir(&path).unwrap();
                fs::write(path.join("inside"), [what]).unwrap();
            }
            _ => {}
        }
    }

    /// A project in which every name is a committed file, with a submodule in a submodule.
    fn committed() -> &'static Path {
        static PROJECT: OnceLock<TempDir> = OnceLock::new();
        let made = PROJECT.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            fs::create_dir_all(root.join("dir")).unwrap();
            fs::create_dir_all(root.join("sub/deep")).unwrap();
            (0..NAMES.len()).for_each(|name| put(root, (name, 0, 0)));
            for folder in [root.join("sub/deep"), root.join("sub"), root.to_path_buf()] {
                git(&folder, &["init", "--quiet", "--template="]);
                git(&folder, &["add", "--all"]);
                git(&folder, &["commit", "--quiet", "--message", "one"]);
            }
            folder
        });
        made.path()
    }

    /// The committed project in which something was changed.
    fn project(parent: &Path, outside: u8, changes: &[(usize, u8, u8)]) -> PathBuf {
        let root = parent.join("project");
        // Files are linked: `put` replaces them, and a new file for each name takes most of the time.
        let copied = Command::new("cp").arg("-al").args([committed(), &root]).status();
        assert!(copied.unwrap().success());
        fs::write(parent.join("outside"), [outside]).unwrap();
        changes.iter().for_each(|one| put(&root, *one));
        root
    }

    fn listed(root: &Path) -> Files {
        Files {
            root: root.to_path_buf(),
            names: with_submodules(root, is_derived),
        }
    }

    /// Every file and link below a folder, byte by byte, without git's own.
    fn bytes(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, (String, Vec<u8>)>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && entry.file_name() != ".git" {
                bytes(root, &path, found);
            } else if kind.is_symlink() {
                let text = fs::read_link(&path).unwrap().into_os_string().as_bytes().to_vec();
                found.insert(path.strip_prefix(root).unwrap().into(), ("link".into(), text));
            } else if kind.is_file() {
                let mode = fs::metadata(&path).unwrap().permissions().mode() & EXECUTABLE;
                let content = fs::read(&path).unwrap();
                found.insert(path.strip_prefix(root).unwrap().into(), (format!("{mode:o}"), content));
            }
        }
    }

    fn entries(kinds: u8, most: usize) -> impl Strategy<Value = Vec<(usize, u8, u8)>> {
        prop::collection::vec((0..NAMES.len(), 0..kinds, 0u8..6), 0..=most)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn trees_are_called_the_same_only_if_every_byte_is(
            first in entries(4, 7), then in entries(5, 1), outside in 0u8..2,
        ) {
            let parents = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
            let roots = [
                project(parents[0].path(), 0, &first),
                project(parents[1].path(), outside, &[&first[..], &then].concat()),
            ];
            let files = roots.each_ref().map(|root| listed(root));
            let trees = roots.each_ref().map(|root| {
                let mut found = BTreeMap::new();
                bytes(root, root, &mut found);
                found
            });
            let same = same_files(files.each_ref(), |_| true);
            prop_assert!(!same || trees[0] == trees[1], "{:?}", trees);
            // Files alone that are equal are found to be.
            let is_plain = trees[0].values().all(|(kind, _)| kind != "link");
            prop_assert!(same || !is_plain || trees[0] != trees[1], "{:?} {:?}", files, trees);
        }
    }

    #[test]
    fn what_cannot_be_read_and_what_is_not_known_is_never_the_same() {
        let parents = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let roots = parents.each_ref().map(|parent| project(parent.path(), 0, &[]));
        let same = |roots: &[PathBuf; 2]| same_files(roots.each_ref().map(|root| listed(root)).each_ref(), |_| true);
        assert!(same(&roots));
        assert!(!same_files([&listed(&roots[0]), &Files::default()], |_| true));
        for root in &roots {
            put(root, (1, 2, 3));
        }
        assert!(!same(&roots), "a link that leads nowhere");
        for root in &roots {
            put(root, (1, 2, 4));
        }
        assert!(same(&roots), "a link to equal files outside");
        fs::write(parents[1].path().join("outside"), "other").unwrap();
        assert!(!same(&roots), "a link to different files outside");
    }

    #[test]
    fn a_tracked_file_is_compared_whatever_its_folder_is_called_and_a_generated_one_is_not() {
        let parents = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let roots = parents.each_ref().map(|parent| parent.path().to_path_buf());
        for root in &roots {
            fs::create_dir_all(root.join("app/target")).unwrap();
            fs::write(root.join("app/target/price.py"), "1").unwrap();
            git(root, &["init", "--quiet"]);
            git(root, &["add", "--all"]);
        }
        let same = || same_files(roots.each_ref().map(|root| listed(root)).each_ref(), |_| true);
        fs::write(roots[0].join("app/target/new.pyc"), "generated").unwrap();
        assert!(same());
        fs::write(roots[0].join("app/target/price.py"), "2").unwrap();
        assert!(!same());
    }

    #[test]
    fn a_document_matters_only_where_a_source_names_it_its_kind_or_its_folder() {
        let unread = |document: &str, source: &str| {
            let parents = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
            let files = parents.each_ref().map(|parent| {
                let put = |name: &str, text: &str| {
                    let path = parent.path().join(name);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text).unwrap();
                };
                put(document, &parent.path().display().to_string());
                put("app.py", source);
                put("pyproject.toml", "readme = \"README.md\"");
                let names = [document, "app.py", "pyproject.toml"].map(PathBuf::from);
                Files {
                    root: parent.path().to_path_buf(),
                    names: Some(names.into()),
                }
            });
            documents_are_unread(files.each_ref())
        };
        for (document, source) in [
            ("README.md", "md5(b'a.mdx'); amd = README_md"),
            ("docs/use.md", "url = 'docs2'"),
            ("LICENSE", "# Licensed under the terms of …"),
        ] {
            assert!(unread(document, source), "{document}: {source}");
        }
        for (document, source) in [
            ("README.md", "open('README.md')"),
            ("README.md", "glob('*.MD')"),
            ("README.md", "if kind == \"md\":"),
            ("docs/use.md", "StaticFiles(directory='docs')"),
            ("LICENSE", "open('LICENSE')"),
        ] {
            assert!(!unread(document, source), "{document}: {source}");
        }
    }
}
