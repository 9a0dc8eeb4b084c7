//! A program that looks like a server: how it is built and started, and how it gets its port.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::files::pattern;
use crate::port_settings::PortSetting;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::Program as Started;

/// A program that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Program {
    /// Its name in `wirebench.toml`.
    pub(super) name: String,
    /// Where it was found, as text.
    pub(super) about: String,
    /// The protocols that its sources serve: HTTP/1.1, gRPC.
    pub(super) protocols: Vec<Protocol>,
    /// How it is started: a package of the Cargo workspace at the top, or a command.
    pub(super) started: Started,
    /// The command that builds it.
    pub(super) build: Option<Vec<String>>,
    /// The folder that it is started in; `None` for the examined one.
    pub(super) folder: Option<String>,
    /// The command before each start that brings its database up to date.
    pub(super) migration: Option<Vec<String>>,
    /// Its environment, beside what tells it its port.
    pub(super) env: BTreeMap<String, String>,
    /// True if it is the only server of its project: once it is declared, the others of that project are not tried.
    pub(super) alone: bool,
    /// True if it is declared only if it serves when it is started.
    pub(super) must_serve: bool,
    /// How it is told its port, as its recipe or its sources say; `None` if nothing was found.
    pub(super) port: Option<PortSetting>,
    /// Its source files, the closest to its start first.
    pub(super) sources: Vec<String>,
    /// The name that the action `toolchains` has for its language; empty for one whose tools every runner has.
    pub(super) language: String,
    /// The folder of its manifest: `""` or ending in `/`; `../` and so on if it lies above the examined folder.
    pub(super) manifest: String,
}

/// A server that several programs may be tries for: the language, the folder of the manifest, and the file, which is empty for the
/// only server of a project.
pub(super) type ServerKey = (String, String, String);

impl Program {
    /// The server that this program is a try for.
    pub(super) fn key(&self) -> ServerKey {
        let file = self.sources.first().filter(|_| !self.alone).cloned();
        (self.language.clone(), self.manifest.clone(), file.unwrap_or_default())
    }

    /// True if its main file lies in a folder of this name or path.
    pub(super) fn is_in_folder(&self, path: &str) -> bool {
        let folder = format!("/{}/", path.trim_matches('/'));
        (self.sources.first()).is_some_and(|file| format!("/{file}").contains(&folder))
    }

    /// True if its server, or the only server of its project, is among these.
    pub(super) fn is_covered(&self, servers: &BTreeSet<ServerKey>) -> bool {
        let (language, manifest, _) = self.key();
        servers.contains(&self.key()) || servers.contains(&(language, manifest, String::new()))
    }
}

/// The protocols of a program that serves HTTP, gRPC or both.
pub(super) fn spoken(http: bool, grpc: bool) -> Vec<Protocol> {
    let http = http.then_some(Protocol::Http);
    http.into_iter().chain(grpc.then_some(Protocol::Grpc)).collect()
}

/// Texts as an argument list.
pub(super) fn argv(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The words of a name such as `GetWeather` or `get_weather`.
pub(super) static WORD: LazyLock<Regex> = LazyLock::new(|| pattern("[A-Z]+[a-z0-9]*|[a-z0-9]+"));

/// A text as a name: lower-case letters, digits and single hyphens.
pub(super) fn slug(text: &str) -> String {
    const LONGEST: usize = 40;
    let words: Vec<&str> = WORD.find_iter(text).map(|word| word.as_str()).collect();
    let mut slug = words.join("-").to_ascii_lowercase();
    slug.truncate(LONGEST);
    slug.trim_end_matches('-').to_owned()
}

/// The name of an operation of HTTP.
pub(super) fn name_of_path(path: &str) -> String {
    Some(slug(path))
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "home".into())
}

/// The last part of a folder's or a module's path that is no version and none of the usual names, as a name; `None` if there is none.
pub(super) fn last_name(path: &str, usual: &[String]) -> Option<String> {
    let is_version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit());
    let mut parts = path
        .rsplit('/')
        .filter(|part| !part.strip_prefix('v').is_some_and(is_version));
    parts.find_map(|part| Some(slug(part)).filter(|name| !name.is_empty() && !usual.contains(name)))
}

/// A name that is not taken yet, with a number where needed.
pub(super) fn unique_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let name = if name.is_empty() { "server" } else { name };
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| taken.insert(name.clone()));
    free.expect("numbers do not end")
}

/// Gives every program a name of its own, and fills it into its commands.
pub(super) fn make_names_unique(programs: &mut [Program]) {
    let mut taken = BTreeSet::new();
    let (mut tries, mut same_as_only) = (BTreeMap::new(), BTreeSet::new());
    for program in programs {
        // Several tries for one server have one name; a project's only server may be the same as the first of its others.
        let key = (program.key(), program.name.clone());
        let (language, manifest, _) = program.key();
        let only = ((language, manifest, String::new()), program.name.clone());
        let same = || {
            tries
                .get(&only)
                .filter(|_| program.alone || same_as_only.insert(only.clone()))
        };
        let known = tries.get(&key).or_else(same).cloned();
        let name = known.unwrap_or_else(|| unique_name(&program.name, &mut taken));
        tries.insert(key, name.clone());
        program.name = name;
        if let Started::Command(command) = &mut program.started {
            for word in program.build.iter_mut().flatten().chain(command) {
                *word = word.replace("{name}", &program.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_for_the_only_server_of_a_project_has_its_name() {
        let of = |alone, file: &str| Program {
            name: "api".into(),
            alone,
            sources: vec![file.into()],
            ..Program::default()
        };
        let mut programs = [of(true, "Procfile"), of(false, "main.go"), of(false, "cmd/api.go")];
        make_names_unique(&mut programs);
        assert_eq!(programs.map(|one| one.name), ["api", "api", "api-2"]);
        let mut programs = [of(false, "main.go"), of(false, "cmd/api.go")];
        make_names_unique(&mut programs);
        assert_eq!(programs.map(|one| one.name), ["api", "api-2"]);
    }

    #[test]
    fn names_are_made_of_whatever_there_is() {
        assert_eq!(slug("GetCurrentWeather"), "get-current-weather");
        assert_eq!(slug("/api/v1/Users?x=y"), "api-v1-users-x-y");
        assert_eq!(slug("---é---"), "");
        assert_eq!(
            last_name("github.com/a/My_Server/v2", &[]).as_deref(),
            Some("my-server")
        );
        assert_eq!(
            last_name("emoji-svc/cmd", &["cmd".to_owned()]).as_deref(),
            Some("emoji-svc")
        );
        assert_eq!(last_name("", &[]), None);
    }
}
