//! The rules of jobs as they run (docs/SECURITY.md): composites and called workflows are flattened into the jobs that use them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::bench::repository;

/// What may be run where the token can write; a new line is written here first.
const BESIDE_A_WRITE: [&str; 7] = [
    "\"$GITHUB_ACTION_PATH/alert.sh\" ",
    "\"$GITHUB_ACTION_PATH/../../../scripts/install.sh\" --released ",
    "\"$GITHUB_ACTION_PATH/../../../scripts/lib/figures.sh\" ",
    "\"$GITHUB_ACTION_PATH/../../../scripts/publish.sh\" ",
    "\"$RUNNER_TEMP/wirebench/bin/wirebench\" github comment ",
    "\"$RUNNER_TEMP/wirebench/bin/wirebench\" github rerun ",
    ".github/scripts/release-publish.sh ",
];
/// Actions that may be used there: none that runs what it is told.
const USED_BESIDE_A_WRITE: [&str; 6] = [
    "$/",
    "actions/attest@",
    "actions/checkout@",
    "actions/deploy-pages@",
    "actions/download-artifact@",
    "benchmark-action/github-action-benchmark@",
];
/// Workflows of which no job takes anything from a cache.
const UNCACHED: [&str; 2] = ["publish", "release"];
/// Conditions that jobs must have, to the letter.
const CONDITIONS: [(&str, &str, &str); 5] = [
    ("bench", "publish", "${{ !cancelled() && github.event_name == 'push' }}"),
    (
        "publish",
        "alert",
        "${{ !cancelled() && needs.publish.result == 'success' && vars.WIREBENCH_ALERTS == 'true' }}",
    ),
    (
        "comment",
        "build",
        "${{ !inputs.workflow && (github.event_name == 'workflow_dispatch' || contains(fromJSON('[\"pull_request\", \"merge_group\"]'), github.event.workflow_run.event) || (startsWith(github.event.comment.body, '/bench') && contains(fromJSON('[\"OWNER\", \"MEMBER\", \"COLLABORATOR\"]'), github.event.comment.author_association))) }}",
    ),
    (
        "comment",
        "comment",
        "${{ !cancelled() && (github.event_name == 'workflow_dispatch' || (github.event_name == 'workflow_run' && contains(fromJSON('[\"pull_request\", \"merge_group\"]'), github.event.workflow_run.event))) }}",
    ),
    (
        "comment",
        "rerun",
        "${{ !cancelled() && github.event_name == 'issue_comment' && github.event.issue.pull_request && startsWith(github.event.comment.body, '/bench') && \
         contains(fromJSON('[\"OWNER\", \"MEMBER\", \"COLLABORATOR\"]'), github.event.comment.author_association) }}",
    ),
];
/// What publishing demands.
const PUSHED: &str = "github.event_name == 'push'";
const WORKFLOWS: &str = ".github/workflows/";

/// Workflows, actions and scripts: path and text.
#[derive(Clone)]
pub(crate) struct Tree(BTreeMap<String, String>);

/// A job as it runs, with every step that it comes to.
struct Job {
    /// The workflow it stands in, and its own name.
    workflow: String,
    name: String,
    yaml: Value,
    held: Vec<String>,
    conditions: Vec<String>,
    steps: Vec<Step>,
}

/// A step with all the conditions on the way to it.
struct Step {
    yaml: Value,
    conditions: Vec<String>,
}

/// What a token may do.
pub(crate) fn held(permissions: &Value) -> Vec<String> {
    let mut held: Vec<String> = (permissions.as_object().into_iter().flatten())
        .map(|(what, how)| format!("{what}: {}", how.as_str().unwrap_or("?")))
        .collect();
    held.sort();
    held
}

impl Tree {
    pub(crate) fn of_repository() -> Self {
        let root = repository();
        let mut tree = Self(BTreeMap::new());
        tree.put("action.yml", &fs::read_to_string(root.join("action.yml")).unwrap());
        for folder in [".github/workflows", ".github/actions", ".github/scripts", "scripts"] {
            tree.read(&root, &root.join(folder));
        }
        assert!(tree.0.len() > 30, "the tree was not read");
        tree
    }

