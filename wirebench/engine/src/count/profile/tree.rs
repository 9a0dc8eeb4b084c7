//! Decides which source files are the project's own: those below the repository's root, with paths relative to it.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// How deep below a root Go modules are looked for.
const MODULE_DEPTH: usize = 5;

/// The root folders of a repository and of its other checkouts; empty outside of a repository.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    roots: Vec<PathBuf>,
    /// The name of each of the repository's Go modules, with its folder below a root.
    modules: Vec<(String, PathBuf)>,
}

impl Tree {
    /// The files below a folder; empty without a folder.
    pub fn of(root: Option<&Path>) -> Self {
        Self {
            roots: root.map(Path::to_path_buf).into_iter().collect(),
            modules: Vec::new(),
        }
    }

    /// The same, and the files below another checkout of the repository: a kept program may have been built there.
    pub fn or(mut self, other: Option<&Path>) -> Self {
        self.roots.extend(other.map(Path::to_path_buf));
        self
    }

    /// The same, and the files below the place where the repository was when a program was built: Cargo does not build again
    /// what was moved, and its line tables name the old place. A compiler was given the relative path `file` in `folder`.
    pub(super) fn or_moved(mut self, (folder, file): (&Path, &Path)) -> Self {
        let is_known = self.roots.iter().any(|root| folder.starts_with(root));
        let inner = folder.ancestors().find_map(|old| {
            let workspace = folder.strip_prefix(old).ok()?;
            let is_there = |root: &PathBuf| root.join(workspace).join(file).is_file();
            self.roots.iter().any(is_there).then(|| old.to_path_buf())
        });
        self.roots.extend(inner.filter(|_| !is_known));
        self
    }

    /// The same, with files named by their Go module instead of their folder, as `-trimpath` has it: `shop.example/api/main.go`.
    pub(super) fn with_go_modules(mut self) -> Self {
        for root in &self.roots {
            add_modules(root, Path::new(""), MODULE_DEPTH, &mut self.modules);
        }
        // Of modules within one another, the inner one.
        self.modules.sort_by_key(|(name, _)| Reverse(name.len()));
        self
    }

    /// The place of a file that is named by its Go module, whose name may have a version.
    fn in_module(&self, path: &Path) -> Option<PathBuf> {
        let path = path.to_str()?;
        let mut inside = self.modules.iter().filter_map(|(name, folder)| {
            let rest = path.strip_prefix(name.as_str())?;
            let (version, file) = rest.split_once('/')?;
            (version.is_empty() || version.starts_with('@')).then(|| folder.join(file))
        });
        inside.next()
    }

    /// The path of a source file relative to the root, with `/`; `None` if it is elsewhere. A file that line tables
    /// name without its folder must exist.
    pub fn relative(&self, file: &str) -> Option<String> {
        let path = normalised(Path::new(file))?;
        let below = if path.is_absolute() {
            let mut inside = self.roots.iter().filter_map(|root| path.strip_prefix(root).ok());
            inside.next()?.to_path_buf()
        } else {
            let path = self.in_module(&path).unwrap_or(path);
            Some(path).filter(|path| self.roots.iter().any(|root| root.join(path).is_file()))?
        };
        let parts: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
        let parts = parts?;
        let name = parts.join("/");
        if is_generated(&parts) {
            return None;
        }
        (!name.is_empty() && !name.contains(char::is_control)).then_some(name)
    }
}

/// Adds the Go modules in a folder below the root and in its folders, down to a depth.
fn add_modules(root: &Path, folder: &Path, depth: usize, modules: &mut Vec<(String, PathBuf)>) {
    let text = std::fs::read_to_string(root.join(folder).join("go.mod")).unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("module "));
    let name = name.and_then(|rest| rest.split_whitespace().next());
    modules.extend(name.map(|name| (name.trim_matches('"').to_owned(), folder.to_path_buf())));
    let inner = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    for entry in inner.filter(|entry| depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let name = entry.file_name();
        if !name.to_string_lossy().starts_with('.') && name != "node_modules" {
            add_modules(root, &folder.join(name), depth - 1, modules);
        }
    }
}

