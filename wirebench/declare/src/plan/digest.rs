//! The digest of a series: twelve hex digits over everything that changes what is measured.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::args::Arg;
use crate::driver::{Driver, Mode};
use crate::protocol::Protocol;
use crate::scenario::Load;
use crate::seed::Seed;
use crate::server::{Before, LOOPBACK, Operation, Program, Ready, Server};
use crate::tier::Part;

pub(super) fn digest(
    protocol: Protocol,
    load: &Load,
    server: &Server,
    operation: &Operation,
    driver: &Driver,
    mode: &Mode,
) -> String {
    #[derive(Serialize)]
    struct Definition<'a> {
        protocol: Protocol,
        load: &'a Load,
        server: (&'a Program, &'a [Arg], &'a BTreeMap<String, String>, Option<u16>),
        operation: &'a Operation,
        driver: (&'a str, &'a Option<String>, &'a Mode),
        #[serde(skip_serializing_if = "<[Part]>::is_empty")]
        tiers: &'a [Part],
        ready: (&'a Ready, Vec<&'a Ready>),
        #[serde(skip_serializing_if = "Option::is_none")]
        host: Option<IpAddr>,
        #[serde(skip_serializing_if = "Option::is_none")]
        ca: &'a Option<PathBuf>,
        #[serde(skip_serializing_if = "Option::is_none")]
        working_directory: &'a Option<PathBuf>,
        #[serde(skip_serializing_if = "<[Before]>::is_empty")]
        before: &'a [Before],
        #[serde(skip_serializing_if = "<[Seed]>::is_empty")]
        seed: &'a [Seed],
    }
    // Every field is named, so that a new one does not compile until it is in the digest or left out with a reason.
    let Server {
        front,
        ca,
        tiers,
        before,
        seed,
        // Names and texts: the same server may be renamed or described anew.
        name: _,
        about: _,
        // Which series there are, not what they measure; `protocol` and `operation` are those of this series.
        profiles: _,
        protocols: _,
        operations: _,
    } = server;
    let Part {
        program,
        args,
        env,
        working_directory,
        host,
        port,
        ready,
        // Names: those of the server.
        server: _,
        tier: _,
        // How the code becomes a program: the code is what changes between two measurements.
        build: _,
        // Only how long wirebench waits, and how it asks.
        ready_timeout: _,
        protocol: _,
        // A front is never kept.
        keep: _,
    } = front;
    let definition = Definition {
        protocol,
        load,
        server: (program, args, env, *port),
        operation,
        driver: (&driver.tool.program, &driver.tool.version, mode),
        tiers,
        ready: (ready, tiers.iter().map(|tier| &tier.ready).collect()),
        host: Some(*host).filter(|host| *host != LOOPBACK),
        ca,
        working_directory,
        before,
        seed,
    };
    let text = serde_json::to_vec(&definition).expect("declarations are plain data with text keys");
    twelve_digits(&Sha256::digest(&text))
}

/// The first twelve hex digits of a checksum.
pub(crate) fn twelve_digits(checksum: &[u8]) -> String {
    checksum.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Place;
    use crate::scenario::Amount;
    use std::path::Path;

    const SERVER: &str = "about = \"shop\"\nprotocols = [\"https\"]\ncommand = [\"./shop\"]\nready = { http = \"/\" }\n\
                          [operations.home]\nrequest = { path = \"/\" }\n";
    /// Keys of a server that leave the digest as it is, each with another value and the reason.
    const LEFT_OUT: [(&str, &str, &str); 5] = [
        ("about", "about = \"store\"", "a text"),
        ("profiles", "profiles = [\"quick\"]", "whether it is measured, not what"),
        (
            "protocols",
            "protocols = [\"https\", \"http\"]",
            "a series has one protocol",
        ),
        ("build", "build = [\"make\"]", "the code is what changes"),
        ("ready_timeout", "ready_timeout = \"9s\"", "how long wirebench waits"),
    ];
    /// Keys that change it, each with another value.
    const IN_IT: [(&str, &str); 13] = [
        ("package", "package = \"shop\""),
        ("command", "command = [\"./store\"]"),
        ("working_directory", "working_directory = \"api\""),
        ("args", "args = [\"--fast\"]"),
        ("env", "env = { MODE = \"fast\" }"),
        ("host", "host = \"127.0.0.2\""),
        ("port", "port = 8080"),
        ("ca", "ca = \"ca.pem\""),
        ("ready", "ready = { tcp = true }"),
        ("before", "before = [{ command = [\"./migrate\"] }]"),
        ("seed", "seed = [{ request = { path = \"/login\" } }]"),
        (
            "tiers",
            "tiers = [{ name = \"store\", command = [\"./store\"], args = [\"{port}\"], ready = { tcp = true } }]",
        ),
        (
            "operations",
            "operations = { home = { request = { path = \"/home\" } } }",
        ),
    ];

    /// The digest of a series of the server, with one line instead of the one of that key.
    fn with(key: &str, line: &str) -> String {
        let mut table: toml::Table = toml::from_str(SERVER).unwrap();
        if key == "package" {
            table.remove("command");
        }
        table.extend(toml::from_str::<toml::Table>(line).unwrap());
        let driver: Driver = toml::from_str(
            "about = \"x\"\nnormalise = { args = [] }\n[tool]\nprogram = \"x\"\nversion_command = []\n\
             version_pattern = \"(x)\"\ninstall = \"x\"\n[protocols.https]\nargs = []\n",
        )
        .unwrap();
        let place = Place::file(Path::new("servers/shop/server.toml"));
        let server = Server::check(table.try_into().unwrap(), &place, "shop".into()).unwrap();
        let load = Load::closed(1, Amount::Requests(1));
        let mode = &driver.protocols[&Protocol::Https];
        digest(
            Protocol::Https,
            &load,
            &server,
            &server.operations["home"],
            &driver,
            mode,
        )
    }

    #[test]
    fn every_key_of_a_server_changes_its_digest_or_is_left_out_for_a_reason() {
        let plain = with("about", "");
        for (key, line) in IN_IT {
            assert_ne!(with(key, line), plain, "{key}");
        }
        for (key, line, why) in LEFT_OUT {
            assert_eq!(with(key, line), plain, "{key}: {why}");
        }
        let unknown = toml::from_str::<crate::server::Table>("no_such_key = 1")
            .unwrap_err()
            .to_string();
        let (_, expected) = unknown.split_once("expected one of ").unwrap();
        let keys = expected.split('`').skip(1).step_by(2);
        // Configurations become servers of their own.
        for key in keys.filter(|key| *key != "configurations") {
            let is_tried =
                IN_IT.iter().any(|(other, _)| *other == key) || LEFT_OUT.iter().any(|(other, ..)| *other == key);
            assert!(is_tried, "{key} is a new key: say whether it changes the digest");
        }
    }

    #[test]
    fn the_sign_that_a_tier_is_ready_is_in_the_digest() {
        let tier = |ready: &str| {
            let tier =
                format!("name = \"store\", command = [\"./store\"], args = [\"{{port}}\"], ready = {{ {ready} }}");
            with("tiers", &format!("tiers = [{{ {tier} }}]"))
        };
        assert_ne!(tier("tcp = true"), tier("http = \"/\""));
    }
}
