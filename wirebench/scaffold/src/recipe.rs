//! A recipe: the files that show a server of one ecosystem, and how it is built and started. `recipes/` has one TOML file for each.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use toml::Table;

use crate::files::pattern;

/// The texts of the recipes, each with its file's name, in the order in which they are tried.
const TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/recipes.rs"));

/// Every recipe that comes with the program.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| {
    let recipe = |(file, text): &(&str, &str)| {
        read(text).unwrap_or_else(|error| panic!("wirebench/scaffold/recipes/{file}: {error}"))
    };
    TEXTS.iter().map(recipe).collect()
});

/// How servers of one ecosystem are found, built and started. Words of commands name values in braces: those of
/// [`crate::recipes`], and the named groups of the patterns that matched.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Recipe {
    /// Its name for people.
    pub(super) ecosystem: String,
    /// What the job that measures sets up, as the action `toolchains` names it; without it, the runner has everything.
    pub(super) setup: String,
    /// The endings of source files.
    pub(super) sources: Vec<String>,
    /// The packages that make a program a server, as alternatives of a regular expression. Patterns of the recipe name the list as
    /// `{frameworks}`.
    #[serde(rename = "frameworks")]
    _frameworks: IgnoredAny,
    /// How sources name each other; without it, all of a project may belong to each of its programs.
    pub(super) imports: Option<Imports>,
    /// Files whose folder is a project; at one folder, the first goes first.
    #[serde(rename = "manifest")]
    pub(super) manifests: Vec<Manifest>,
    /// How a project's database gets its tables; the first that fits.
    #[serde(rename = "migration")]
    pub(super) migrations: Vec<Migration>,
    /// The ways to start a server, in the order in which they are tried.
    #[serde(rename = "start")]
    pub(super) starts: Vec<Start>,
}

/// How a source names the packages of its project that it imports; a package is a folder.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Imports {
    /// Matches such a name, in the group `package`.
    pub(super) names: Pattern,
    /// What names of packages in the project's folder begin with.
    pub(super) below: String,
}

/// A command before each start that brings a database up to date.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Migration {
    /// The file that shows it, in the project's folder or one above it.
    pub(super) file: String,
    /// Matches that file's text. Named groups are values.
    pub(super) contains: Pattern,
    /// The command; `{folder}` is the file's.
    pub(super) command: Vec<String>,
}

/// A file whose folder is a project.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Manifest {
    /// Its name.
    pub(super) file: String,
    /// Matches its text; without it, any text will do. Named groups are values.
    pub(super) contains: Pattern,
    /// Matches the text of a manifest at the top that builds projects below it.
    pub(super) workspace: Option<Pattern>,
    /// Installs the packages that it declares.
    pub(super) install: Vec<String>,
    /// Files beside it, each with the command that installs the packages instead.
    pub(super) locks: Vec<Lock>,
}

/// A lock file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Lock {
    /// Its name.
    pub(super) file: String,
    /// Installs the packages that it locks; `{manifest_folder}` is its own folder.
    pub(super) install: Vec<String>,
    /// Matches the manifest at the top of a workspace. The lock file beside it then also locks the packages of the projects below.
    pub(super) workspace: Option<Pattern>,
}

