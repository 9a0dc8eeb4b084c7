//! A server: how a program is built and started, when it is ready, and its request for each operation.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Component, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

use crate::args::{Arg, plain, plain_args};
use crate::found::is_name;
use crate::operation;
pub use crate::operation::{BenchOperation, GrpcOperation, HttpOperation, Operation, ProtoFile, VARIABLE};
use crate::profiles::Profiles;
use crate::program::DEFAULT_READY_TIMEOUT;
pub use crate::program::{Database, LOOPBACK, PLACEHOLDERS, Program, Ready};
use crate::protocol::Protocol;
use crate::read::{DeclareError, Place};
use crate::seed::{self, Seed};
use crate::span::Span;
use crate::tier::{self, Part};

/// A program under test, as `servers/<name>/server.toml` or `[servers.<name>]` of `wirebench.toml` declares it.
#[derive(Debug, Clone)]
pub struct Server {
    /// The folder's or the table's name.
    pub name: String,
    /// A description of one line.
    pub about: String,
    /// The profiles it takes part in.
    pub profiles: Profiles,
    /// The protocols it speaks.
    pub protocols: Vec<Protocol>,
    /// The process that is loaded.
    pub front: Part,
    /// For TLS: a PEM file with the certificate that it shows, or with its issuer, relative to the project; `None` for the
    /// certificate that each run makes.
    pub ca: Option<PathBuf>,
    /// The processes behind it, in the order in which they are started, all before it.
    pub tiers: Vec<Part>,
    /// Commands that run one after the other once its tiers are ready and before it: a migration, a seed.
    pub before: Vec<Before>,
    /// Requests that are sent once it is ready and before anything else.
    pub seed: Vec<Seed>,
    /// Its operations by name.
    pub operations: BTreeMap<String, Operation>,
}

/// A command that runs before a server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// The program and its arguments, with a server's placeholders except those of its port.
    #[serde(deserialize_with = "plain_args")]
    pub command: Vec<Arg>,
    /// True if it runs once on each side, for tiers that are kept, and not at every start.
    #[serde(default)]
    pub once: bool,
}

/// As it was written before there was `once`, so that digests stay.
impl Serialize for Before {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.once {
            ("once", &self.command).serialize(serializer)
        } else {
            self.command.serialize(serializer)
        }
    }
}

/// `127.0.0.1:8080`, `[::1]:8080`; the port may be a placeholder.
pub fn authority(host: IpAddr, port: &str) -> String {
    match host {
        IpAddr::V4(host) => format!("{host}:{port}"),
        IpAddr::V6(host) => format!("[{host}]:{port}"),
    }
}

impl Server {
    /// Checks a server and its configurations, as they are written at a place; each with its name, such as `http-tls`, the
    /// server first.
    ///
    /// # Errors
    /// When a value is impossible or contradicts another one, or the name of a configuration is not valid.
    pub(super) fn check_all(table: &Table, place: &Place, name: &str) -> Result<Vec<(String, Self)>, DeclareError> {
        let mut found = vec![(name.to_owned(), Self::check(table.clone(), place, name.to_owned())?)];
        for (key, own) in &table.configurations {
            let (name, path) = (format!("{name}-{key}"), format!("configurations.{key}"));
            let message = "the name may hold lower-case letters, digits and hyphens only";
            place.refuse_if(!is_name(&name) || key.is_empty(), &path, message)?;
            let server = Self::check(own.clone().over(table), &place.below(&path), name.clone())?;
            found.push((name, server));
        }
        Ok(found)
    }

