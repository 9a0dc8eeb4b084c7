//! What the job that measures has to set up, from the evidence in the repository: toolchains, services,
//! environment variables, submodules, and the paths whose changes matter.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::compose::{self, Composed, Service};
use crate::files::{Files, pattern, word};
use crate::known::KNOWN;
use crate::program::Program;
use crate::rust::Manifest;

/// What the job has to set up. Every text is without indentation, one line of YAML each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// `LANGUAGE:FOLDER` as the action `toolchains` takes it, the folder from the repository's top.
    pub(super) toolchains: Vec<String>,
    /// `services:` of the job.
    pub(super) services: Vec<String>,
    /// `env:` of the job.
    pub(super) env: Vec<String>,
    /// True if the repository has submodules.
    pub(super) submodules: bool,
    /// Globs of the files whose changes start a measurement; none for every file.
    pub(super) paths: Vec<String>,
}

/// The needs of these programs; `config` is the examined folder from the repository's top, `.` for the top.
pub(super) fn of(files: &Files, programs: &[Program], config: &str) -> Needs {
    let composed = compose::composed(files);
    let set_up = programs.iter().filter(|program| !program.language.is_empty());
    let toolchains = set_up.map(|program| {
        let folder = below_top(config, &program.manifest);
        format!("{}:{}", program.language, word(&folder))
    });
    let toolchains: BTreeSet<String> = toolchains.filter(|one| !one.contains(char::is_whitespace)).collect();
    let services = composed
        .services
        .iter()
        .flat_map(|one| service(one, &composed.examples));
    Needs {
        toolchains: toolchains.into_iter().collect(),
        services: services.collect(),
        env: environment(files, programs, &composed),
        submodules: files.has(".gitmodules") || files.above(".gitmodules").is_some(),
        paths: paths(files, programs, &composed, config),
    }
}

