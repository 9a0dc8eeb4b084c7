//! A server as it is written, with its configurations: the same server with other arguments, another protocol or other
//! tiers, declared in the server's own file.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::found::is_name;
use crate::profiles::Profiles;
use crate::program::Ready;
use crate::protocol::Protocol;
use crate::read::{DeclareError, Place};
use crate::span::Span;
use crate::{operation, seed, tier};

/// A server as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) about: String,
    #[serde(default)]
    pub(super) profiles: Profiles,
    pub(super) protocols: Vec<Protocol>,
    pub(super) package: Option<String>,
    pub(super) command: Option<Vec<String>>,
    pub(super) build: Option<Vec<String>>,
    pub(super) working_directory: Option<PathBuf>,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    pub(super) host: Option<IpAddr>,
    pub(super) port: Option<u16>,
    pub(super) ca: Option<PathBuf>,
    pub(super) ready: Option<Ready>,
    pub(super) ready_timeout: Option<Span>,
    #[serde(default)]
    pub(super) tiers: Vec<tier::Table>,
    #[serde(default)]
    pub(super) before: Vec<BeforeTable>,
    #[serde(default)]
    pub(super) seed: Vec<seed::Table>,
    pub(super) operations: BTreeMap<String, operation::Table>,
    #[serde(default)]
    configurations: BTreeMap<String, Configuration>,
}

/// A command before a server, as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BeforeTable {
    pub(super) command: Vec<String>,
    #[serde(default)]
    pub(super) once: bool,
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

/// Each configuration of a server as a server of its own, with the place of its table and its name, such as `http-tls`.
///
/// # Errors
/// When the name of a configuration is not valid.
pub(super) fn configurations(
    server: &Table,
    place: &Place,
    name: &str,
) -> Result<Vec<(Table, Place, String)>, DeclareError> {
    let each = server.configurations.iter().map(|(key, own)| {
        let full = format!("{name}-{key}");
        let path = format!("configurations.{key}");
        if !is_name(&full) || key.is_empty() {
            return Err(place.wrong(&path, "the name may hold lower-case letters, digits and hyphens only"));
        }
        Ok((own.clone().over(server), place.below(&path), full))
    });
    each.collect()
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
            args: self.args.unwrap_or(server.args),
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
            toml::from_str(text).unwrap(),
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