    /// Checks the file at a place, without the configurations.
    ///
    /// # Errors
    /// When a value is impossible or contradicts another one.
    pub(super) fn check(table: Table, place: &Place, name: String) -> Result<Self, DeclareError> {
        let program = Program::check(place, table.package, table.command, table.build.as_ref())?;
        let benches = table.protocols == [Protocol::Process];
        let mixes = table.protocols.contains(&Protocol::Process) && !benches;
        let is_started = table.port.is_some() || !table.tiers.is_empty();
        let is_prepared = !table.before.is_empty() || !table.seed.is_empty();
        let message =
            "expected at least one of http, h2c, grpc, https, grpcs and grpc-web, or process alone for benchmarks";
        place.refuse_if(table.protocols.is_empty() || mixes, "protocols", message)?;
        let message = "process means benchmarks; port and tiers do not go with them";
        place.refuse_if(benches && is_started, "protocols", message)?;
        let message = "process means benchmarks; before and seed do not go with them";
        place.refuse_if(benches && is_prepared, "protocols", message)?;
        let folder = table.working_directory.clone().unwrap_or_default();
        let is_below = folder.components().all(|part| matches!(part, Component::Normal(_)));
        let shown = folder.display();
        let message = format!("expected a folder below the project's, such as \"api\", found \"{shown}\"");
        place.refuse_if(!is_below, "working_directory", message)?;
        let ready = check_ready(table.ready, benches, place)?;
        let host = table.host.unwrap_or(LOOPBACK);
        let message = format!("expected an address of this machine alone, such as \"::1\", found \"{host}\"");
        place.refuse_if(!host.is_loopback(), "host", message)?;
        let has_tls = table.protocols.iter().any(|protocol| protocol.has_tls());
        let message = "expected https or grpcs among the protocols; without TLS there is no certificate";
        place.refuse_if(table.ca.is_some() && !has_tls, "ca", message)?;
        let tiers = tier::check(table.tiers, place, &name)?;
        tier::known_placeholders(place, "args", &table.args, &tiers, &[])?;
        let keeps = tiers.iter().any(|tier| tier.keep);
        check_before(&table.before, place, &tiers, keeps)?;
        let seed = seed::check(table.seed, place, keeps)?;
        let operations = check_operations(table.operations, benches, place)?;
        let front = Part {
            server: name.clone(),
            tier: None,
            program,
            build: table.build,
            working_directory: table.working_directory,
            args: table.args,
            env: table.env,
            host,
            port: table.port,
            ready,
            ready_timeout: table.ready_timeout.unwrap_or(DEFAULT_READY_TIMEOUT),
            protocol: table.protocols[0],
            keep: false,
        };
        Ok(Self {
            name,
            about: table.about,
            profiles: table.profiles,
            protocols: table.protocols,
            front,
            ca: table.ca,
            tiers,
            before: table.before,
            seed,
            operations,
        })
    }

    /// Its processes in the order in which they are started, the front last.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.tiers.iter().chain([&self.front])
    }
}

/// Checks the sign that a server is ready, which benchmarks do not have.
fn check_ready(ready: Option<Ready>, benches: bool, place: &Place) -> Result<Ready, DeclareError> {
    let message = match (ready, benches) {
        (None, true) => return Ok(Ready::AtOnce),
        (Some(ready), false) => return ready.check(place, "ready.tcp").map(|()| ready),
        (None, false) => "expected one of http, grpc_health, database and tcp, found nothing",
        (Some(_), true) => "benchmarks have no server to wait for; leave it out",
    };
    Err(place.wrong("ready", message))
}

/// Checks each operation; either all or no operations are benchmarks.
fn check_operations(
    tables: BTreeMap<String, operation::Table>,
    benches: bool,
    place: &Place,
) -> Result<BTreeMap<String, Operation>, DeclareError> {
    let check = |(name, table): (String, operation::Table)| {
        let place = &place.below(&format!("operations.{name}"));
        let operation = table.check(place)?;
        let is_bench = matches!(operation, Operation::Bench(_));
        let message = "bench goes with protocols = [\"process\"], path and call with every other protocol";
        place.refuse_if(is_bench != benches, "request", message)?;
        Ok((name, operation))
    };
    tables.into_iter().map(check).collect()
}

