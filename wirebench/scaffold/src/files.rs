//! Reads the files of a repository from which servers can be recognised, with limits on number and size.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::compose;
use crate::known::KNOWN;
use crate::recipe::{RECIPES, Recipe, fits};
use wirebench_engine::git::output;

/// Files by their path relative to the folder, with `/`; files that are too long or not text are skipped.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    texts: BTreeMap<String, String>,
    /// Manifests of parent folders by their path (`../NAME`).
    above: BTreeMap<String, String>,
    /// The folder's own name; empty if unknown.
    name: String,
}

/// Longer files are skipped: they are generated.
const LONGEST: u64 = 256 * 1024;
/// The most entries and the most bytes that are read.
const MOST_ENTRIES: usize = 50_000;
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// The deepest level of folders that is searched.
const DEEPEST: usize = 10;

/// Endings of files that no recipe names.
const ENDINGS: [&str; 3] = ["rs", "proto", "toml"];
/// Files that are also read from parent folders, besides the manifests and lock files of recipes and the compose files, which
/// name a server's dependencies.
const ABOVE: [&str; 3] = ["Cargo.toml", ".gitmodules", "gradlew"];
/// Files that make a container's image.
const CONTAINERS: [&str; 2] = ["Dockerfile", "Containerfile"];
/// Words in the names of examples.
const EXAMPLES: [&str; 4] = ["example", "sample", "dist", "template"];
/// Names of files with environment variables, such as `.env` and `.env.example`. One that is not an example is read only if it is
/// committed: others may hold secrets.
static ENVIRONMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\.?(?:example|sample|local|dev)[._-])?\.?env(?:[._-](?:example|sample|dist|template|local|dev|development))*$",
    )
});

impl Files {
    /// Reads the files below a folder, and the manifests of its parent folders up to `top`. Links are not followed;
    /// files that cannot be read are skipped.
    ///
    /// # Errors
    /// When the folder itself cannot be read.
    pub(super) fn read(folder: &Path, top: &Path) -> std::io::Result<Self> {
        let mut files = Self::below_folder(folder)?;
        let listed = output(folder, &["ls-files", "--", ":(glob)**/*env*"]).unwrap_or_default();
        let is_committed = |path: &str| listed.lines().any(|line| line == path);
        let is_example = |path: &str| EXAMPLES.iter().any(|word| name_of(path).contains(word));
        let is_own = |path: &str| ENVIRONMENT.is_match(name_of(path)) && !is_example(path);
        files.texts.retain(|path, _| !is_own(path) || is_committed(path));
        files.name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (folder, top) = (folder.canonicalize()?, top.canonicalize()?);
        let outside = folder.ancestors().skip(1).zip(1..);
        for (above, ups) in outside.filter(|(above, _)| above.starts_with(&top)) {
            let read = |name: &&str| Some(("../".repeat(ups) + name, text_of(&above.join(name), name)?));
            files.above.extend(MANIFESTS.iter().filter_map(read));
        }
        Ok(files)
    }

