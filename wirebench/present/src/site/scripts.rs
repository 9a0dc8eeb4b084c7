//! Scripts as they are delivered: a page's modules joined into one file, without imports, comments and indentation, because
//! a page waits for each file, and for each byte.
//!
//! This holds for scripts that are written for it, which a test checks: an import is one line, a comment has lines of its
//! own, no text reaches over a line's end, and no two modules give something at their top level the same name.

use std::path::{Component, Path, PathBuf};

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
    let mut place = file.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(relative).components() {
        match part {
            Component::ParentDir => {
                place.pop();
            }
            Component::Normal(name) => place.push(name),
            _ => {}
        }
    }
    place
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
