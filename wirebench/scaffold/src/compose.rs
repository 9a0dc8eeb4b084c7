//! What compose files say: the services that a server needs, and the environment that the server gets.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use crate::files::{Files, pattern};
use crate::known::KNOWN;

/// The compose files that are also read from parent folders.
pub(super) const NAMES: [&str; 4] = [
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
];

/// A service of a compose file that is started from an image of a known kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Service {
    /// Its name in the file, which is its host's name there.
    pub(super) name: String,
    /// The name of its container, which is another name of that host.
    pub(super) container: String,
    /// The file.
    pub(super) file: String,
    pub(super) image: String,
    /// Environment variables as the file has them, with `${NAME}`.
    pub(super) env: BTreeMap<String, String>,
    /// Ports as `host:container`.
    pub(super) ports: Vec<String>,
    /// Succeeds once it is ready; empty if unknown.
    pub(super) health: &'static str,
}

/// What compose files say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Composed {
    pub(super) services: Vec<Service>,
    /// The file and the image of every service that is started from an image.
    pub(super) images: Vec<(String, String)>,
    /// The environment of services that are built here, or are none of a known kind.
    pub(super) env: BTreeMap<String, String>,
    /// The variables that the files with an environment set.
    pub(super) examples: BTreeMap<String, String>,
}

/// Names of compose files, also of those for development.
pub(super) static NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?:^|/)(?:docker-)?compose(?:(?:[.-](?:dev|development|local|override))?|/[\w-]+)\.ya?ml$")
});

/// Every compose file below the folder, and the nearest ones above it.
fn texts(files: &Files) -> Vec<(String, &str)> {
    let below = files.all().filter(|(path, _)| NAME.is_match(path));
    let above = NAMES.into_iter().filter_map(|name| Some((files.above(name)?, name)));
    let above = above.map(|((folder, text), name)| (format!("{folder}{name}"), text));
    below.map(|(path, text)| (path.to_owned(), text)).chain(above).collect()
}

/// Services of known kinds, each name once, and the environment of the others.
pub(super) fn composed(files: &Files) -> Composed {
    let mut all = Composed {
        examples: files.examples(),
        ..Composed::default()
    };
    for (file, text) in texts(files) {
        // A file that is not YAML has none.
        let read: Value = serde_saphyr::from_str(text).unwrap_or_default();
        for (name, read) in read["services"].as_object().into_iter().flatten() {
            let env = pairs(&read["environment"]);
            let image = read["image"].as_str().filter(|_| read["build"].is_null());
            let Some(image) = image.map(|image| filled(image, &all.examples)) else {
                all.env.extend(env);
                continue;
            };
            all.images.push((file.clone(), image.clone()));
            let kind = kind_of(&image);
            let Some((_, port, health)) = KNOWN.stores.iter().find(|(known, ..)| known == kind) else {
                // Perhaps a server of this repository, as it was published.
                all.env.extend(env);
                continue;
            };
            if all.services.iter().any(|one| one.name == *name) {
                continue;
            }
            all.services.push(Service {
                ports: ports(&read["ports"], *port),
                container: plain(&read["container_name"]),
                file: file.clone(),
                health,
                name: name.clone(),
                image,
                env,
            });
        }
    }
    all
}

/// The last part of an image's name: `postgres` of `docker.io/library/postgres:16@sha256:…`.
fn kind_of(image: &str) -> &str {
    let last = image.rsplit('/').next().unwrap_or(image);
    last.split(['@', ':']).next().unwrap_or(last)
}

/// A value as text.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A table or a list of `NAME=value`.
fn pairs(value: &Value) -> BTreeMap<String, String> {
    if let Some(table) = value.as_object() {
        return table.iter().map(|(name, value)| (name.clone(), plain(value))).collect();
    }
    let listed = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let pairs = listed.filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The published ports; without any, the port of its kind.
fn ports(value: &Value, usual: u16) -> Vec<String> {
    let one = |port: &Value| -> Option<String> {
        if let Some(table) = port.as_object() {
            let target = table.get("target")?.as_u64()?;
            let published = table.get("published").map_or(target.to_string(), plain);
            return Some(format!("{published}:{target}"));
        }
        let text = filled(&plain(port), &BTreeMap::new());
        let mut parts = text.rsplit(':');
        let inside = parts.next()?.split('/').next()?.to_owned();
        let outside = parts.next().unwrap_or(&inside).to_owned();
        let is_number = |text: &str| text.parse::<u16>().is_ok();
        (is_number(&inside) && is_number(&outside)).then(|| format!("{outside}:{inside}"))
    };
    let all: Vec<String> = value.as_array().into_iter().flatten().filter_map(one).collect();
    if all.is_empty() {
        vec![format!("{usual}:{usual}")]
    } else {
        all
    }
}

static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\$\$|\$\{(?<name>\w+)(?::?[-](?<default>[^}]*)|:?[?+][^}]*)?\}|\$(?<plain>[A-Za-z_]\w*)")
});

