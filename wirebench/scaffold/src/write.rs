//! Writes a `wirebench.toml` from guesses, for the user to complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::port_settings::PortSetting;
use crate::program::{LaunchMethod, Program, slug, unique_name};
use crate::proto::Call;

/// The comment behind a guessed line.
pub const CHANGE_THIS: &str = "# change this";

/// The most gRPC methods that are declared.
const MOST_CALLS: usize = 3;

const HEAD: &str = "# How wirebench measures the servers of this repository. Every key: docs/FORMAT.md of wirebench.
# A line that was guessed says \"change this\"; `wirebench verify` starts every server and asks it once.
";

pub(super) const FOOT: &str = "
# What change is ignored, and what gates. Server CPU per request gates, and so do counts; the rest informs.
# [[margins]]
# series = \"*@*@*\"
# metric = \"server_cpu\"
# margin = \"2%\"
";

/// The whole file.
pub(super) fn toml(programs: &[Program], calls: &[Call], exposed: Option<u16>) -> String {
    let mut out = HEAD.to_owned();
    let drivers: Vec<String> = [
        ("hey", programs.iter().any(|one| one.http)),
        ("ghz", programs.iter().any(|one| one.grpc)),
    ]
    .into_iter()
    .filter(|(_, needed)| *needed)
    .map(|(name, _)| name.to_owned())
    .collect();
    line(
        &mut out,
        &format!(
            "\nbuiltin_drivers = {}   # load generators: hey (HTTP) and ghz (gRPC); there are also h2load and hyperfine (start-up)",
            list(&drivers)
        ),
        false,
    );
    let mut operations = BTreeSet::new();
    for program in programs {
        server(&mut out, program, calls, exposed, &mut operations);
    }
    scenarios(&mut out, &operations.into_iter().map(|name| (name, None)).collect());
    out + FOOT
}

/// A scenario for each operation, with the only load generator that fits it, if there is one.
pub(super) fn scenarios(out: &mut String, operations: &BTreeMap<String, Option<&str>>) {
    for (operation, driver) in operations {
        let about = format!("5 seconds of {operation} over 10 connections, one request at a time on each");
        let _ = write!(
            out,
            "\n[scenarios.{operation}]\nabout     = {}\noperation = {}\nload      = {{ connections = 10, duration = \"5s\" }}\n",
            text(&about),
            text(operation)
        );
        if let Some(driver) = driver {
            let _ = writeln!(out, "drivers   = {}", list(&[(*driver).to_owned()]));
        }
    }
}

/// A server's table, with guesses marked.
pub(super) fn server(
    out: &mut String,
    program: &Program,
    calls: &[Call],
    exposed: Option<u16>,
    operations: &mut BTreeSet<String>,
) {
    let Program { name, hints, .. } = program;
    let protocols: Vec<String> = [("http", program.http), ("grpc", program.grpc)]
        .into_iter()
        .filter(|(_, speaks)| *speaks)
        .map(|(name, _)| name.to_owned())
        .collect();
    line(out, &format!("\n[servers.{name}]"), false);
    line(out, &format!("about     = {}", text(&program.about)), false);
    line(out, &format!("protocols = {}", list(&protocols)), protocols.len() > 1);
    match &program.launch {
        LaunchMethod::Package(package) => line(out, &format!("package   = {}", text(package)), false),
        LaunchMethod::Command { build, command } => {
            if let Some(build) = build {
                line(out, &format!("build     = {}", list(build)), false);
            }
            let guessed = command.first().is_some_and(|first| first == "npm");
            line(out, &format!("command   = {}", list(command)), guessed);
        }
    }
    port(out, hints.port.as_ref(), exposed);
    for words in &program.before {
        line(out, &format!("before    = [{{ command = {} }}]", list(words)), false);
    }
    let grpc_only = program.grpc && !program.http;
    match (&hints.health, grpc_only, hints.grpc_health) {
        (Some(path), false, _) => line(out, &format!("ready     = {{ http = {} }}", text(path)), false),
        (_, true, true) => line(out, "ready     = { grpc_health = \"\" }", false),
        _ => line(out, "ready     = { tcp = true }", false),
    }
    guessed_operations(out, program, calls, operations);
}