/// Checks the commands before a server.
fn check_before(all: &[Before], place: &Place, tiers: &[Part], keeps: bool) -> Result<(), DeclareError> {
    for (index, Before { command, once }) in all.iter().enumerate() {
        let place = &place.below(&format!("before[{index}]"));
        let program = command.first().and_then(Arg::one);
        let has_program = program.is_some_and(|program| !program.is_empty());
        let message = "expected a program and its arguments, such as [\"./migrate\", \"up\"], before a server";
        place.refuse_if(!has_program, "command", message)?;
        tier::known_placeholders(place, "command", command, tiers, &[])?;
        let mut named = command.iter().flat_map(Arg::placeholders);
        let names_port = named.any(|word| word == "port" || word == "address");
        let message = "the server's port is not known yet; expected other placeholders";
        place.refuse_if(names_port, "command", message)?;
        place.refuse_if(*once && !keeps, "once", seed::ONCE)?;
    }
    Ok(())
}

/// A server as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    about: String,
    #[serde(default)]
    profiles: Profiles,
    protocols: Vec<Protocol>,
    package: Option<String>,
    command: Option<Vec<String>>,
    build: Option<Vec<String>>,
    working_directory: Option<PathBuf>,
    #[serde(default, deserialize_with = "plain_args")]
    args: Vec<Arg>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    host: Option<IpAddr>,
    port: Option<u16>,
    ca: Option<PathBuf>,
    ready: Option<Ready>,
    ready_timeout: Option<Span>,
    #[serde(default)]
    tiers: Vec<tier::Table>,
    #[serde(default)]
    before: Vec<Before>,
    #[serde(default)]
    seed: Vec<seed::Table>,
    operations: BTreeMap<String, operation::Table>,
    #[serde(default)]
    configurations: BTreeMap<String, Configuration>,
}

/// A configuration as it is written: the keys that replace the server's own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Configuration {
    about: String,
    profiles: Option<Profiles>,
    protocols: Option<Vec<Protocol>>,
    package: Option<String>,
    command: Option<Vec<String>>,
    build: Option<Vec<String>>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    ready: Option<Ready>,
    tiers: Option<Vec<tier::Table>>,
}