    fn read(&mut self, root: &Path, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let relative = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                self.read(root, &path);
            } else if relative.ends_with(".sh") || relative.ends_with(".yml") {
                self.put(&relative, &fs::read_to_string(&path).unwrap());
            }
        }
    }

    pub(crate) fn put(&mut self, path: &str, text: &str) {
        self.0.insert(path.to_owned(), text.to_owned());
    }

    /// The same with one file changed.
    pub(crate) fn with(&self, path: &str, good: &str, bad: &str) -> Self {
        let text = &self.0[path];
        assert!(text.contains(good), "{path} has no {good}");
        let mut other = self.clone();
        other.put(path, &text.replace(good, bad));
        other
    }

    fn yaml(&self, path: &str) -> Value {
        let text = self.0.get(path).unwrap_or_else(|| panic!("there is no {path}"));
        serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// What is wrong with any job, as it runs, or with any script.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for path in self.0.keys().filter(|path| path.starts_with(WORKFLOWS)) {
            let yaml = self.yaml(path);
            let triggers: Vec<&String> = yaml["on"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name)
                .collect();
            let starts = |names: &[&str]| triggers.iter().any(|trigger| names.contains(&trigger.as_str()));
            let started = Started {
                by_pull_requests: starts(&["pull_request", "merge_group"]),
                by_others: starts(&["workflow_run", "issue_comment"]),
                only_called: triggers.iter().all(|trigger| *trigger == "workflow_call"),
            };
            for job in self.jobs(path, &[], &[]) {
                faults.extend(started.faults(&job).into_iter().map(|what| format!("{path}: {what}")));
            }
        }
        faults.extend(self.script_faults());
        faults
    }

    /// What is wrong with any script, or with a file that calls scripts.
    pub(crate) fn script_faults(&self) -> Vec<String> {
        let named = |path: &str, what: String| format!("{path}: {what}");
        let of = |(path, text): (&String, &String)| {
            script_faults(path, text)
                .into_iter()
                .map(|what| named(path, what))
                .collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of).collect()
    }

    /// Every job of a workflow, those of workflows that it calls instead of the calls.
    fn jobs(&self, path: &str, caller_holds: &[String], caller_if: &[String]) -> Vec<Job> {
        let mut jobs = Vec::new();
        let name = path.trim_start_matches(WORKFLOWS).trim_end_matches(".yml");
        for (job, yaml) in self.yaml(path)["jobs"].as_object().into_iter().flatten() {
            let holds = match &yaml["permissions"] {
                Value::Null => caller_holds.to_vec(),
                permissions => held(permissions),
            };
            let conditions = [caller_if, &condition(yaml)].concat();
            if let Some(called) = yaml["uses"].as_str() {
                let path = own(called).unwrap_or_else(|| panic!("{path}: {called} is not ours"));
                jobs.extend(self.jobs(&path, &holds, &conditions));
            }
            let mut steps = Vec::new();
            self.steps(&yaml["steps"], &conditions, &mut steps);
            jobs.push(Job {
                workflow: name.to_owned(),
                name: job.clone(),
                yaml: yaml.clone(),
                held: holds,
                conditions,
                steps,
            });
        }
        jobs
    }

    /// Steps, and after each composite's the steps in it.
    fn steps(&self, list: &Value, conditions: &[String], into: &mut Vec<Step>) {
        for yaml in list.as_array().into_iter().flatten() {
            let conditions = [conditions, &condition(yaml)].concat();
            into.push(Step {
                yaml: yaml.clone(),
                conditions: conditions.clone(),
            });
            if let Some(path) = yaml["uses"].as_str().and_then(own) {
                self.steps(&self.yaml(&path)["runs"]["steps"], &conditions, into);
            }
        }
    }
}

fn condition(yaml: &Value) -> Vec<String> {
    yaml["if"].as_str().map(str::to_owned).into_iter().collect()
}

/// The file of something of this repository.
fn own(used: &str) -> Option<String> {
    let path = used.strip_prefix("$/")?;
    Some(match path {
        "" => "action.yml".to_owned(),
        workflow if workflow.ends_with(".yml") => workflow.to_owned(),
        action => format!("{action}/action.yml"),
    })
}

/// Whether one of the conditions is false unless the term is true.
fn demand(conditions: &[String], term: &str) -> bool {
    conditions.iter().any(|condition| {
        let bare = condition.trim_start_matches("${{").trim_end_matches("}}");
        !bare.contains("||") && bare.split("&&").any(|part| part.trim() == term)
    })
}

/// How a workflow begins.
struct Started {
    by_pull_requests: bool,
    by_others: bool,
    only_called: bool,
}