/// The variables that a value names, each replaced by `with` of its name and default.
pub(super) fn replaced(value: &str, with: impl Fn(&str, Option<&str>) -> String) -> String {
    let one = |found: &Captures| {
        let name = found.name("name").or(found.name("plain"));
        let default = found.name("default").map(|text| text.as_str());
        name.map_or_else(|| "$".to_owned(), |name| with(name.as_str(), default))
    };
    VARIABLE.replace_all(value, one).into_owned()
}

/// A value with its variables replaced by their defaults, else by the examples, else by a made-up word.
pub(super) fn filled(value: &str, examples: &BTreeMap<String, String>) -> String {
    replaced(value, |name, default| fallback(name, default, examples))
}

/// The value of a variable that is not set.
pub(super) fn fallback(name: &str, default: Option<&str>, examples: &BTreeMap<String, String>) -> String {
    const MADE_UP: &str = "wirebench";
    let found = default.or(examples.get(name).map(String::as_str));
    found.filter(|text| !text.is_empty()).unwrap_or(MADE_UP).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPOSE: &str = "services:\n  db:\n    image: \"postgres:16\"   # the store\n    environment:\n      POSTGRES_PASSWORD: ${DB_PASSWORD:-secret}\n    ports: [\"127.0.0.1:5433:5432\"]\n  cache:\n    image: docker.io/library/redis:7\n  proxy:\n    image: traefik:3\n  api:\n    image: example/shop-api:2\n    environment: { WEB_HOST: \"web:80\" }\n  web:\n    build: .\n    environment:\n      - DATABASE_URL=postgres://postgres:${DB_PASSWORD:-secret}@db:5432/shop\n";

    #[test]
    fn images_are_named_with_their_file() {
        let found = composed(&Files::of(&[("deploy/compose.yml", COMPOSE)])).images;
        let image = |name: &str| ("deploy/compose.yml".to_owned(), name.to_owned());
        assert_eq!(
            found,
            [
                image("example/shop-api:2"),
                image("docker.io/library/redis:7"),
                image("postgres:16"),
                image("traefik:3")
            ]
        );
    }

    #[test]
    fn files_for_development_are_read_as_well() {
        let more = "services:\n  web:\n    environment: [DB_NAME=shop]\n";
        let read = |name: &str| composed(&Files::of(&[("compose.yml", COMPOSE), (name, more)])).env;
        for name in [
            "docker-compose.development.yml",
            "compose.override.yaml",
            "api/docker-compose-dev.yml",
            "contrib/docker-compose/basic.yml",
        ] {
            assert_eq!(read(name).get("DB_NAME").map(String::as_str), Some("shop"), "{name}");
        }
        assert_eq!(read("docker-compose.test.yml").get("DB_NAME"), None);
    }

    #[test]
    fn stores_are_services_and_what_is_built_tells_its_environment() {
        let found = composed(&Files::of(&[("compose.yml", COMPOSE)]));
        let told: Vec<_> = found
            .services
            .iter()
            .map(|one| (one.name.as_str(), one.image.as_str(), one.ports.join(" "), one.health))
            .collect();
        assert_eq!(
            told,
            [
                (
                    "cache",
                    "docker.io/library/redis:7",
                    "6379:6379".to_owned(),
                    "redis-cli ping"
                ),
                ("db", "postgres:16", "5433:5432".to_owned(), "pg_isready"),
            ]
        );
        assert_eq!(
            filled(&found.env["DATABASE_URL"], &BTreeMap::new()),
            "postgres://postgres:secret@db:5432/shop"
        );
        assert_eq!(found.env["WEB_HOST"], "web:80");
    }

    #[test]
    fn a_variable_without_default_gets_the_examples_value() {
        let examples = [("A".to_owned(), "x".to_owned())].into();
        assert_eq!(
            filled("${A} $B $$ ${C:?must} ${D-d}", &examples),
            "x wirebench $ wirebench d"
        );
        assert_eq!(filled("${B:-}", &examples), "wirebench");
    }
}
