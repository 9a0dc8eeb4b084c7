//! The files that init writes: the declaration, the workflows, and .gitignore.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::files::pattern;
use crate::needs::{Needs, quoted};
use crate::programs::Found;
use wirebench_engine::git;
use wirebench_record::names::is_full_commit;

/// The lines for .gitignore.
pub const IGNORED: [&str; 2] = ["/.wirebench/", "/results/"];

/// A file to write.
#[derive(Debug)]
pub struct SetupFile {
    /// Where it goes.
    pub file: PathBuf,
    /// Its content.
    pub text: String,
}

/// Every file that init may write.
pub fn files(folder: &Path, found: &Found, facts: &WorkflowFacts) -> Vec<SetupFile> {
    let mut files = vec![(folder.join("wirebench.toml"), found.toml.clone())];
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        files.push((ignore, IGNORED.map(|line| format!("{line}\n")).concat()));
    }
    let top = git::top(folder).unwrap_or_else(|| folder.to_path_buf());
    let workflows = workflows(facts).into_iter();
    files.extend(workflows.map(|(name, text)| (top.join(".github/workflows").join(name), text)));
    files.into_iter().map(|(file, text)| SetupFile { file, text }).collect()
}

impl SetupFile {
    /// Writes the file unless there is one already, and returns whether it did.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_new(&self) -> io::Result<bool> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        match fs::File::options().write(true).create_new(true).open(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            opened => opened?.write_all(self.text.as_bytes()).map(|()| true),
        }
    }

    /// The folder that a workflow of this path measures already, if `wirebench init` wrote it for another one.
    pub fn measures_another_folder(&self) -> Option<String> {
        let config = |text: &str| {
            let (_, value) = text.split_once("config: ")?;
            let end = value.find([',', ' ', '\n'])?;
            Some(value[..end].to_owned()).filter(|_| text.contains("written by `wirebench init`"))
        };
        let there = config(&fs::read_to_string(&self.file).ok()?)?;
        (there != config(&self.text)?).then_some(there)
    }

    /// Its path relative to the folder, if it is below it; otherwise the full path.
    pub fn shown(&self, folder: &Path) -> String {
        let shown = self.file.strip_prefix(folder).unwrap_or(&self.file);
        shown.display().to_string()
    }
}

/// Files below `.github/workflows/` and the templates they are made of.
const TEMPLATES: [(&str, &str); 2] = [
    ("bench.yml", include_str!("../templates/bench.yml")),
    ("bench-comment.yml", include_str!("../templates/bench-comment.yml")),
];
/// The job that measures, as a call of wirebench's workflow.
const CALLED: &str = include_str!("../templates/measure-called.yml");
/// The same as a job of its own.
const OWN_JOB: &str = include_str!("../templates/measure-job.yml");

/// An action at a revision: `owner/name@ref`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// `owner/name`, perhaps with a folder.
    pub repository: String,
    /// A tag, branch or commit.
    pub revision: String,
}

impl std::str::FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        static ACTION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([\w.-]*/[\w./-]*)@([\w./-]+)$"));
        match ACTION.captures(text) {
            Some(found) if text.is_ascii() && !text.contains("..") => Ok(Self {
                repository: found[1].to_owned(),
                revision: found[2].to_owned(),
            }),
            _ => Err(format!(
                "expected owner/name@revision, such as wirebench/wirebench@v0, found \"{text}\""
            )),
        }
    }
}

/// The facts about a repository that its workflows need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowFacts {
    /// The action that they use.
    pub action: Action,
    /// The full commit of its revision, which the workflows then use; `None` if unknown.
    pub commit: Option<String>,
    /// The folder of wirebench.toml from the repository's top, `.` for the top.
    pub config: String,
    /// The branch whose pushes are kept.
    pub branch: String,
    /// The steps that set up the measuring job.
    pub needs: Needs,
}

