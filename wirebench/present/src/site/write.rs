//! Writes a site into its folder, and removes what an earlier build left there and this one did not make.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use include_dir::{Dir, include_dir};
use serde::Serialize;

use crate::PresentError;

/// Style sheets, scripts and pictures that are the same on every site.
static ASSETS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../site/assets");

/// The scripts that pages name; all others are parts of them.
pub(super) fn entries() -> impl Iterator<Item = &'static Path> {
    ASSETS
        .files()
        .map(include_dir::File::path)
        .filter(|file| is_own_script(file))
}

/// The text of a script of ours.
pub(super) fn source(file: &Path) -> Option<&'static str> {
    ASSETS.get_file(file)?.contents_utf8()
}

fn is_own_script(file: &Path) -> bool {
    !file.starts_with("vendor") && file.extension().is_some_and(|ending| ending == "js")
}

/// The file by which a folder is known as a site.
const MANIFEST: &str = "data/manifest.json";

/// The file that is there while a site is written: a build that was ended before its time leaves it, and the next one goes on.
const UNFINISHED: &str = ".unfinished";

/// Folders whose files all come from here.
const OWN: [&str; 7] = ["series", "run", "compare", "badges", "data", "assets", "previews"];

/// A site's folder while it is written.
#[derive(Debug)]
pub(super) struct Writer {
    out: PathBuf,
    written: HashSet<PathBuf>,
    /// Bytes written.
    pub(super) bytes: u64,
}

impl Writer {
    /// Opens a folder, which is made when missing.
    ///
    /// # Errors
    /// When it holds something else than a site, so that nothing of it is lost; when it cannot be made.
    pub(super) fn open(out: &Path) -> Result<Self, PresentError> {
        let unwritable = PresentError::unwritable(out);
        fs::create_dir_all(out).map_err(&unwritable)?;
        let empty = fs::read_dir(out).map_err(&unwritable)?.next().is_none();
        if !empty && !out.join(MANIFEST).is_file() && !out.join(UNFINISHED).is_file() {
            return Err(PresentError(format!(
                "{}: is not empty and holds no dashboard (no data/manifest.json); give a new or empty folder",
                out.display()
            )));
        }
        fs::write(out.join(UNFINISHED), "").map_err(&unwritable)?;
        let of_data = ["data/columns", "data/pushes", "data/runs", "data/comparisons"];
        for folder in OWN.into_iter().chain(of_data) {
            fs::create_dir_all(out.join(folder)).map_err(&unwritable)?;
        }
        Ok(Self {
            out: out.to_path_buf(),
            written: HashSet::new(),
            bytes: 0,
        })
    }

    /// Where a file of the site lies.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }

    /// Writes a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn text(&mut self, name: &str, content: &[u8]) -> Result<(), PresentError> {
        let file = self.out.join(name);
        fs::write(&file, content).map_err(PresentError::unwritable(&file))?;
        self.bytes += content.len() as u64;
        self.written.insert(file);
        Ok(())
    }

    /// Writes a value as JSON.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn json<T: Serialize>(&mut self, name: &str, value: &T) -> Result<(), PresentError> {
        self.data(name, serde_json::to_vec(value))
    }

    /// Writes what was written as JSON before.
    ///
    /// # Errors
    /// When it cannot be written, or could not be.
    pub(super) fn data(&mut self, name: &str, content: serde_json::Result<Vec<u8>>) -> Result<(), PresentError> {
        let content = content.map_err(|error| PresentError::unwritable(Path::new(name))(error.into()))?;
        self.text(name, &content)
    }

    /// Writes a page.
    ///
    /// # Errors
    /// When it could not be made, or cannot be written.
    pub(super) fn page(&mut self, name: &str, page: Result<String, askama::Error>) -> Result<(), PresentError> {
        let page = page.map_err(|error| PresentError(format!("{name}: cannot be made: {error}")))?;
        self.text(name, page.as_bytes())
    }

    /// Says that a file is there already and stays.
    pub(super) fn keep(&mut self, name: &str) {
        self.written.insert(self.out.join(name));
    }

    /// Writes everything that is the same on every site.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn assets(&mut self) -> Result<(), PresentError> {
        for file in entries() {
            self.text(&format!("assets/{}", file.display()), joined(file, &source).as_bytes())?;
        }
        let mut folders = vec![&ASSETS];
        while let Some(folder) = folders.pop() {
            let files = folder.files().filter(|file| !is_own_script(file.path()));
            for file in files {
                let place = self.out.join("assets").join(folder.path());
                fs::create_dir_all(&place).map_err(PresentError::unwritable(&place))?;
                self.text(&format!("assets/{}", file.path().display()), file.contents())?;
            }
            folders.extend(folder.dirs());
        }
        Ok(())
    }

    /// Removes the files of an earlier build that this one did not make, and says that the site is whole. Only folders that hold
    /// nothing else are looked at.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub(super) fn finish(&self) -> Result<(), PresentError> {
        let mut folders: Vec<PathBuf> = OWN.iter().map(|folder| self.out.join(folder)).collect();
        while let Some(folder) = folders.pop() {
            let unwritable = PresentError::unwritable(&folder);
            for entry in fs::read_dir(&folder).map_err(&unwritable)? {
                let entry = entry.map_err(&unwritable)?;
                if entry.file_type().map_err(&unwritable)?.is_dir() {
                    folders.push(entry.path());
                } else if !self.written.contains(&entry.path()) {
                    match fs::remove_file(entry.path()) {
                        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritable(error)),
                        _ => {}
                    }
                }
            }
        }
        let unfinished = self.out.join(UNFINISHED);
        fs::remove_file(&unfinished).map_err(PresentError::unwritable(&unfinished))
    }
}

