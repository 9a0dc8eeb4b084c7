//! A driver: a load generator, its command line for each protocol, and the version of it that is accepted.

use std::collections::BTreeMap;
use std::path::PathBuf;

use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize};

use crate::args::{Arg, names, unknown_placeholder};
use crate::load::{Amount, Load, Rate};
use crate::profiles::Profiles;
use crate::protocol::Protocol;
use crate::read::{DeclareError, Place};

/// A load generator, as `drivers/<name>/driver.toml` declares it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    /// The folder's name.
    #[serde(skip)]
    pub name: String,
    /// A description of one line.
    pub about: String,
    /// The profiles it takes part in.
    #[serde(default)]
    pub profiles: Profiles,
    /// Its folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The folder of the files that filters share.
    #[serde(skip)]
    pub library: PathBuf,
    /// The program and its version.
    pub tool: Tool,
    /// How it is called, by protocol.
    pub protocols: BTreeMap<Protocol, Mode>,
    /// The arguments of jq that feed `normalise.jq`, with `{stdout}` and `{raw}`.
    #[serde(deserialize_with = "args_of_table")]
    pub normalise: Vec<Arg>,
}

/// The program a driver calls.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The executable's name.
    pub program: String,
    /// The only accepted version.
    pub version: Option<String>,
    /// The oldest accepted version, for tools that distributions package.
    pub at_least: Option<String>,
    /// The command that prints the version; `{program}` is the executable's path.
    pub version_command: Vec<String>,
    /// A regular expression with one group that finds the version in the command's output.
    pub version_pattern: String,
    /// The command that installs it.
    pub install: String,
}

/// How a driver is called for one protocol.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// Whether it can keep several requests in flight on one connection.
    #[serde(default)]
    pub multiplexes: bool,
    /// Whether it can offer a fixed rate.
    #[serde(default)]
    pub rate: bool,
    /// Whether it can change the number of connections in stages, and let workers pause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stages: bool,
    /// The connections that it opens independent of the load: for a driver that shows a tool's defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<Opens>,
    /// Requests that it keeps in flight on each connection, independent of the load; for the same purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<std::num::NonZeroU32>,
    /// The most cores it can use; `None` means all that it gets.
    pub cores_at_most: Option<std::num::NonZeroUsize>,
    /// The smallest share of the workers' time that is inside a request by the driver's clock. A driver whose clock
    /// leaves out its own waiting (dispatching, queueing before the send) needs less than the usual 0.97.
    #[serde(default = "usual_share")]
    pub in_flight_at_least: f64,
    /// The status of a good response, as the driver prints it; `None` means the protocol's usual one.
    pub good: Option<String>,
    /// Arguments with placeholders.
    pub args: Vec<Arg>,
    /// Environment variables added for it, with the same placeholders; a variable whose placeholder has no value is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// Connections that a driver opens by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    rename_all = "kebab-case",
    expecting = "expected a number of connections, or \"one-per-request\""
)]
pub enum Opens {
    /// This many.
    Always(std::num::NonZeroU32),
    /// As many as it sends requests.
    Each(PerRequest),
}

/// The word for a connection of its own for each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PerRequest {
    /// `one-per-request`.
    OnePerRequest,
}

impl Mode {
    /// Requests in flight at once over all connections, when a load is offered this way.
    pub fn workers(&self, load: &Load) -> u32 {
        self.streams
            .map_or(load.workers(), |streams| load.connections.saturating_mul(streams.get()))
    }

    /// True if the driver can offer this load: it supports the streams and the rate, if there is one, and its arguments
    /// have a placeholder for the amount, or for no amount at all.
    pub fn takes(&self, load: &Load) -> bool {
        let mut needed = self.args.iter().filter_map(Arg::one).flat_map(names);
        let needs_rate = needed.any(|name| name == "rate");
        // For a share of the capacity, the capacity is measured in a closed loop first.
        let closed = !load.is_open() || matches!(load.rate, Some(Rate::OfCapacity(_)));
        let rate = (self.rate || !load.is_open()) && !(needs_rate && closed);
        let paced = load.has_stages() || load.pause.is_some();
        rate && (!paced || self.stages) && (load.streams == 1 || self.multiplexes) && self.takes_amount(&load.amount)
    }

    /// Whether it can request several paths in turn: its arguments name `{more_urls}`.
    pub fn takes_paths(&self) -> bool {
        self.names_any(&["more_urls"])
    }