    fn below_folder(folder: &Path) -> std::io::Result<Self> {
        let mut files = Self::default();
        let (mut entries, mut bytes) = (0, 0);
        fs::read_dir(folder)?;
        let mut waiting = vec![(folder.to_path_buf(), String::new(), 0)];
        while let Some((folder, path, depth)) = waiting.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                entries += 1;
                if entries > MOST_ENTRIES || bytes > MOST_BYTES {
                    return Ok(files);
                }
                let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                    continue;
                };
                let path = format!("{path}{name}");
                let is_skipped = name.starts_with(['.', '_']) || KNOWN.skipped_folders.contains(&name);
                if kind.is_dir() && !is_skipped && depth < DEEPEST {
                    waiting.push((entry.path(), path + "/", depth + 1));
                } else if kind.is_file()
                    && is_telling(&path)
                    && let Some(text) = text_of(&entry.path(), &name)
                {
                    bytes += text.len();
                    files.texts.insert(path, text);
                }
            }
        }
        Ok(files)
    }

    /// The folder's own name; empty if unknown.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The nearest manifest of that name above the folder: the way there (`../`, `../../`), and its text.
    pub(super) fn above(&self, name: &str) -> Option<(&str, &str)> {
        let all = self.above.iter().filter(|(path, _)| name_of(path) == name);
        let (path, text) = all.min_by_key(|(path, _)| path.len())?;
        Some((folder_of(path), text))
    }

    /// A folder and its parent folders, then those above the examined one that have manifests.
    pub(super) fn folders_up<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        let outside: BTreeSet<&str> = self.above.keys().map(|path| folder_of(path)).collect();
        folders_up(folder).chain(outside)
    }

    /// A file's text; also that of a manifest above the folder.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).or(self.above.get(path)).map(String::as_str)
    }

    /// Whether a file is there.
    pub(super) fn has(&self, path: &str) -> bool {
        self.text(path).is_some()
    }

    /// Every file of that name, in order: its folder (`""` at the top, otherwise ending in `/`) and its text.
    pub(super) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let all = self.all().filter(move |(path, _)| name_of(path) == name);
        all.map(|(path, text)| (folder_of(path), text))
    }

    /// The texts of the files that make a container's image.
    pub(super) fn containers(&self) -> impl Iterator<Item = &str> {
        let all = CONTAINERS.into_iter().flat_map(|name| self.named(name));
        all.map(|(_, text)| text)
    }

    /// The files with an environment: path and text.
    pub(super) fn environments(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all().filter(|(path, _)| ENVIRONMENT.is_match(name_of(path)))
    }

    /// Variables with the values that the files with an environment have for them.
    pub(super) fn examples(&self) -> BTreeMap<String, String> {
        let lines = self.environments().flat_map(|(_, text)| text.lines());
        let pair = |line: &str| {
            let (name, value) = line.trim_start_matches("export ").split_once('=')?;
            let value = value.split(" #").next().unwrap_or_default();
            let plain = value.trim().trim_matches(['"', '\'']);
            (!name.trim().starts_with('#')).then(|| (name.trim().to_owned(), plain.to_owned()))
        };
        lines.filter_map(pair).collect()
    }

    /// Every file, in order: path and text.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Every file below a folder (`""` or ending in `/`) with one of these endings: path and text.
    pub(super) fn below<'a>(&'a self, folder: &'a str, ending: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.all()
            .filter(move |(path, _)| path.starts_with(folder) && ending_of(path) == Some(ending))
    }
}

/// The folder of a path: `""` or ending in `/`.
pub(super) fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |end| &path[..=end])
}

/// The last part of a path.
pub(super) fn name_of(path: &str) -> &str {
    &path[folder_of(path).len()..]
}

/// A folder as a word of a command: `.` or without its last slash.
pub(super) fn word(folder: &str) -> String {
    let folder = if folder.is_empty() { "." } else { folder };
    folder.trim_end_matches('/').to_owned()
}

/// A folder and its parent folders, each `""` or ending in `/`.
pub(super) fn folders_up(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        (!folder.is_empty()).then(|| folder_of(folder.trim_end_matches('/')))
    })
}

/// A regular expression of this program.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// The ending of a path, without its point.
pub(super) fn ending_of(path: &str) -> Option<&str> {
    Some(path.rsplit_once('.')?.1)
}

/// The files that recipes name.
static READ: LazyLock<BTreeSet<String>> = LazyLock::new(|| RECIPES.iter().flat_map(Recipe::reads).collect());
/// The files that are also read from parent folders.
static MANIFESTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let of_recipes = RECIPES.iter().flat_map(Recipe::manifest_files);
    of_recipes.chain(ABOVE).chain(compose::NAMES).collect()
});

fn is_telling(path: &str) -> bool {
    let name = name_of(path);
    let by_ending = ending_of(name).is_some_and(|ending| ENDINGS.contains(&ending));
    (by_ending
        || CONTAINERS.contains(&name)
        || ENVIRONMENT.is_match(name)
        || compose::NAME.is_match(path)
        || MANIFESTS.contains(name)
        || READ.iter().any(|file| fits(file, name)))
        && !name.ends_with("_test.go")
        && !name.contains(".test.")
}

