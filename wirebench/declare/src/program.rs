//! What servers and tiers have in common: a program, its placeholders, the address it listens on and the sign that it is
//! ready.

use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};

use crate::args::Arg;
use crate::read::{DeclareError, Place};
use crate::span::Span;

/// Placeholders that a server's arguments and environment may name.
pub const PLACEHOLDERS: [&str; 6] = ["address", "host", "port", "threads", "tls_cert", "tls_key"];

/// Where servers listen unless they say otherwise.
pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// How long a program may take to get ready unless it says otherwise.
pub(super) const DEFAULT_READY_TIMEOUT: Span = Span(std::time::Duration::from_secs(10));

/// Where a server's program comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// A package of this Cargo workspace, built with the release profile.
    Package(String),
    /// Any command; the first word is the program, looked up on PATH or relative to the project.
    Command(Vec<String>),
}

impl Default for Program {
    fn default() -> Self {
        Self::Command(Vec::new())
    }
}

impl Program {
    /// Where a program comes from: either a package, or a command, which may have a `build`.
    ///
    /// # Errors
    /// When other keys are set.
    pub(super) fn check(
        place: &Place,
        package: Option<String>,
        command: Option<Vec<String>>,
        build: Option<&Vec<String>>,
    ) -> Result<Self, DeclareError> {
        let (key, message) = match (package, command, build) {
            (Some(_), None, Some(_)) => (
                "build",
                "a package is built by cargo; expected build only beside command",
            ),
            (Some(package), None, None) => return Ok(Self::Package(package)),
            (None, Some(command), Some(words)) if !command.is_empty() && words.first().is_none_or(String::is_empty) => {
                (
                    "build",
                    "expected a program and its arguments, such as [\"npm\", \"ci\"]",
                )
            }
            (None, Some(command), _) if !command.is_empty() => return Ok(Self::Command(command)),
            _ => ("package", "expected exactly one of package and command"),
        };
        Err(place.wrong(key, message))
    }
}

/// The sign that a server is ready for requests.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ready {
    /// A GET of this path gets a response with a 2xx status.
    Http(String),
    /// The gRPC health service returns SERVING for this service ("" = the whole server).
    GrpcHealth(String),
    /// The port takes connections, and does not close them at once.
    Tcp(bool),
    /// A database answers in its own protocol that it has started.
    Database(Database),
    /// No sign: benchmarks have no server.
    #[serde(skip_deserializing)]
    AtOnce,
}

/// A database whose protocol says whether it has started: it takes connections earlier than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// Postgres, and databases that speak its protocol.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// Redis and Valkey.
    Redis,
}

/// Programs that start an image, which any of their arguments may name.
const CONTAINER_TOOLS: [&str; 3] = ["docker", "podman", "nerdctl"];

impl Database {
    /// The database that a command line starts, as `postgres -D data`, `sh postgres.sh` and `docker run postgres:16` do.
    pub fn started_by<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let program = bare_name(words.next()?);
        // Other words may be a user or a database that a program connects to.
        let most = if CONTAINER_TOOLS.contains(&program) {
            usize::MAX
        } else {
            1
        };
        Self::named(program).or_else(|| words.take(most).find_map(|word| Self::named(bare_name(word))))
    }

    /// The database of which this is the name of a program or an image.
    fn named(name: &str) -> Option<Self> {
        match name {
            "postgres" | "postgresql" | "postgis" | "pgvector" | "timescaledb" => Some(Self::Postgres),
            "mysql" | "mysqld" | "mariadb" | "mariadbd" => Some(Self::Mysql),
            "redis" | "redis-server" | "valkey" | "valkey-server" => Some(Self::Redis),
            _ => None,
        }
    }
}

/// The name in a path or an image: `postgres` of `/usr/bin/postgres`, `./postgres.sh` and `docker.io/library/postgres:16`.
fn bare_name(word: &str) -> &str {
    let last = word.rsplit('/').next().unwrap_or(word);
    let name = last.split([':', '@']).next().unwrap_or(last);
    name.strip_suffix(".sh").unwrap_or(name)
}

impl Ready {
    /// The sign that a tier is ready: a database that is declared with `tcp` speaks its own protocol.
    pub(super) fn of_tier(self, program: &Program, args: &[Arg]) -> Self {
        let Program::Command(command) = program else {
            return self;
        };
        let words = command.iter().map(String::as_str);
        let words = words.chain(args.iter().filter_map(Arg::one));
        match (&self, Database::started_by(words)) {
            (Self::Tcp(_), Some(database)) => Self::Database(database),
            _ => self,
        }
    }

    /// Checks that it is not `tcp = false`, which `key` names.
    ///
    /// # Errors
    /// When it is.
    pub(super) fn check(&self, place: &Place, key: &str) -> Result<(), DeclareError> {
        place.refuse_if(matches!(self, Self::Tcp(false)), key, "expected true")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_known_by_its_program_or_image() {
        for (line, expected) in [
            ("/usr/lib/postgresql/17/bin/postgres -D .", Some(Database::Postgres)),
            ("sh fixtures/postgres.sh", Some(Database::Postgres)),
            (
                "docker run --rm -p 5432:5432 docker.io/library/postgres:16-alpine",
                Some(Database::Postgres),
            ),
            ("podman run mariadb@sha256:00", Some(Database::Mysql)),
            ("redis-server --port 1", Some(Database::Redis)),
            // What a program connects to says nothing about its own protocol.
            ("./shop --quiet postgres --url postgres://127.0.0.1/postgres", None),
            ("postgrest postgres.conf", None),
            ("", None),
        ] {
            assert_eq!(Database::started_by(line.split_whitespace()), expected, "{line}");
        }
    }
}