/// A path below the examined folder, from the repository's top; it may begin with `../`.
fn below_top(config: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in config.split('/').chain(path.split('/')) {
        match part {
            ".." => parts.truncate(parts.len().saturating_sub(1)),
            "" | "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A text in double quotes: JSON's strings are YAML's.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The manifests that compile .proto files with the program protoc: build dependencies of Cargo packages, without a
/// crate that brings protoc along.
pub(super) fn protoc(files: &Files) -> Option<String> {
    let compiles = |(folder, text): (&str, &str)| {
        let needed = toml::from_str::<Manifest>(text).ok()?.build_dependencies;
        let has = |names: &[String]| names.iter().any(|name| needed.contains_key(name));
        (has(&KNOWN.crates.compile_proto) && !has(&KNOWN.crates.bring_protoc)).then(|| format!("{folder}Cargo.toml"))
    };
    files.named("Cargo.toml").find_map(compiles)
}

/// A value with a repository variable for each variable of the compose file, and the value that forks get.
fn with_variables(value: &str, examples: &BTreeMap<String, String>) -> String {
    compose::replaced(value, |name, default| {
        expression(name, &compose::fallback(name, default, examples))
    })
}

/// `${{ vars.NAME || 'fallback' }}`.
fn expression(name: &str, fallback: &str) -> String {
    format!("${{{{ vars.{name} || '{}' }}}}", fallback.replace('\'', "''"))
}

/// One entry of `services:`.
fn service(service: &Service, examples: &BTreeMap<String, String>) -> Vec<String> {
    let (name, file) = (quoted(&service.name), &service.file);
    let image = quoted(&service.image);
    let mut lines = vec![
        format!("{name}: # {file}"),
        format!("  image: {image} # zizmor: ignore[unpinned-images] as {file} has it"),
    ];
    if !service.env.is_empty() {
        lines.push("  env:".into());
        let value = |value| quoted(&with_variables(value, examples));
        lines.extend((service.env.iter()).map(|(name, text)| format!("    {}: {}", quoted(name), value(text))));
    }
    let ports: Vec<String> = service.ports.iter().map(|port| quoted(port)).collect();
    lines.push(format!("  ports: [{}]", ports.join(", ")));
    if !service.health.is_empty() {
        let command = service.health;
        let options =
            format!("--health-cmd \"{command}\" --health-interval 2s --health-timeout 5s --health-retries 30");
        lines.push(format!("  options: {}", quoted(&options)));
    }
    lines
}

/// Variables that the programs read and a compose file or an example sets; hosts of services become localhost.
fn environment(files: &Files, programs: &[Program], composed: &Composed) -> Vec<String> {
    let sources = programs.iter().flat_map(|program| &program.sources);
    let texts: Vec<&str> = sources.filter_map(|source| files.text(source)).collect();
    let reads = |name: &str| texts.iter().any(|text| text.contains(name));
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let set = values(composed).into_iter();
    set.filter(|(name, _)| reads(name))
        .map(|(name, value)| (expression(&name, &value), name))
        .filter(|(value, name)| is_name(name) && value.matches("${{").count() == 1 && value.matches("}}").count() == 1)
        .map(|(value, name)| format!("{name}: {}", quoted(&value)))
        .collect()
}

/// Every variable that an example or a compose file sets, except those with which wirebench itself tells a server where to listen.
fn values(composed: &Composed) -> BTreeMap<String, String> {
    let own = |name: &str| {
        ["PORT", "HOST"].contains(&name) || ["LISTEN", "BIND", "URLS"].iter().any(|word| name.contains(word))
    };
    let examples = &composed.examples;
    let of_examples = examples.iter().filter(|(_, value)| !value.is_empty());
    let filled = |value| local(&compose::filled(value, examples), &composed.services);
    let of_examples = of_examples.map(|(name, value)| (name, filled(value)));
    let of_compose = composed.env.iter().map(|(name, value)| (name, filled(value)));
    let all = of_examples.chain(of_compose).filter(|(name, _)| !own(name));
    all.map(|(name, value)| (name.clone(), value)).collect()
}

/// The same of a repository: the values that a program gets which ends and names a variable.
pub(super) fn known_values(files: &Files) -> BTreeMap<String, String> {
    values(&compose::composed(files))
}

/// A value with the hosts of services replaced by localhost and the ports that they are published at.
fn local(value: &str, services: &[Service]) -> String {
    static HOST: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?<before>^|[@/,])(?<host>[\w.-]+)(?<port>:\d+)?(?<after>$|[/,?])"));
    let one = |found: &regex::Captures| {
        let is_host = |one: &&Service| found["host"] == one.name || found["host"] == one.container;
        let Some(service) = services.iter().find(is_host) else {
            return found[0].to_owned();
        };
        let inside = found.name("port").map_or("", |port| port.as_str());
        let published = |port: &String| Some(format!(":{}", port.strip_suffix(inside)?));
        let published = service.ports.iter().find_map(published).filter(|_| !inside.is_empty());
        let port = published.unwrap_or_else(|| inside.to_owned());
        format!("{}localhost{port}{}", &found["before"], &found["after"])
    };
    HOST.replace_all(value, one).into_owned()
}

/// The examined folder, the folders of manifests above it, and the workflow; empty if one of them is the repository's top.
fn paths(files: &Files, programs: &[Program], composed: &Composed, config: &str) -> Vec<String> {
    let manifests = programs.iter().map(|program| program.manifest.as_str());
    let above = manifests.filter(|manifest| manifest.starts_with("../"));
    let folders: BTreeSet<String> = above.chain([""]).map(|folder| below_top(config, folder)).collect();
    if folders.contains("") {
        return Vec::new();
    }
    let mut paths: Vec<String> = folders.iter().map(|folder| format!("{folder}/**")).collect();
    let composed = composed.services.iter().map(|service| below_top(config, &service.file));
    paths.extend(composed.collect::<BTreeSet<_>>());
    if files.above(".gitmodules").is_some() {
        paths.push(".gitmodules".into());
    }
    paths.push(".github/workflows/bench.yml".into());
    paths
}
