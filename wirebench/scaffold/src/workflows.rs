//! The workflow files that a repository gets.

pub use crate::needs::Needs;

use std::fmt::Write as _;

use crate::needs::quoted;

/// Files below `.github/workflows/` and the templates they are made of.
const TEMPLATES: [(&str, &str); 2] = [
    ("bench.yml", include_str!("../templates/bench.yml")),
    ("bench-comment.yml", include_str!("../templates/bench-comment.yml")),
];

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
        let letters = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let good = |part: &str, slashes: bool| {
            !part.is_empty() && part.chars().all(letters) && (!slashes || part.contains('/')) && !part.contains("..")
        };
        match text.split_once('@') {
            Some((repository, revision)) if good(repository, true) && good(revision, false) => Ok(Self {
                repository: repository.to_owned(),
                revision: revision.to_owned(),
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
#[must_use]
pub fn workflows(facts: &WorkflowFacts) -> Vec<(&'static str, String)> {
    let Action { repository, revision } = &facts.action;
    let reference = match &facts.commit {
        Some(commit) => format!("{commit} # {revision}"),
        None => revision.clone(),
    };
    let pinned = if is_pinned(facts) {
        "Every action is used at one full commit, with its version beside it: those that this wirebench knew when it was released.\n\
         # Dependabot and Renovate bring them up to date."
            .to_owned()
    } else {
        format!(
            "{repository}@{revision} can be moved, and its commit is not known here: put the full commit SHA of that release in its place\n\
             # (`wirebench init --commit SHA` writes it)."
        )
    };
    let filled = |text: &str| {
        with_needs(text, &facts.needs)
            .replace("@PINNED@", &pinned)
            .replace("@ACTION@", repository)
            .replace("@REF@", &reference)
            .replace("@CONFIG@", &scalar(&facts.config))
            .replace("@BRANCH@", &scalar(&facts.branch))
    };
    TEMPLATES.iter().map(|(name, text)| (*name, filled(text))).collect()
}

/// The template with the job's needs filled in; lines without content are left out.
fn with_needs(text: &str, needs: &Needs) -> String {
    let mut out = String::new();
    for line in text.lines() {
        match line {
            "@PATHS@" => block(
                &mut out,
                4,
                "paths:",
                needs.paths.iter().map(|path| format!("- {}", quoted(path))),
            ),
            // A required check must also be written for a pull request that changes none of them.
            "@GLOBS@" if needs.paths.is_empty() => {}
            "@GLOBS@" => {
                let _ = writeln!(out, "          paths: {}", quoted(&needs.paths.join(" ")));
            }
            "@ENV@" => {
                let why =
                    "# Where a pull request comes from a fork, a variable of this repository has the value behind ||.";
                block(&mut out, 4, &format!("{why}\n    env:"), needs.env.iter().cloned());
            }
            "@SERVICES@" => block(&mut out, 4, "services:", needs.services.iter().cloned()),
            "@BEFORE@" if needs.before.is_empty() => {
                out.push_str("      # Set up here what your server takes to build, such as actions/setup-node, or restore its cache.\n");
            }
            "@BEFORE@" => steps(&mut out, &needs.before),
            "@AFTER@" => steps(&mut out, &needs.after),
            line => {
                let submodules = if needs.submodules {
                    ", submodules: recursive"
                } else {
                    ""
                };
                out.push_str(&line.replace("@SUBMODULES@", submodules));
                out.push('\n');
            }
        }
    }
    out
}

/// A key with its lines below it; left out without lines.
fn block(out: &mut String, indent: usize, key: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        let _ = writeln!(out, "{:indent$}{key}", "");
        for line in lines {
            let _ = writeln!(out, "{:indent$}  {line}", "");
        }
    }
}

fn steps(out: &mut String, steps: &[Vec<String>]) {
    for line in steps.iter().flatten() {
        let _ = writeln!(out, "      {line}");
    }
}

/// True if the action is pinned to a full commit.
#[must_use]
pub fn is_pinned(facts: &WorkflowFacts) -> bool {
    facts.commit.is_some() || is_commit(&facts.action.revision)
}

/// Whether a text is a full commit.
#[must_use]
pub fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Writes a text as YAML: plain if it has no special characters, otherwise in double quotes, escaped as in JSON.
fn scalar(text: &str) -> String {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c));
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '.');
    if is_plain && begins {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
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
                for left in [
                    "@ACTION@",
                    "@REF@",
                    "@CONFIG@",
                    "@BRANCH@",
                    "@PINNED@",
                    "@PATHS@",
                    "@GLOBS@",
                    "@ENV@",
                    "@SERVICES@",
                    "@BEFORE@",
                    "@AFTER@",
                    "@SUBMODULES@",
                ] {
                    assert!(!text.contains(left), "{name}: {left}");
                }
                let read: serde_json::Value =
                    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
                if name == "bench.yml" {
                    assert_eq!(read["on"]["push"]["branches"], serde_json::json!([branch]));
                    let steps = read["jobs"]["measure"]["steps"].as_array().unwrap();
                    assert!(steps.iter().any(|step| step["with"]["config"] == config), "{text}");
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
                text.contains("at one full commit") && text.contains("# Dependabot"),
                "{name}"
            );
        }
        for (name, text) in workflows(&facts(".", "main")) {
            assert!(text.contains("its commit is not known here"), "{name}");
        }
    }
}
