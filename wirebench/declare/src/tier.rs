//! Tiers: the processes behind a server, such as a service and a repository, each of which may refer to those started
//! before it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::args::{Arg, names};
use crate::program::{DEFAULT_READY_TIMEOUT, PLACEHOLDERS, Program, Ready};
use crate::protocol::Protocol;
use crate::read::{DeclareError, Place};
use crate::span::Span;

/// A process whose arguments use this placeholder serves TLS.
const TLS_KEY: &str = "tls_key";

/// A tier whose arguments or environment use this placeholder gets an empty folder of its own.
pub const DATA: &str = "data";

/// The name of a tier is a placeholder too.
static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[a-z_]+$").expect("a constant pattern"));

/// A process behind a server, as a `[[tiers]]` table of `server.toml` declares it.
#[derive(Debug, Clone, Serialize)]
pub struct Tier {
    /// Its name, by which later ones and the server name its address.
    pub name: String,
    /// Where its program comes from.
    pub program: Program,
    /// The build command.
    #[serde(skip)]
    pub build: Option<Vec<String>>,
    /// Arguments: a server's placeholders, and the names of earlier tiers for their addresses.
    pub args: Vec<Arg>,
    /// Environment variables added for it; the placeholders of the arguments are filled in here too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// A fixed port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The sign that it is ready.
    #[serde(skip)]
    pub ready: Ready,
    /// How long it may take to get ready.
    #[serde(skip)]
    pub ready_timeout: Span,
    /// Whether it is started once on each side and runs until the run ends, instead of being started for each round.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}

/// The declaration of one process of a server: a tier, or its front.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The server's name.
    pub server: &'a str,
    /// The tier's name; `None` for the front.
    pub tier: Option<&'a str>,
    /// Where its program comes from.
    pub program: &'a Program,
    /// What makes the program.
    pub build: Option<&'a Vec<String>>,
    /// The folder that it is started in, relative to the side's folder; `None` for that folder.
    pub working_directory: Option<&'a Path>,
    /// Its arguments.
    pub args: &'a [Arg],
    /// Its environment variables.
    pub env: &'a BTreeMap<String, String>,
    /// The loopback address that it listens on.
    pub host: IpAddr,
    /// A fixed port.
    pub port: Option<u16>,
    /// The sign that it is ready.
    pub ready: &'a Ready,
    /// How long it may take to get ready.
    pub ready_timeout: Span,
    /// The protocol of its readiness check.
    pub protocol: Protocol,
    /// Whether it is started once on each side.
    pub keep: bool,
}

impl Part<'_> {
    /// The name under which a side keeps its program: the server's, or `server/tier`.
    #[must_use]
    pub fn key(&self) -> String {
        match self.tier {
            None => self.server.to_owned(),
            Some(tier) => format!("{}/{tier}", self.server),
        }
    }

    /// Its name among the processes of a chain: the tier's, or the server's.
    #[must_use]
    pub fn name(&self) -> &str {
        self.tier.unwrap_or(self.server)
    }

    /// For messages: `three-tier, tier repository`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.tier {
            None => self.server.to_owned(),
            Some(tier) => format!("{}, tier {tier}", self.server),
        }
    }
}

impl Tier {
    /// The protocol of its readiness check: by its `ready`, over TLS if it has a key.
    pub(super) fn protocol(&self) -> Protocol {
        let has_tls = named(&self.args, &self.env).iter().any(|word| word == TLS_KEY);
        match (&self.ready, has_tls) {
            (Ready::GrpcHealth(_), false) => Protocol::Grpc,
            (Ready::GrpcHealth(_), true) => Protocol::Grpcs,
            (_, false) => Protocol::Http,
            (_, true) => Protocol::Https,
        }
    }
}

/// A tier as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    name: String,
    package: Option<String>,
    command: Option<Vec<String>>,
    build: Option<Vec<String>>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    port: Option<u16>,
    ready: Ready,
    ready_timeout: Option<Span>,
    #[serde(default)]
    keep: bool,
}

/// Checks the tiers of the server `server`.
///
/// # Errors
/// When a tier is impossible, or refers to a tier that is started after it.
pub(super) fn check(tables: Vec<Table>, place: &Place, server: &str) -> Result<Vec<Tier>, DeclareError> {
    let mut tiers: Vec<Tier> = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let key = |key: &str| format!("tiers[{index}].{key}");
        let name = table.name;
        let taken = PLACEHOLDERS.contains(&name.as_str()) || name == DATA || name == server;
        if !NAME.is_match(&name) || taken {
            let message = format!(
                "expected a name of lower-case letters and _ that is neither the server's nor one of {PLACEHOLDERS:?}, found {name:?}"
            );
            return Err(place.wrong(&key("name"), message));
        }
        if tiers.iter().any(|tier| tier.name == name) {
            return Err(place.wrong(&key("name"), format!("a second tier {name}; expected another name")));
        }
        let program = Program::check(
            place,
            &format!("tiers[{index}]."),
            table.package,
            table.command,
            table.build.as_ref(),
        )?;
        let args: Vec<Arg> = table.args.into_iter().map(Arg::One).collect();
        // A kept tier outlives rounds, so everything it refers to must do so too.
        let named = named(&args, &table.env);
        if let Some(brief) = tiers
            .iter()
            .find(|tier| table.keep && !tier.keep && named.contains(&tier.name))
        {
            let message = format!(
                "a kept tier names {}, which is not kept; expected keep = true there too",
                brief.name
            );
            return Err(place.wrong(&key("keep"), message));
        }
        known(place, &key("args"), &args, &tiers, &[DATA])?;
        table.ready.check(place, &key("ready.tcp"))?;
        tiers.push(Tier {
            ready: table.ready.of_tier(&program, &args),
            name,
            program,
            build: table.build,
            args,
            env: table.env,
            port: table.port,
            ready_timeout: table.ready_timeout.unwrap_or(DEFAULT_READY_TIMEOUT),
            keep: table.keep,
        });
    }
    Ok(tiers)
}