impl Configuration {
    /// The server's table with the keys of this configuration.
    fn over(self, server: &Table) -> Table {
        let server = server.clone();
        let has_program = self.package.is_some() || self.command.is_some();
        let (package, command, build) = if has_program {
            (self.package, self.command, self.build)
        } else {
            (server.package, server.command, self.build.or(server.build))
        };
        Table {
            about: self.about,
            profiles: self.profiles.unwrap_or(server.profiles),
            protocols: self.protocols.unwrap_or(server.protocols),
            package,
            command,
            build,
            args: self.args.map_or(server.args, plain),
            env: self.env.unwrap_or(server.env),
            ready: self.ready.or(server.ready),
            tiers: self.tiers.unwrap_or(server.tiers),
            configurations: BTreeMap::new(),
            ..server
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn checked(toml: &str) -> Result<Server, String> {
        let table: Table = toml::from_str(toml).map_err(|error| error.to_string())?;
        let place = Place::file(Path::new("server.toml"));
        Server::check(table, &place, "it".into()).map_err(|error| error.to_string())
    }

    const PROGRAM: &str = "about = \"x\"\ncommand = [\"x\"]\n";
    const BENCH: &str = "operations.a.request = { bench = \"user/encode\" }\n";
    const ASKED: &str = "operations.a.request = { path = \"/\" }\n";
    const PROCESS: &str = "protocols = [\"process\"]\n";
    const HTTP: &str = "protocols = [\"http\"]\nready = { tcp = true }\n";

    #[test]
    fn benchmarks_need_no_sign_that_a_server_is_ready() {
        let server = checked(&[PROGRAM, PROCESS, BENCH].concat()).unwrap();
        assert!(matches!(server.front.ready, Ready::AtOnce));
        assert!(matches!(&server.operations["a"], Operation::Bench(bench) if bench.id == "user/encode"));
    }

    #[test]
    fn benchmarks_and_questions_are_not_mixed() {
        let ready = "ready = { tcp = true }\n";
        let more = |more: &str| BENCH.replace(" }", &format!(", {more} }}"));
        for (parts, expected) in [
            (
                vec![PROCESS, ready, BENCH],
                "server.toml: ready: benchmarks have no server",
            ),
            (
                vec![PROCESS, "port = 5\n", BENCH],
                "server.toml: protocols: process means benchmarks",
            ),
            (
                vec![PROCESS, ASKED],
                "server.toml: operations.a.request: bench goes with",
            ),
            (vec![HTTP, BENCH], "server.toml: operations.a.request: bench goes with"),
            (
                vec!["protocols = [\"http\"]\n", ASKED],
                "server.toml: ready: expected one of",
            ),
            (
                vec!["protocols = [\"http\", \"process\"]\n", ready, ASKED],
                "server.toml: protocols: expected at least one of",
            ),
            (
                vec![PROCESS, &more("path = \"/\"")],
                "server.toml: operations.a.request: bench names",
            ),
            (
                vec![PROCESS, &more("headers = [\"a: b\"]")],
                "server.toml: operations.a.request: bench names",
            ),
            (
                vec![PROCESS, BENCH, "operations.a.expect = { status = 200 }\n"],
                "server.toml: operations.a.request: bench names",
            ),
            (vec![HTTP, "ready = { at_once = true }\n", ASKED], "duplicate key"),
        ] {
            let error = checked(&[&[PROGRAM], &*parts].concat().concat()).unwrap_err();
            assert!(error.contains(expected), "{expected}\n→ {error}");
        }
        let named = "protocols = [\"http\"]\nready = \"at_once\"\n";
        assert!(
            checked(&[PROGRAM, named, ASKED].concat())
                .unwrap_err()
                .contains("at_once")
        );
    }
}

#[cfg(test)]
mod configuration_tests {
    use std::path::Path;

    use super::*;
    use crate::server::Server;

    const SHOP: &str = r#"
about = "shop"
protocols = ["http"]
command = ["./shop"]
args = ["--port", "{port}"]
env = { MODE = "plain" }
ready = { http = "/health" }
[operations.home]
request = { path = "/" }
[configurations.tls]
about = "shop, with TLS"
protocols = ["https"]
args = ["--port", "{port}", "--cert", "{tls_cert}"]
[configurations.slow]
about = "shop, built for debugging"
command = ["./shop-debug"]
env = {}
"#;

    fn read(text: &str) -> Result<Vec<(String, Server)>, DeclareError> {
        Server::check_all(
            &toml::from_str(text).unwrap(),
            &Place::file(Path::new("servers/shop/server.toml")),
            "shop",
        )
    }

    #[test]
    fn a_configuration_has_the_servers_keys_but_for_its_own() {
        let all = read(SHOP).unwrap();
        let names: Vec<&str> = all
            .iter()
            .map(|(name, server)| {
                assert_eq!(*name, server.name);
                &**name
            })
            .collect();
        assert_eq!(names, ["shop", "shop-slow", "shop-tls"]);
        let alone = "about = \"shop, with TLS\"\nprotocols = [\"https\"]\ncommand = [\"./shop\"]\n\
            args = [\"--port\", \"{port}\", \"--cert\", \"{tls_cert}\"]\nenv = { MODE = \"plain\" }\nready = { http = \"/health\" }\n\
            [operations.home]\nrequest = { path = \"/\" }\n";
        let place = Place::file(Path::new("servers/shop-tls/server.toml"));
        let alone = Server::check(toml::from_str(alone).unwrap(), &place, "shop-tls".into()).unwrap();
        let whole = |server: &Server| format!("{server:?}");
        assert_eq!(
            whole(&all[2].1),
            whole(&alone),
            "the digest of a series is that of a server with a file of its own"
        );
        let slow = &all[1].1;
        assert!(
            slow.front.env.is_empty() && slow.front.args.len() == 2 && whole(slow).contains("./shop-debug"),
            "{slow:?}"
        );
    }

    #[test]
    fn an_error_names_the_configuration() {
        let wrong = |from: &str, to: &str| read(&SHOP.replace(from, to)).unwrap_err().to_string();
        let error = wrong("[\"https\"]", "[]");
        assert!(
            error.contains("servers/shop/server.toml: configurations.tls.protocols: "),
            "{error}"
        );
        let error = wrong("configurations.tls", "configurations.TLS");
        assert!(error.contains("configurations.TLS: the name"), "{error}");
    }
}