/// Guesses of an operation for each protocol; their names are added to `operations`.
fn guessed_operations(out: &mut String, program: &Program, calls: &[Call], operations: &mut BTreeSet<String>) {
    let Program { name, hints, .. } = program;
    if program.http {
        let path = hints.path.as_deref().unwrap_or("/");
        let operation = Some(slug(path))
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "home".into());
        line(out, &format!("\n[servers.{name}.operations.{operation}]"), false);
        line(out, &format!("request = {{ path = {} }}", text(path)), true);
        line(out, "expect  = { status = 200 }", false);
        operations.insert(operation);
    }
    if program.grpc {
        let mut own = BTreeSet::new();
        for call in calls.iter().take(MOST_CALLS) {
            let operation = unique_name(&format!("call-{}", slug(&call.method)), &mut own);
            line(out, &format!("\n[servers.{name}.operations.{operation}]"), false);
            line(
                out,
                &format!(
                    "request = {{ proto = {}, proto_root = {}, call = {}, message = \"{{}}\" }}",
                    text(&call.proto),
                    text(&call.root),
                    text(&call.call)
                ),
                true,
            );
            operations.insert(operation);
        }
        if calls.is_empty() {
            line(out, &format!("\n[servers.{name}.operations.call]"), false);
            line(
                out,
                "request = { proto = \"service.proto\", proto_root = \".\", call = \"package.Service/Method\", message = \"{}\" }",
                true,
            );
            operations.insert("call".into());
        }
    }
}

/// How the server gets its port, or its fixed port.
fn port(out: &mut String, port: Option<&PortSetting>, exposed: Option<u16>) {
    let Some(fixed) = port.map_or(exposed, |setting| setting.fixed) else {
        let setting = port
            .cloned()
            .unwrap_or_else(|| PortSetting::variable("PORT".into(), "{port}".into()));
        if !setting.args.is_empty() {
            line(out, &format!("args      = {}", list(&setting.args)), false);
        }
        if let Some((name, value)) = setting.env.first_key_value() {
            line(
                out,
                &format!("env       = {{ {name} = {} }}", text(value)),
                port.is_none(),
            );
        }
        return;
    };
    line(
        out,
        "# A port of its own choice; better is one it is told: args or env with {port}.",
        false,
    );
    line(out, &format!("port      = {fixed}"), true);
}

/// One line, marked if guessed.
fn line(out: &mut String, line: &str, guessed: bool) {
    out.push_str(line);
    if guessed {
        out.push_str("   ");
        out.push_str(CHANGE_THIS);
    }
    out.push('\n');
}

/// A text as TOML writes it, on one line; in single quotes where that saves escapes, as in JSON.
pub(super) fn text(text: &str) -> String {
    if text.contains('"') && !text.contains('\'') && !text.contains(char::is_control) {
        return format!("'{text}'");
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A list of texts as TOML writes it, on one line.
pub(super) fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|one| text(one)).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_read_back_as_it_was(given in any::<String>()) {
            let table: toml::Table = format!("a = {}\n", text(&given)).parse().unwrap();
            prop_assert_eq!(table["a"].as_str(), Some(given.as_str()));
        }
    }

    #[test]
    fn a_port_that_nothing_tells_is_the_containers_or_the_environments() {
        let written = |found: Option<PortSetting>, exposed| {
            let mut out = String::new();
            port(&mut out, found.as_ref(), exposed);
            out
        };
        let variable = PortSetting::variable("PORT".into(), "{port}".into());
        assert!(written(None, Some(8080)).contains("port      = 8080   # change this"));
        assert!(written(None, None).contains("PORT = \"{port}\" }   # change this"));
        assert!(!written(Some(variable), Some(8080)).contains("8080"));
        assert!(written(Some(PortSetting::fixed(3000)), Some(8080)).contains("3000"));
    }
}