/// The placeholders that arguments and environment name.
fn named(args: &[Arg], env: &BTreeMap<String, String>) -> Vec<String> {
    let in_args = args.iter().flat_map(Arg::placeholders);
    in_args.chain(env.values().flat_map(|text| names(text))).collect()
}

/// Checks that arguments name only known placeholders: a server's own, and tiers started before.
///
/// # Errors
/// At the first unknown one.
pub(super) fn known_placeholders(place: &Place, key: &str, args: &[Arg], before: &[Tier]) -> Result<(), DeclareError> {
    known(place, key, args, before, &[])
}

fn known(place: &Place, key: &str, args: &[Arg], before: &[Tier], more: &[&'static str]) -> Result<(), DeclareError> {
    let mut known = [&PLACEHOLDERS, more].concat();
    known.extend(before.iter().map(|tier| tier.name.as_str()));
    let mut named = args.iter().flat_map(Arg::placeholders);
    match named.find(|word| !known.contains(&word.as_str())) {
        Some(word) => Err(place.wrong(
            key,
            format!("unknown placeholder {{{word}}}; known here are {known:?}, and a tier only after it is declared"),
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn checked(toml: &str) -> Result<Vec<Tier>, String> {
        #[derive(Deserialize)]
        struct File {
            tiers: Vec<Table>,
        }
        let file: File = toml::from_str(toml).map_err(|error| error.to_string())?;
        let place = Place::file(Path::new("server.toml"));
        check(file.tiers, &place, "chain").map_err(|error| error.to_string())
    }

    fn tier(name: &str, args: &str, ready: &str) -> String {
        format!("[[tiers]]\nname = {name:?}\npackage = \"p\"\nargs = [{args}]\nready = {{ {ready} }}\n")
    }

    const HTTP: &str = "http = \"/health\"";
    const GRPC: &str = "grpc_health = \"\"";

    #[test]
    fn a_tier_names_those_before_it_and_is_asked_in_its_own_protocol() {
        let text = [
            tier("store", "\"{address}\"", "tcp = true"),
            tier("repository", "\"{store}\"", GRPC),
            tier("service", "\"{repository}\", \"{tls_key}\"", GRPC),
        ];
        let tiers = checked(&text.concat()).unwrap();
        let protocols: Vec<Protocol> = tiers.iter().map(Tier::protocol).collect();
        assert_eq!(protocols, [Protocol::Http, Protocol::Grpc, Protocol::Grpcs]);
    }

    #[test]
    fn what_cannot_be_is_refused_with_file_and_key() {
        let later = tier("a", "\"{b}\"", HTTP) + &tier("b", "", HTTP);
        let itself = tier("a", "\"{a}\"", HTTP);
        let twice = tier("a", "", HTTP) + &tier("a", "", HTTP);
        for (toml, expected) in [
            (later, "server.toml: tiers[0].args: unknown placeholder {b}"),
            (itself, "server.toml: tiers[0].args: unknown placeholder {a}"),
            (twice, "server.toml: tiers[1].name: a second tier a"),
            (tier("port", "", HTTP), "server.toml: tiers[0].name: expected a name"),
            (tier("chain", "", HTTP), "server.toml: tiers[0].name: expected a name"),
            (tier("a-b", "", HTTP), "server.toml: tiers[0].name: expected a name"),
            (
                tier("a", "", "tcp = false"),
                "server.toml: tiers[0].ready.tcp: expected true",
            ),
            (
                tier("a", "", HTTP) + &tier("b", "\"{a}\"", HTTP) + "keep = true\n",
                "server.toml: tiers[1].keep: a kept tier names a",
            ),
            (
                tier("a", "", HTTP) + &tier("b", "", HTTP) + "keep = true\nenv = { URL = \"http://{a}/\" }\n",
                "server.toml: tiers[1].keep: a kept tier names a",
            ),
            (
                tier("a", "", HTTP) + "command = [\"x\"]\n",
                "server.toml: tiers[0].package: expected exactly one",
            ),
        ] {
            let error = checked(&toml).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