    /// Whether it can send a gRPC call's metadata: its arguments or its environment name one of the placeholders for it.
    pub fn takes_metadata(&self) -> bool {
        const WORDS: [&str; 3] = ["header", "headers", "metadata"];
        let mut in_environment = self.env.values().flat_map(|text| names(text));
        self.names_any(&WORDS) || in_environment.any(|word| WORDS.contains(&word.as_str()))
    }

    /// Whether its arguments name one of these placeholders.
    fn names_any(&self, words: &[&str]) -> bool {
        let mut named = self.args.iter().flat_map(Arg::placeholders);
        named.any(|name| words.contains(&name.as_str()))
    }

    /// Checks the table `table`.
    fn check(&self, place: &Place, table: &str) -> Result<(), DeclareError> {
        let share = self.in_flight_at_least;
        let key = format!("{table}.in_flight_at_least");
        let message = format!("expected a share between 0 and 1, found {share}");
        place.refuse_if(!(share > 0.0 && share < 1.0), &key, message)?;
        let known = |word: &str| PLACEHOLDERS.contains(&word);
        check_placeholders(place, &format!("{table}.args"), &self.args, known)?;
        let env: Vec<Arg> = self.env.values().cloned().map(Arg::One).collect();
        check_placeholders(place, &format!("{table}.env"), &env, known)
    }

    fn takes_amount(&self, amount: &Amount) -> bool {
        const ANY: [&str; 7] = [
            "requests",
            "duration",
            "seconds",
            "starts",
            "start_command",
            "stages",
            "samples",
        ];
        let fitting: &[&str] = match amount {
            Amount::Requests(_) | Amount::Counted { .. } => &["requests"],
            Amount::Duration(_) => &["duration", "seconds"],
            Amount::Starts(_) => &["starts", "start_command"],
            Amount::Stages(_) => &["stages"],
            Amount::Samples(_) => &["samples"],
        };
        self.names_any(fitting) || !self.names_any(&ANY)
    }
}

const fn usual_share() -> f64 {
    0.97
}

/// Placeholders that a driver's arguments may name.
const PLACEHOLDERS: [&str; 36] = [
    "driver_folder",
    "connections",
    "streams",
    "workers",
    "requests",
    "duration",
    "seconds",
    "rate",
    "stages",
    "pause",
    "request_timeout",
    "url",
    "more_urls",
    "origin",
    "address",
    "host",
    "port",
    "method",
    "path",
    "header",
    "headers",
    "metadata",
    "body_file",
    "ca",
    "call",
    "message",
    "proto",
    "proto_root",
    "protoset",
    "raw",
    "starts",
    "start_command",
    "bench",
    "samples",
    "bench_command",
    "bench_folder",
];

/// The `args` of a table without other keys.
fn args_of_table<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Arg>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        args: Vec<Arg>,
    }
    Table::deserialize(from).map(|table| table.args)
}

impl Driver {
    /// Checks the `driver.toml` at a place; `library` is the folder of the filters' shared jq modules.
    ///
    /// # Errors
    /// When a value is impossible or contradicts another one.
    pub(super) fn check(self, place: &Place, name: String, library: PathBuf) -> Result<Self, DeclareError> {
        self.tool.check(place)?;
        let message = "expected a table for at least one of http, h2c, grpc, https, grpcs, grpc-web and process";
        place.refuse_if(self.protocols.is_empty(), "protocols", message)?;
        for (protocol, mode) in &self.protocols {
            mode.check(place, &format!("protocols.{}", protocol.name()))?;
        }
        check_placeholders(place, "normalise.args", &self.normalise, |word| {
            word == "stdout" || word == "raw"
        })?;
        let folder = place.file.parent().map(PathBuf::from).unwrap_or_default();
        Ok(Self {
            name,
            folder,
            library,
            ..self
        })
    }
}

impl Tool {
    /// The program whose version is checked: its own, or that of another that it stands on, as criterion's script on cargo.
    pub fn versioned(&self) -> &str {
        let asks_itself = self.version_command.iter().any(|word| word.contains("{program}"));
        let asked = self.version_command.first().filter(|_| !asks_itself);
        asked.unwrap_or(&self.program)
    }

