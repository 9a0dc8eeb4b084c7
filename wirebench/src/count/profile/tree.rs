//! Which source files are the project's own: those below a repository's root, named from there.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A repository's root folder, or none.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    root: Option<PathBuf>,
}

impl Tree {
    /// The files below a folder; none without one.
    #[must_use]
    pub fn of(root: Option<&Path>) -> Self {
        Self {
            root: root.map(Path::to_path_buf),
        }
    }

    /// A source file as the root's folder names it, with `/`; none when it lies elsewhere. A file that line tables name
    /// without its folder must be there.
    #[must_use]
    pub fn relative(&self, file: &str) -> Option<String> {
        let root = self.root.as_deref()?;
        let path = straight(Path::new(file))?;
        let below = if path.is_absolute() {
            path.strip_prefix(root).ok()?.to_path_buf()
        } else {
            Some(path).filter(|path| root.join(path).is_file())?
        };
        let parts: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
        let name = parts?.join("/");
        (!name.is_empty() && !name.contains(char::is_control)).then_some(name)
    }
}

/// A path without `.` and `..`; none when it leads out of where it begins.
fn straight(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !found.pop() {
                    return None;
                }
            }
            part => found.push(part),
        }
    }
    Some(found)
}

/// The same, each file looked at once.
#[derive(Debug, Default)]
pub(super) struct Known {
    tree: Tree,
    files: HashMap<String, Option<Arc<str>>>,
}

impl Known {
    pub(super) fn of(tree: &Tree) -> Self {
        Self {
            tree: tree.clone(),
            files: HashMap::new(),
        }
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
        ] {
            assert_eq!(tree.relative(file).as_deref(), expected, "{file}");
        }
        assert_eq!(Tree::default().relative("/work/shop/src/price.rs"), None);
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
