//! The values of a driver's placeholders for one series.
//!
//! `{env:NAME}` and `{env:NAME:default}` in headers and bodies: values from the environment, such as a token, that are
//! in no declaration and no record.

use std::collections::BTreeMap;

use regex::Captures;

use crate::measure::wire::GRPC_WEB_HEADERS;
use wirebench_declare::args::{Arg, Value, Values, expand, fill};
use wirebench_declare::load::{Rate, as_flag};
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::scenario::Amount;
use wirebench_declare::server::{Operation, VARIABLE, authority};

/// The address and the paths that differ between rounds and machines.
#[derive(Debug)]
pub struct Locations<'a> {
    /// `127.0.0.1:port`.
    pub address: &'a str,
    /// The file a driver may write.
    pub raw: &'a str,
    /// The file that holds the request's body.
    pub body_file: &'a str,
    /// The file with a gRPC method's descriptors, if the repository does not have all of its .proto files.
    pub protoset: Option<&'a str>,
    /// The driver's own folder.
    pub driver_folder: &'a str,
    /// The project's folder.
    pub project: &'a str,
    /// The file with the certificate that the server must show.
    pub ca: &'a str,
}

/// Values that seeds captured from responses, by name: `{token}` in later requests.
pub type Captured = BTreeMap<String, String>;

/// Replaces `{name}` by the captured value of that name; other braces stay as they are.
pub fn fill_captured(text: &str, captured: &Captured) -> String {
    let mut filled = text.to_owned();
    for (name, value) in captured {
        filled = filled.replace(&format!("{{{name}}}"), value);
    }
    filled
}

/// How long a driver waits for a response.
const REQUEST_TIMEOUT: &str = "20s";

/// Every placeholder that has a value for this series.
pub fn of(series: &PlannedSeries, locations: &Locations) -> Values {
    let one = |text: &str| Value::One(text.to_owned());
    let load = &series.load;
    let (host, port) = locations.address.rsplit_once(':').unwrap_or_default();
    let mut values = Values::from([
        ("connections", Value::One(load.connections.to_string())),
        ("streams", Value::One(load.streams.to_string())),
        ("workers", Value::One(load.workers().to_string())),
        ("origin", Value::One(origin(series, locations))),
        ("address", one(locations.address)),
        ("host", one(host.trim_matches(['[', ']']))),
        ("port", one(port)),
        ("raw", one(locations.raw)),
        ("driver_folder", one(locations.driver_folder)),
        ("request_timeout", one(REQUEST_TIMEOUT)),
    ]);
    if let Some(Rate::PerSecond(rate)) = load.rate {
        values.insert("rate", Value::One(rate.to_string()));
    }
    if let Some(pause) = load.pause {
        values.insert("pause", Value::One(pause.as_flag()));
    }
    if series.protocol.has_tls() {
        values.insert("ca", one(locations.ca));
    }
    set_operation(&mut values, series, locations);
    set_amount(&mut values, &load.amount);
    values
}

/// `http://127.0.0.1:8080`.
fn origin(series: &PlannedSeries, locations: &Locations) -> String {
    format!("{}://{}", series.protocol.scheme(), locations.address)
}

/// Sets the placeholders of the operation: of its request, or of the benchmark.
fn set_operation(values: &mut Values, series: &PlannedSeries, locations: &Locations) {
    let one = |text: &str| Value::One(text.to_owned());
    let url = |path: &String| format!("{}{path}", origin(series, locations));
    let (method, path, has_body) = match series.operation {
        Operation::Bench(bench) => {
            values.insert("bench", one(&bench.id));
            return;
        }
        Operation::Http(http) => {
            set_headers(values, series.protocol, &http.headers);
            if !http.more_paths.is_empty() {
                values.insert("more_urls", Value::Many(http.more_paths.iter().map(url).collect()));
            }
            (http.method.as_str(), http.path.clone(), http.body.is_some())
        }
        Operation::Grpc(rpc) => {
            set_headers(values, series.protocol, &rpc.metadata);
            values.insert("call", one(&rpc.call));
            values.insert("message", one(&rpc.message));
            if let Some(protoset) = locations.protoset {
                values.insert("protoset", one(protoset));
            } else if let Some(file) = &rpc.proto {
                values.insert("proto", in_project(locations, &file.proto));
                values.insert("proto_root", in_project(locations, &file.proto_root));
            }
            ("POST", format!("/{}", rpc.call), true)
        }
    };
    values.insert("method", one(method));
    values.insert("url", Value::One(url(&path)));
    values.insert("path", Value::One(path));
    if has_body {
        values.insert("body_file", one(locations.body_file));
    }
}

/// A path of the project's folder; relative to it if the folder is not known.
fn in_project(locations: &Locations, path: &str) -> Value {
    Value::One(match locations.project {
        "" => path.to_owned(),
        project => format!("{project}/{path}"),
    })
}

/// Sets the placeholders of HTTP headers or gRPC metadata; for gRPC-web, the headers of its protocol come first.
fn set_headers(values: &mut Values, protocol: Protocol, lines: &[String]) {
    let own: &[&str] = match protocol {
        Protocol::GrpcWeb => &GRPC_WEB_HEADERS,
        _ => &[],
    };
    let own = own.iter().map(|line| (*line).to_owned());
    values.insert("header", Value::Many(own.chain(lines.iter().cloned()).collect()));
    values.insert("headers", Value::One(lines.join("\n")));
    if protocol.is_grpc() && !lines.is_empty() {
        let named = lines.iter().filter_map(|line| line.split_once(": "));
        let object: BTreeMap<&str, &str> = named.collect();
        values.insert("metadata", Value::One(serde_json::json!(object).to_string()));
    }
}