    fn check(&self, place: &Place) -> Result<(), DeclareError> {
        let has_one = self.version.is_some() != self.at_least.is_some();
        place.refuse_if(!has_one, "tool", "expected exactly one of version and at_least")?;
        let key = "tool.version_pattern";
        let pattern = Regex::new(&self.version_pattern).map_err(|error| place.wrong(key, error.to_string()))?;
        let message = "expected exactly one group in parentheses";
        place.refuse_if(pattern.captures_len() != 2, key, message)?;
        let message = "expected a program and its arguments";
        place.refuse_if(self.version_command.is_empty(), "tool.version_command", message)
    }
}

fn check_placeholders(
    place: &Place,
    key: &str,
    args: &[Arg],
    known: impl Fn(&str) -> bool,
) -> Result<(), DeclareError> {
    let unknown = unknown_placeholder(args, known).unwrap_or_default();
    let message = format!("unknown placeholder {{{unknown}}}; docs/EXTENDING.md lists the placeholders");
    place.refuse_if(!unknown.is_empty(), key, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::LoadStage;
    use crate::span::Span;

    fn mode(text: &str) -> Mode {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_version_is_said_to_be_of_the_program_that_prints_it() {
        let tool = |command: &[&str]| Tool {
            program: "bash".into(),
            version: None,
            at_least: Some("1".into()),
            version_command: command.iter().map(|word| (*word).to_owned()).collect(),
            version_pattern: String::new(),
            install: String::new(),
        };
        assert_eq!(tool(&["cargo", "--version"]).versioned(), "cargo");
        assert_eq!(tool(&["go", "version", "-m", "{program}"]).versioned(), "bash");
        assert_eq!(tool(&["{program}", "--version"]).versioned(), "bash");
    }

    fn load(amount: Amount, rate: Option<Rate>) -> Load {
        Load {
            rate,
            ..Load::closed(10, amount)
        }
    }

    #[test]
    fn a_load_is_taken_when_the_arguments_can_say_it() {
        let second = Span(std::time::Duration::from_secs(1));
        let amounts = [
            Amount::Requests(10),
            Amount::Duration(second),
            Amount::Stages(vec![LoadStage {
                connections: 5,
                duration: second,
            }]),
            Amount::Samples(10),
        ];
        let taken = |text: &str| {
            let mode = mode(text);
            amounts.clone().map(|amount| mode.takes(&load(amount, None)))
        };
        assert_eq!(
            taken(r#"args = ["-n{requests}", ["-z", "{duration}"]]"#),
            [true, true, false, false]
        );
        assert_eq!(taken(r#"args = ["-d", "{seconds}s"]"#), [false, true, false, false]);
        assert_eq!(taken(r#"args = [["{stages}"]]"#), [false, false, false, false]);
        assert_eq!(
            taken("stages = true\nargs = [[\"{stages}\"]]"),
            [false, false, true, false]
        );
        assert_eq!(taken(r#"args = ["{samples}"]"#), [false, false, false, true]);
        // A driver whose script contains the amount of load.
        assert_eq!(taken("args = []"), [true, true, false, true]);
    }

    #[test]
    fn what_only_offers_a_rate_is_asked_for_nothing_else() {
        let share = "70%".parse().unwrap();
        let rates = [Some(Rate::PerSecond(100)), Some(Rate::OfCapacity(share)), None];
        let loads = rates.map(|rate| load(Amount::Requests(10), rate));
        let taken = |text: &str| loads.each_ref().map(|load| mode(text).takes(load));
        assert_eq!(taken(r#"args = ["{requests}"]"#), [false, false, true]);
        assert_eq!(
            taken("rate = true\nargs = [\"{requests}\", [\"-q\", \"{rate}\"]]"),
            [true, true, true]
        );
        assert_eq!(
            taken("rate = true\nargs = [\"{requests}\", \"--rps\", \"{rate}\"]"),
            [true, false, false]
        );
    }

    #[test]
    fn connections_are_a_number_or_the_word_for_one_each() {
        let said = |text: &str| toml::from_str::<Mode>(&format!("args = []\nconnections = {text}"));
        assert_eq!(
            said("1").unwrap().connections,
            Some(Opens::Always(std::num::NonZeroU32::MIN))
        );
        assert_eq!(
            said("\"one-per-request\"").unwrap().connections,
            Some(Opens::Each(PerRequest::OnePerRequest))
        );
        for wrong in ["0", "\"many\""] {
            let error = said(wrong).unwrap_err().to_string();
            assert!(
                error.contains("expected a number of connections, or \"one-per-request\""),
                "{error}"
            );
        }
    }
}