/// True if the path is the output of a build script: `build/CRATE-HASH/out/`.
fn is_generated(parts: &[&str]) -> bool {
    parts.windows(3).any(|parts| parts[0] == "build" && parts[2] == "out")
}

/// A path without `.` and `..`; `None` if it leads out of its first folder.
fn normalised(path: &Path) -> Option<PathBuf> {
    let mut normalised = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !normalised.pop() {
                    return None;
                }
            }
            part => normalised.push(part),
        }
    }
    Some(normalised)
}

/// A [`Tree`] that looks every file up once.
#[derive(Debug, Default)]
pub(super) struct CachedTree {
    tree: Tree,
    files: HashMap<String, Option<Arc<str>>>,
    texts: HashMap<Arc<str>, Vec<String>>,
}

impl CachedTree {
    pub(super) fn of(tree: &Tree) -> Self {
        Self {
            tree: tree.clone(),
            files: HashMap::new(),
            texts: HashMap::new(),
        }
    }

    /// The Rust function around a line of the project, from the source: line tables say only that it is a closure. `file` is
    /// relative to the root.
    pub(super) fn function_around(&mut self, file: &Arc<str>, line: u32) -> Option<String> {
        let root = self.tree.roots.first()?;
        let text = self.texts.entry(file.clone()).or_insert_with(|| {
            let text = std::fs::read_to_string(root.join(&**file)).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        });
        around(text, usize::try_from(line).ok()?).map(str::to_owned)
    }

    pub(super) fn relative(&mut self, file: &str) -> Option<Arc<str>> {
        if let Some(known) = self.files.get(file) {
            return known.clone();
        }
        let found: Option<Arc<str>> = self.tree.relative(file).map(Into::into);
        self.files.insert(file.to_owned(), found.clone());
        found
    }
}

/// The name in the nearest line above, and further out than what lies between, that declares a function. `line` is
/// counted from 1.
fn around(text: &[String], line: usize) -> Option<&str> {
    let indent = |text: &str| text.len() - text.trim_start().len();
    let mut inside = usize::MAX;
    for text in text.get(..line)?.iter().rev().filter(|text| !text.trim().is_empty()) {
        if indent(text) >= inside {
            continue;
        }
        let bare = text.trim_start();
        // The last line of a body or of a signature over several lines has the same indentation as the first.
        let is_end = bare.starts_with([')', '{'])
            || bare.starts_with("where")
            || (inside == usize::MAX && bare.starts_with('}'));
        inside = indent(text) + usize::from(is_end);
        if let Some(name) = declared(bare) {
            return Some(name);
        }
    }
    None
}

