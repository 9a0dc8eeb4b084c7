//! Tiers: the processes behind a server, such as a service and a repository, each of which may refer to those started
//! before it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::args::{Arg, names, plain_args, unknown_placeholder};
use crate::program::{DEFAULT_READY_TIMEOUT, LOOPBACK, PLACEHOLDERS, Program, Ready};
use crate::protocol::Protocol;
use crate::read::{DeclareError, Place};
use crate::span::Span;

/// A process whose arguments use this placeholder serves TLS.
const TLS_KEY: &str = "tls_key";

/// A tier whose arguments or environment use this placeholder gets an empty folder of its own.
pub const DATA: &str = "data";

/// The name of a tier is a placeholder too.
static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[a-z_]+$").expect("a constant pattern"));

/// The declaration of one process of a server: a `[[tiers]]` table of `server.toml`, or its front. Serialized as tiers are in
/// digests.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// The server's name.
    #[serde(skip)]
    pub server: String,
    /// The tier's name, by which later ones and the server name its address; `None` for the front.
    #[serde(rename = "name")]
    pub tier: Option<String>,
    /// Where its program comes from.
    pub program: Program,
    /// The build command and its arguments, run in each side's folder before anything is measured.
    #[serde(skip)]
    pub build: Option<Vec<String>>,
    /// The folder that it is started in, relative to the side's folder; `None` for that folder.
    #[serde(skip)]
    pub working_directory: Option<PathBuf>,
    /// Arguments: a server's placeholders, and the names of earlier tiers for their addresses.
    pub args: Vec<Arg>,
    /// Environment variables added for it; the placeholders of the arguments are filled in here too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The loopback address that it listens on.
    #[serde(skip)]
    pub host: IpAddr,
    /// A fixed port, for a program whose port cannot be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The sign that it is ready.
    #[serde(skip)]
    pub ready: Ready,
    /// How long it may take to get ready.
    #[serde(skip)]
    pub ready_timeout: Span,
    /// The protocol of its readiness check.
    #[serde(skip)]
    pub protocol: Protocol,
    /// Whether it is started once on each side and runs until the run ends, instead of being started for each round.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}

impl Part {
    /// The name under which a side keeps its program: the server's, or `server/tier`.
    pub fn key(&self) -> String {
        match &self.tier {
            None => self.server.clone(),
            Some(tier) => format!("{}/{tier}", self.server),
        }
    }

    /// Its name among the processes of a chain: the tier's, or the server's.
    pub fn name(&self) -> &str {
        self.tier.as_ref().unwrap_or(&self.server)
    }

    /// For messages: `three-tier, tier repository`.
    pub fn label(&self) -> String {
        match &self.tier {
            None => self.server.clone(),
            Some(tier) => format!("{}, tier {tier}", self.server),
        }
    }
}

/// The protocol of a tier's readiness check: by its `ready`, over TLS if it has a key.
fn protocol_of(ready: &Ready, has_tls: bool) -> Protocol {
    match (ready, has_tls) {
        (Ready::GrpcHealth(_), false) => Protocol::Grpc,
        (Ready::GrpcHealth(_), true) => Protocol::Grpcs,
        (_, false) => Protocol::Http,
        (_, true) => Protocol::Https,
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
    #[serde(default, deserialize_with = "plain_args")]
    args: Vec<Arg>,
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
pub(super) fn check(tables: Vec<Table>, place: &Place, server: &str) -> Result<Vec<Part>, DeclareError> {
    let mut tiers: Vec<Part> = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let place = &place.below(&format!("tiers[{index}]"));
        let name = table.name;
        let taken = PLACEHOLDERS.contains(&name.as_str()) || name == DATA || name == server;
        let message = format!(
            "expected a name of lower-case letters and _ that is neither the server's nor one of {PLACEHOLDERS:?}, found {name:?}"
        );
        place.refuse_if(!NAME.is_match(&name) || taken, "name", message)?;
        let is_second = tiers.iter().any(|tier| tier.name() == name);
        let message = format!("a second tier {name}; expected another name");
        place.refuse_if(is_second, "name", message)?;
        let program = Program::check(place, table.package, table.command, table.build.as_ref())?;
        let args = table.args;
        // A kept tier outlives rounds, so everything it refers to must do so too.
        let named = named(&args, &table.env);
        let mut brief = tiers.iter().filter(|tier| table.keep && !tier.keep).map(Part::name);
        if let Some(brief) = brief.find(|brief| named.iter().any(|word| word == brief)) {
            let message = format!("a kept tier names {brief}, which is not kept; expected keep = true there too");
            return Err(place.wrong("keep", message));
        }
        known_placeholders(place, "args", &args, &tiers, &[DATA])?;
        table.ready.check(place, "ready.tcp")?;
        tiers.push(Part {
            server: server.to_owned(),
            tier: Some(name),
            protocol: protocol_of(&table.ready, named.iter().any(|word| word == TLS_KEY)),
            ready: table.ready.of_tier(&program, &args),
            program,
            build: table.build,
            working_directory: None,
            args,
            env: table.env,
            host: LOOPBACK,
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

/// Checks that arguments name only known placeholders: a server's own, tiers started before, and `more`.
///
/// # Errors
/// At the first unknown one.
pub(super) fn known_placeholders(
    place: &Place,
    key: &str,
    args: &[Arg],
    before: &[Part],
    more: &[&'static str],
) -> Result<(), DeclareError> {
    let mut known = [&PLACEHOLDERS, more].concat();
    known.extend(before.iter().map(Part::name));
    let unknown = unknown_placeholder(args, |word| known.contains(&word)).unwrap_or_default();
    let message =
        format!("unknown placeholder {{{unknown}}}; known here are {known:?}, and a tier only after it is declared");
    place.refuse_if(!unknown.is_empty(), key, message)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn checked(toml: &str) -> Result<Vec<Part>, String> {
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
        let protocols: Vec<Protocol> = tiers.iter().map(|tier| tier.protocol).collect();
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