/// Fills environment variables and captured values into headers, metadata and path. Not part of [`of`]: a record keeps the
/// names of variables, not their values.
pub fn fill_request(values: &mut Values, series: &PlannedSeries, captured: &Captured) {
    let lines = match series.operation {
        Operation::Http(http) => &http.headers,
        Operation::Grpc(rpc) => &rpc.metadata,
        Operation::Bench(_) => return,
    };
    let fill = |line: &String| {
        let line = fill_captured(line, captured);
        // A variable that is not set was an error when the request was made; here it leaves the line as it is.
        fill_variables(&line).unwrap_or(line)
    };
    let lines: Vec<String> = lines.iter().map(fill).collect();
    set_headers(values, series.protocol, &lines);
    for name in ["path", "url", "more_urls"] {
        match values.get_mut(name) {
            Some(Value::One(text)) => *text = fill_captured(text, captured),
            Some(Value::Many(texts)) => texts.iter_mut().for_each(|text| *text = fill_captured(text, captured)),
            None => {}
        }
    }
}

/// Sets the amount: exactly one of `{requests}`, `{duration}` (with `{seconds}`, the same rounded up to whole seconds),
/// `{starts}`, `{samples}` and `{stages}` has a value afterwards.
pub fn set_amount(values: &mut Values, amount: &Amount) {
    for name in ["requests", "duration", "seconds", "starts", "samples", "stages"] {
        values.remove(name);
    }
    match amount {
        Amount::Requests(requests) => values.insert("requests", Value::One(requests.to_string())),
        Amount::Counted { many, .. } => values.insert("requests", Value::One(many.to_string())),
        Amount::Duration(span) => {
            let seconds = span.0.as_millis().div_ceil(1000).max(1);
            values.insert("seconds", Value::One(seconds.to_string()));
            values.insert("duration", Value::One(span.as_flag()))
        }
        Amount::Starts(starts) => values.insert("starts", Value::One(starts.to_string())),
        Amount::Samples(samples) => values.insert("samples", Value::One(samples.to_string())),
        Amount::Stages(stages) => values.insert("stages", Value::One(as_flag(stages))),
    };
}

/// The environment variables that a driver gets for a series; one whose placeholder has no value is left out.
pub fn environment(series: &PlannedSeries, values: &Values) -> BTreeMap<String, String> {
    let has_values = |text: &str| {
        let named = Arg::One(text.to_owned()).placeholders();
        named.iter().all(|name| values.contains_key(name.as_str()))
    };
    let set = series.mode.env.iter().filter(|(_, text)| has_values(text));
    set.map(|(name, text)| (name.clone(), fill(text, values, 0))).collect()
}

/// The driver's command for the record: values that differ between rounds stay placeholders.
pub fn recorded_command(series: &PlannedSeries) -> Vec<String> {
    let is_reflected = matches!(series.operation, Operation::Grpc(call) if call.proto.is_none());
    let locations = Locations {
        address: &authority(series.server.front.host, "{port}"),
        raw: "{raw}",
        body_file: "{body_file}",
        protoset: is_reflected.then_some("{protoset}"),
        driver_folder: "{driver_folder}",
        project: "",
        ca: "{ca}",
    };
    let mut values = of(series, &locations);
    if series.load.is_open() {
        // A rate that is measured first is not known yet.
        values.entry("rate").or_insert_with(|| Value::One("{rate}".into()));
    }
    for later in ["start_command", "bench_folder", "bench_command"] {
        values.insert(later, Value::One(format!("{{{later}}}")));
    }
    let args = expand(&series.mode.args, &values).unwrap_or_default();
    std::iter::once(series.driver.tool.program.clone())
        .chain(args)
        .collect()
}

/// Replaces variables in a text. Variables of the surrounding workflow, such as GITHUB_TOKEN, have no value here: the
/// measured code may be untrusted.
///
/// # Errors
/// The name of a variable that is not set and has no default.
pub fn fill_variables(text: &str) -> Result<String, String> {
    let mut missing = None;
    let filled = VARIABLE.replace_all(text, |found: &Captures| {
        let default = found.get(2).map(|default| default.as_str().to_owned());
        wirebench_spawn::variable(&found[1]).or(default).unwrap_or_else(|| {
            missing = Some(found[1].to_owned());
            String::new()
        })
    });
    let filled = filled.into_owned();
    missing.map_or(Ok(filled), Err)
}

#[cfg(test)]
mod tests {
    use super::fill_variables;

    #[test]
    fn a_variable_a_default_and_a_missing_one() {
        let path = std::env::var("PATH").unwrap();
        assert_eq!(fill_variables("x: {env:PATH}"), Ok(format!("x: {path}")));
        assert_eq!(fill_variables("a: {env:WIREBENCH_UNSET:b c}!"), Ok("a: b c!".into()));
        assert_eq!(fill_variables("a: {env:WIREBENCH_UNSET:}"), Ok("a: ".into()));
        assert_eq!(
            fill_variables("a: {env:WIREBENCH_UNSET}"),
            Err("WIREBENCH_UNSET".into())
        );
        assert_eq!(fill_variables("{\"a\":{\"b\":1}}"), Ok("{\"a\":{\"b\":1}}".into()));
    }

    #[test]
    fn what_belongs_to_the_workflow_is_not_given_away() {
        assert_eq!(fill_variables("{env:GITHUB_TOKEN:none}"), Ok("none".into()));
        assert_eq!(
            fill_variables("{env:ACTIONS_RUNTIME_TOKEN}"),
            Err("ACTIONS_RUNTIME_TOKEN".into())
        );
    }
}