/// `pub async fn handler<T>(` declares `handler`.
fn declared(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let words = ["pub", "async", "const", "unsafe", "extern", "default"];
    let is_word = |word: &str| words.iter().any(|known| word.starts_with(known)) || word.starts_with(['"', '(']);
    let name = after.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    (before
        .split_whitespace()
        .all(|word| is_word(word) || word.ends_with(')'))
        && !name.is_empty())
    .then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;

    #[test]
    fn only_files_below_the_root_are_the_projects() {
        let tree = Tree::of(Some(Path::new("/work/shop")));
        for (file, expected) in [
            ("/work/shop/src/price.rs", Some("src/price.rs")),
            ("/work/shop/./a/../src/price.rs", Some("src/price.rs")),
            ("/work/shopping/src/price.rs", None),
            ("/work/shop/../other/price.rs", None),
            ("/root/.cargo/registry/src/index/bytes-1.0.0/src/buf.rs", None),
            ("/rustc/59807/library/core/src/iter/range.rs", None),
            ("src/price.rs", None),
            ("../price.rs", None),
            ("/work/shop", None),
            ("/work/shop/a\nb.rs", None),
            ("/work/shop/target/release/build/api-0123/out/api.rs", None),
        ] {
            assert_eq!(tree.relative(file).as_deref(), expected, "{file}");
        }
        assert_eq!(Tree::default().relative("/work/shop/src/price.rs"), None);
    }

    #[test]
    fn a_program_that_was_built_before_the_repository_was_moved_keeps_its_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("bench/src")).unwrap();
        std::fs::write(folder.path().join("bench/src/main.rs"), "").unwrap();
        let tree = Tree::of(Some(folder.path()));
        let moved = |compiled_in: &str, file: &str| {
            let tree = tree.clone().or_moved((Path::new(compiled_in), Path::new(file)));
            tree.relative("/old/place/bench/src/price.rs")
        };
        let expected = Some("bench/src/price.rs".to_owned());
        assert_eq!(moved("/old/place/bench", "src/main.rs"), expected);
        assert_eq!(moved("/old/place", "bench/src/main.rs"), expected);
        assert_eq!(moved("/old/place/bench", "src/other.rs"), None);
        assert_eq!(moved("/other", "bench/src/main.rs"), None);
    }

    #[test]
    fn a_file_named_without_its_folder_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("price.c"), "").unwrap();
        let tree = Tree::of(Some(folder.path()));
        assert_eq!(tree.relative("price.c").as_deref(), Some("price.c"));
        assert_eq!(tree.relative("./price.c").as_deref(), Some("price.c"));
        assert_eq!(tree.relative("other.c"), None);
    }

    #[test]
    fn a_file_named_by_its_go_module_is_the_projects_if_the_module_is() {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("go.mod", "module shop.example/v2 // ours\n\ngo 1.24\n"),
            ("main.go", ""),
            ("api/go.mod", "// The API.\nmodule shop.example/v2/api\n"),
            ("api/http/server.go", ""),
            ("http/server.go", ""),
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = Tree::of(Some(folder.path())).with_go_modules();
        for (file, expected) in [
            ("./shop.example/v2/main.go", Some("main.go")),
            ("shop.example/v2/api/http/server.go", Some("api/http/server.go")),
            (
                "shop.example/v2/api@v0.0.0-00010101000000-000000000000/http/server.go",
                Some("api/http/server.go"),
            ),
            ("shop.example/v2/gone.go", None),
            ("shop.example/v23/main.go", None),
            ("net/http/server.go", None),
        ] {
            assert_eq!(tree.relative(file).as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn a_closure_lies_in_the_function_that_is_declared_around_it() {
        let text = "use a;\n\npub(crate) async fn one(\n    id: u8,\n) -> u8 {\n    let fun = |x| {\n        x + id\n    };\n\n    fun(1)\n}\nfn two() { (0..9).map(|x| x) }\nimpl A {\n    fn three(&self) {\n        fn inner() {\n            b();\n        }\n        self.go(|| {\n            // not a fn here\n            c();\n        });\n    }\n}\nstatic F: fn() = || ();\n";
        let text: Vec<String> = text.lines().map(str::to_owned).collect();
        for (line, expected) in [
            (7, Some("one")),
            (10, Some("one")),
            (11, Some("one")),
            (12, Some("two")),
            (16, Some("inner")),
            (20, Some("three")),
            (24, None),
            (1, None),
            (99, None),
        ] {
            assert_eq!(around(&text, line), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn nothing_leads_out_of_the_root(file in any::<String>(), crooked in "(/work/shop)?[./a]{0,20}") {
            let tree = Tree::of(Some(Path::new("/work/shop")));
            for file in [file, crooked] {
                let found = tree.relative(&file).unwrap_or_default();
                prop_assert!(!found.starts_with('/') && !found.split('/').any(|part| part == ".."), "{found}");
            }
        }
    }
}