/// Each workflow's file name and text.
pub fn workflows(facts: &WorkflowFacts) -> Vec<(&'static str, String)> {
    let Action { repository, revision } = &facts.action;
    let reference = match &facts.commit {
        Some(commit) => format!("{commit} # {revision}"),
        None => revision.clone(),
    };
    let pinned = if is_pinned(facts) {
        "Everything is used at one full commit, with its version beside it; Dependabot and Renovate bring it up to date.".to_owned()
    } else {
        format!(
            "{repository}@{revision} can be moved, and its commit is not known here: `wirebench init --commit SHA` writes the full commit of a release."
        )
    };
    let needs = &facts.needs;
    let measure = if needs.services.is_empty() && needs.env.is_empty() {
        CALLED
    } else {
        OWN_JOB
    };
    let listed: Vec<String> = needs.paths.iter().map(|path| quoted(path)).collect();
    let pushed = match listed.as_slice() {
        [] => String::new(),
        paths => format!(", paths: [{}]", paths.join(", ")),
    };
    let filled = |text: &str| {
        text.replace("@MEASURE@\n", measure)
            .replace("@ENV@\n", &block("env", &needs.env))
            .replace("@SERVICES@\n", &block("services", &needs.services))
            .replace("@PINNED@", &pinned)
            .replace("@ACTION@", repository)
            .replace("@REF@", &reference)
            .replace("@CONFIG@", &scalar(&facts.config))
            .replace("@BRANCH@", &scalar(&facts.branch))
            .replace("@PATHS@", &pushed)
            // A required check must also be written for a pull request that changes none of them: a step decides.
            .replace("@GLOBS@", &quoted(&needs.paths.join(" ")))
            .replace("@TOOLCHAINS@", &quoted(&needs.toolchains.join(" ")))
            .replace("@SUBMODULES@", if needs.submodules { "recursive" } else { "false" })
    };
    TEMPLATES.iter().map(|(name, text)| (*name, filled(text))).collect()
}

/// A key of a job with its lines below it; empty without lines.
fn block(key: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines = lines.iter().map(|line| format!("      {line}\n"));
    format!("    {key}:\n{}", lines.collect::<String>())
}

/// True if the action is pinned to a full commit.
pub fn is_pinned(facts: &WorkflowFacts) -> bool {
    facts.commit.is_some() || is_full_commit(&facts.action.revision)
}

/// Writes a text as YAML: plain if it has no special characters, otherwise in double quotes, escaped as in JSON.
fn scalar(text: &str) -> String {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c));
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '.');
    if is_plain && begins {
        text.to_owned()
    } else {
        quoted(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_has_an_owner_a_name_and_a_revision() {
        let action: Action = "a/b/c@v1".parse().unwrap();
        assert_eq!((action.repository.as_str(), action.revision.as_str()), ("a/b/c", "v1"));
        for text in ["a/b", "a@v1", "a/b@", "a/b@x y", "a/../b@v1", "a/b@v1\nx"] {
            assert!(text.parse::<Action>().is_err(), "{text}");
        }
    }

    fn facts(config: &str, branch: &str) -> WorkflowFacts {
        WorkflowFacts {
            action: "a/b@v7".parse().unwrap(),
            commit: None,
            config: config.into(),
            branch: branch.into(),
            needs: Needs::default(),
        }
    }

    #[test]
    fn nothing_is_left_to_fill_in_and_it_is_yaml() {
        for (config, branch) in [("services/api", "main"), ("a b: {c}\"", "release, [x]"), (".", "123")] {
            for (name, text) in workflows(&facts(config, branch)) {
                assert!(text.contains("a/b") && text.contains("@v7"), "{name}");
                let mut words = text.split('@').map(|word| word.trim_matches(char::is_uppercase));
                assert!(
                    words.all(|word| !word.is_empty()),
                    "{name} has a word to fill in: {text}"
                );
                let read: serde_json::Value =
                    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
                if name == "bench.yml" {
                    assert_eq!(read["on"]["push"]["branches"], serde_json::json!([branch]));
                    assert_eq!(read["jobs"]["measure"]["with"]["config"], config);
                }
            }
        }
    }

    #[test]
    fn a_commit_stands_with_its_version_and_an_unknown_one_is_said() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let known = WorkflowFacts {
            commit: Some(commit.into()),
            ..facts(".", "main")
        };
        for (name, text) in workflows(&known) {
            assert!(
                text.contains(&format!("@{commit} # v7\n")) && !text.contains("@v7"),
                "{name}"
            );
            assert!(
                text.contains("at one full commit") && text.contains("Dependabot"),
                "{name}"
            );
        }
        for (name, text) in workflows(&facts(".", "main")) {
            assert!(text.contains("its commit is not known here"), "{name}");
        }
    }
}