impl Started {
    fn faults(&self, job: &Job) -> Vec<String> {
        let mut faults = Vec::new();
        let mut say = |what: String| faults.push(format!("job {}/{} {what}", job.workflow, job.name));
        let writes = job.held.iter().any(|one| one.ends_with(": write"));
        if writes && self.by_pull_requests && !demand(&job.conditions, PUSHED) {
            say("may write in a run of a pull request".into());
        }
        if writes && !(job.yaml["container"].is_null() && job.yaml["services"].is_null()) {
            say("may write, and runs in an image".into());
        }
        let known = CONDITIONS
            .iter()
            .find(|(of, name, _)| *of == job.workflow && *name == job.name);
        if known.is_some_and(|(_, _, text)| job.yaml["if"] != *text) {
            say(format!("runs if {}, which CONDITIONS does not list", job.yaml["if"]));
        }
        for Step { yaml, conditions } in &job.steps {
            let used = yaml["uses"].as_str().unwrap_or_default();
            let with = |name: &str| !yaml["with"][name].is_null();
            let cached = used.contains("cache") || with("cache") || with("cache-dependency-path");
            // What a second stage builds is cached by its own commit alone.
            let by_commit = yaml["with"]["key"]
                .as_str()
                .is_some_and(|key| key.contains("${{ github.sha }}"));
            let loosely = self.by_others && (!by_commit || with("restore-keys"));
            if cached && (writes || loosely || UNCACHED.contains(&job.workflow.as_str())) {
                say(format!("comes to a cache by {used}"));
            }
            if writes && (with("ref") || with("repository")) {
                say(format!(
                    "may write, and takes something else than its own commit by {used}"
                ));
            }
            // An artifact of the same run; and where the token only reads, a build of the default branch.
            let of_this_run = used.starts_with("actions/download-artifact@")
                && !["run-id", "github-token", "repository"].iter().any(|name| with(name));
            let builds = ["actions/checkout@", "actions/cache/", "actions/upload-artifact@"];
            let builds =
                !writes && builds.iter().any(|start| used.starts_with(start)) && !with("ref") && !with("repository");
            if self.by_others && !used.is_empty() && !used.starts_with("$/") && !of_this_run && !builds {
                say(format!("comes to {used} in the second stage"));
            }
            let run = yaml["run"].as_str().unwrap_or_default();
            let known = BESIDE_A_WRITE.iter().any(|start| run.starts_with(start))
                && !run.contains([';', '&', '|', '`', '<', '>', '(']);
            if writes && !run.is_empty() && !known {
                say(format!(
                    "may write, and runs `{run}`, which BESIDE_A_WRITE does not list"
                ));
            }
            if writes && !used.is_empty() && !USED_BESIDE_A_WRITE.iter().any(|start| used.starts_with(start)) {
                say(format!(
                    "may write, and uses {used}, which USED_BESIDE_A_WRITE does not list"
                ));
            }
            if writes && !yaml["shell"].is_null() && yaml["shell"] != "bash" {
                say(format!("may write, and its shell is {}", yaml["shell"]));
            }
            let publishes = run.contains("scripts/publish.sh")
                || yaml["with"]["name"] == "bench-history" && used.contains("upload");
            if publishes && !self.only_called && !demand(conditions, PUSHED) {
                say("publishes what was not pushed".into());
            }
            if run.contains("release-publish.sh") && !job.yaml["environment"].is_string() {
                say("releases without an environment".into());
            }
        }
        faults
    }
}

/// A download that goes into a shell or an interpreter.
static PIPED: LazyLock<Regex> = LazyLock::new(|| {
    let shell = r"(sudo\s+(-\S+\s+)*)?(env\s+)?(\S*/)?((ba|da|z|k)?sh|python3?|perl|node|ruby)\b";
    Regex::new(&format!(r"\b(curl|wget)\b.*\|\s*{shell}")).unwrap()
});
/// A download whose text a shell runs.
static INSERTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(\b(ba|da|z|k)?sh|\bsource|\beval|^\s*\.)\s.*(<\(|\$\(|`)\s*(curl|wget)\b").unwrap());

/// What is wrong with a script, or with a file that calls scripts.
fn script_faults(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let joined = text.replace("\\\n", " ").replace("|\n", "| ");
    for line in joined.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let mut say = |what: &str| faults.push(format!("{what}: {line}"));
        if PIPED.is_match(line) || INSERTED.is_match(line) {
            say("is downloaded and run unseen");
        }
        if line.contains("cargo install ") && !line.contains("--locked") || line.contains("npm install") {
            say("is installed at no one version");
        }
        if line.contains("pip install") && !line.contains("--require-hashes") {
            say("is installed without checksums");
        }
    }
    let measures = [".github/actions/measure/measure.sh", ".github/actions/judge/judge.sh"].contains(&path);
    if measures {
        let main = text
            .split_once("\nmain() {\n")
            .map(|(_, main)| main)
            .unwrap_or_default();
        let begun = ["packages", "wirebench --root"]
            .iter()
            .filter_map(|word| main.find(word))
            .min();
        let dropped = main.find("\n  unset GITHUB_TOKEN\n");
        if dropped.is_none() || dropped > begun {
            faults.push("starts what may be a stranger's before the token is dropped".into());
        }
    }
    if path == ".github/actions/measure/measure.sh" {
        let bare = |line: &&str| {
            line.contains("wirebench --root") && !line.contains("stranger wirebench --root") && !line.starts_with('#')
        };
        faults.extend(
            text.lines()
                .filter(bare)
                .map(|line| format!("starts a stranger's with all of ours: {line}")),
        );
    }
    faults
}