/// One way to start a server.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Start {
    /// The file that shows it: a name, the end of a path, or a name with a `*`, which stands for any text; several with `|`.
    pub(super) file: String,
    /// Matches that file's text. Named groups are values; `source` names the file whose text `http` and `grpc` are searched in.
    pub(super) contains: Pattern,
    /// Matches the text of the project's manifest; of none, the empty text.
    pub(super) depends: Pattern,
    /// The name of the project's manifest; without it, any or none will do.
    pub(super) needs: String,
    /// Matches sources that serve HTTP; without it, all do that do not serve gRPC.
    pub(super) http: Option<Pattern>,
    /// Matches sources that serve gRPC.
    pub(super) grpc: Option<Pattern>,
    /// If one file of a folder matches this, files of that folder without a match are no servers.
    pub(super) prefer: Option<Pattern>,
    /// Files of a folder that has this file are no servers.
    pub(super) unless: String,
    /// Files whose text matches this are no servers.
    pub(super) without: Option<Pattern>,
    /// What a program is: a file, all matching files of a folder, or a match in a file.
    pub(super) each: Each,
    /// Texts whose last part may be its name, tried in order; without them, the file's name, then its folder's.
    pub(super) names: Vec<String>,
    /// Packages that the installing command also installs.
    pub(super) with: Vec<String>,
    /// Which packages are installed.
    pub(super) packages: Packages,
    /// The command that builds it, after its packages are installed.
    pub(super) build: Vec<String>,
    /// The same for a project that a manifest at the top builds, or whose packages are locked above it, in `{workspace}`.
    pub(super) build_in_workspace: Vec<String>,
    /// The folder that it is started in; the examined one if it is empty.
    pub(super) working_directory: String,
    /// The command that starts it; it may name `{port}` and the other values of a server's arguments.
    pub(super) command: Vec<String>,
    /// Arguments that tell it its port.
    pub(super) args: Vec<String>,
    /// Environment variables; one with a value in braces tells it its port.
    pub(super) env: BTreeMap<String, String>,
    /// True if it is the only server of its project: once it is declared, the others are not tried.
    pub(super) alone: bool,
    /// True if it is tried only where no other start of the recipe found a server in the project.
    pub(super) otherwise: bool,
    /// True if other programs have such sources, too, so that it is declared only if it serves when it is started. Such starts stand last,
    /// so that they keep no other from being tried.
    pub(super) must_serve: bool,
}

/// Which packages are installed before a program is built.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Packages {
    /// Those of a manifest of the same recipe.
    #[default]
    Own,
    /// Those of a manifest of any recipe, which then must exist.
    Any,
    /// None: the system has them.
    System,
}

/// What counts as one program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Each {
    /// Every file that matches.
    #[default]
    File,
    /// Every folder with files that match.
    Folder,
    /// Every match.
    Match,
}

/// A regular expression; the empty one matches every text.
#[derive(Debug)]
pub(super) struct Pattern(Regex);

impl Default for Pattern {
    fn default() -> Self {
        Self(Regex::new("").expect("the empty pattern is valid"))
    }
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.0
    }
}

/// True if there is a pattern, and it matches a text.
pub(super) fn is_match(pattern: &Option<Pattern>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// Reads a file of data, in which the text of a key at the top stands for its name in braces: `{frameworks}`.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, toml::de::Error> {
    let whole: Table = text.parse()?;
    let texts = whole.into_iter();
    let texts = texts.filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
    toml::from_str(&fill(text, &texts.collect()))
}

/// The values that words of a recipe name in braces, such as `{folder}`.
pub(super) type Values = BTreeMap<String, String>;

/// A text with values in place of their names.
pub(super) fn fill(text: &str, values: &Values) -> String {
    static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{(\w+)\}"));
    let value = |found: &Captures| values.get(&found[1]).unwrap_or(&found[0].to_owned()).clone();
    NAME.replace_all(text, value).into_owned()
}

impl Recipe {
    /// The names and endings of the files that it needs to read besides its manifests: `main.py`, `*.go`.
    pub(super) fn reads(&self) -> impl Iterator<Item = String> {
        let starts = self.starts.iter().flat_map(|one| one.file.split('|'));
        let shown = starts.chain(self.migrations.iter().map(|one| one.file.as_str()));
        let shown = shown.map(|file| file.rsplit('/').next().unwrap_or_default().to_owned());
        let sources = self.sources.iter().map(|ending| format!("*.{ending}"));
        shown.chain(sources)
    }

    /// The names of its manifests and lock files.
    pub(super) fn manifest_files(&self) -> impl Iterator<Item = &str> {
        let locks = self.manifests.iter().flat_map(|one| &one.locks);
        let manifests = self.manifests.iter().map(|one| one.file.as_str());
        manifests.chain(locks.map(|lock| lock.file.as_str()))
    }
}

/// True if a path fits the `file` of a recipe.
pub(super) fn fits(patterns: &str, path: &str) -> bool {
    patterns.split('|').any(|pattern| fits_one(pattern, path))
}

fn fits_one(pattern: &str, path: &str) -> bool {
    if let Some((before, after)) = pattern.split_once('*') {
        let name = path.rsplit('/').next().unwrap_or(path);
        return name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after);
    }
    path.strip_suffix(pattern)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