/// Of lock files and wrappers only their existence matters.
fn text_of(path: &Path, name: &str) -> Option<String> {
    if name.contains("lock") || name == "gradlew" {
        return path.is_file().then(String::new);
    }
    let mut text = String::new();
    let file = fs::File::open(path).ok()?;
    file.take(LONGEST + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::{Files, output};

    impl Files {
        /// Files given as paths and texts.
        pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
            let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
            Self {
                texts: pairs.iter().map(owned).collect(),
                ..Self::default()
            }
        }

        /// The same with a manifest in the folder above.
        pub(crate) fn with_above(mut self, name: &str, text: &str) -> Self {
            self.above.insert(format!("../{name}"), text.to_owned());
            self
        }
    }

    #[test]
    fn others_code_hidden_folders_and_links_are_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "cmd/main.go",
            "node_modules/x/index.js",
            ".venv/a.py",
            "target/a.rs",
            "README.md",
            "cmd/main_test.go",
        ] {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "x").unwrap();
        }
        std::fs::write(folder.path().join("binary.py"), [0xff, 0xfe]).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("cmd/again")).unwrap();
        let files = Files::read(folder.path(), folder.path()).unwrap();
        assert_eq!(files.texts.keys().collect::<Vec<_>>(), ["cmd/main.go"]);
        assert!(Files::read(&folder.path().join("none"), folder.path()).is_err());
    }

    #[test]
    fn an_environment_is_read_only_if_it_is_committed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::create_dir(folder.join("api")).unwrap();
        for path in [
            ".env",
            "api/.env",
            "api/.env.example",
            "api/.example-env",
            "api/dev.env",
            "api/env",
            "api/my.env.txt",
        ] {
            std::fs::write(folder.join(path), "A=1\n").unwrap();
        }
        let found = || {
            let files = Files::read(folder, folder).unwrap();
            files.texts.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(found(), ["api/.env.example", "api/.example-env"]);
        output(folder, &["init", "--quiet"]).unwrap();
        output(folder, &["add", "api/.env", "api/dev.env"]).unwrap();
        let committed = ["api/.env", "api/.env.example", "api/.example-env", "api/dev.env"];
        assert_eq!(found(), committed);
    }

    #[test]
    fn values_of_an_environment_are_read_without_quotes_and_comments() {
        let text = "# A=0\nexport A='x y'\nB = 3600 # 1 hour\nC=#f00\n";
        let found = Files::of(&[(".env.example", text)]).examples();
        let found: Vec<String> = found.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(found, ["A=x y", "B=3600", "C=#f00"]);
    }

    #[test]
    fn manifests_above_are_read_up_to_the_top_and_no_further() {
        let outer = tempfile::tempdir().unwrap();
        let top = outer.path().join("top");
        let folder = top.join("services/api");
        std::fs::create_dir_all(&folder).unwrap();
        for (path, text) in [
            ("go.mod", "outside"),
            ("top/go.mod", "module x"),
            ("top/services/package.json", "{}"),
        ] {
            std::fs::write(outer.path().join(path), text).unwrap();
        }
        let files = Files::read(&folder, &top).unwrap();
        assert_eq!(files.above("go.mod"), Some(("../../", "module x")));
        assert_eq!(files.above("package.json"), Some(("../", "{}")));
        assert_eq!((files.above("Cargo.toml"), files.name()), (None, "api"));
        assert_eq!(Files::read(&top, &top).unwrap().above("go.mod"), None);
    }

    #[test]
    fn files_are_found_by_name_and_by_folder() {
        let files = Files::of(&[
            ("go.mod", "a"),
            ("sub/go.mod", "b"),
            ("sub/xgo.mod", "c"),
            ("sub/a.go", "d"),
        ]);
        assert_eq!(files.named("go.mod").collect::<Vec<_>>(), [("", "a"), ("sub/", "b")]);
        assert_eq!(files.below("sub/", "go").collect::<Vec<_>>(), [("sub/a.go", "d")]);
    }
}