// Scripts as they are delivered: a page's modules joined into one file, without imports, comments and indentation, because
// a page waits for each file, and for each byte.
//
// This holds for scripts that are written for it, which a test checks: an import is one line, a comment has lines of its
// own, no text reaches over a line's end, and no two modules give something at their top level the same name.

/// The script at `entry`, with all that it imports before it. `read` gives a file's content by its path.
pub(super) fn joined<'a>(entry: &Path, read: &dyn Fn(&Path) -> Option<&'a str>) -> String {
    let (mut done, mut text) = (Vec::new(), String::new());
    add(entry, read, &mut done, &mut text);
    text
}

fn add<'a>(file: &Path, read: &dyn Fn(&Path) -> Option<&'a str>, done: &mut Vec<PathBuf>, text: &mut String) {
    if done.iter().any(|other| other == file) {
        return;
    }
    done.push(file.to_path_buf());
    let source = read(file).unwrap_or_default();
    for imported in source.lines().filter_map(imported) {
        add(&beside(file, imported), read, done, text);
    }
    for line in source.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("//") || imported(line).is_some() {
            continue;
        }
        text.push_str(line.strip_prefix("export ").unwrap_or(line));
        text.push('\n');
    }
}

/// What an import line imports.
fn imported(line: &str) -> Option<&str> {
    let (_, from) = line.strip_prefix("import ")?.rsplit_once(" from '")?;
    from.strip_suffix("';")
}

/// A relative path from a file's folder, without dots.
fn beside(file: &Path, relative: &str) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
    Path::new(relative).components().fold(folder, |place, part| match part {
        Component::ParentDir => place.parent().map(Path::to_path_buf).unwrap_or_default(),
        Component::Normal(name) => place.join(name),
        _ => place,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::write::{entries, source};
    use std::collections::BTreeMap;

    #[test]
    fn modules_stand_once_and_before_who_imports_them() {
        let read = |file: &Path| match file.to_str()? {
            "a.js" => {
                Some("// The page.\nimport { b } from './lib/b.js';\nimport { c } from './lib/c.js';\n\n  b(c);\n")
            }
            "lib/b.js" => Some("import { c } from './c.js';\nexport const b = c;\n"),
            "lib/c.js" => Some("export function c() {\n  return 1; // one\n}\n"),
            _ => None,
        };
        let text = joined(Path::new("a.js"), &read);
        assert_eq!(text, "function c() {\nreturn 1; // one\n}\nconst b = c;\nb(c);\n");
    }

    #[test]
    fn every_script_is_written_so_that_it_can_be_joined() {
        for entry in entries() {
            let text = joined(entry, &source);
            let name = entry.display();
            assert!(!text.is_empty(), "{name}");
            let mut names: BTreeMap<&str, usize> = BTreeMap::new();
            for line in text.lines() {
                assert!(
                    !line.starts_with("import ") && !line.starts_with("export "),
                    "{name}: {line}"
                );
                assert!(!line.starts_with("/*") && !line.starts_with("* "), "{name}: {line}");
                assert!(
                    line.matches('`').count() % 2 == 0,
                    "{name}: text over several lines: {line}"
                );
            }
            let files = text_of_modules(entry);
            for line in files.iter().flat_map(|file| file.lines()) {
                let declared = line.strip_prefix("export ").unwrap_or(line);
                let declared = declared.strip_prefix("async ").unwrap_or(declared);
                let kinds = ["const ", "let ", "function ", "function* ", "class "];
                if let Some(rest) = kinds.iter().find_map(|kind| declared.strip_prefix(kind)) {
                    let end = rest
                        .find(|c: char| !c.is_alphanumeric() && c != '_')
                        .unwrap_or(rest.len());
                    if end > 0 {
                        *names.entry(&rest[..end]).or_default() += 1;
                    }
                }
            }
            let twice: Vec<&&str> = names
                .iter()
                .filter(|(_, count)| **count > 1)
                .map(|(name, _)| name)
                .collect();
            assert!(twice.is_empty(), "{name}: {twice:?} are names in several modules");
        }
    }

    /// Every module that an entry imports, itself included.
    fn text_of_modules(entry: &Path) -> Vec<&'static str> {
        let (mut done, mut text) = (Vec::new(), String::new());
        add(entry, &source, &mut done, &mut text);
        done.iter().filter_map(|file| source(file)).collect()
    }
}
