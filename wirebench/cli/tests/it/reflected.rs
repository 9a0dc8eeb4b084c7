//! gRPC without a .proto file, where the server is asked what its methods take by server reflection, and with a file whose imports
//! are missing.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, repository, series};
use crate::built::server;

const WEATHER: &str = "wirebench.weather.v1.WeatherService";

fn bench(call: &str, more: &str) -> Bench {
    let program = server("grpc-server");
    let text = format!(
        "about = \"test\"\nprotocols = [\"grpc\"]\ncommand = [{program:?}]\n\
         args = [\"--listen\", \"{{address}}\", \"--threads\", \"{{threads}}\"]\nready = {{ grpc_health = \"\" }}\n\
         [operations.ask]\nrequest = {{ call = \"{call}\", message = '{{\"city\":\"Kyiv\"}}'{more} }}\n\
         expect = {{ message = '{{\"city\":\"Kyiv\",\"temperatureC\":21.5,\"humidity\":60,\"condition\":\"Cloudy\"}}' }}\n"
    );
    Bench::new()
        .scenario("ask", "connections = 2, requests = 1000")
        .file("servers/rpc/server.toml", &text)
        .real_driver("ghz")
        .real_driver("h2load")
}

#[test]
fn a_method_is_measured_without_its_file() {
    let record = measured(&bench(&format!("{WEATHER}/GetCurrentWeather"), ""));
    let command = series(&record, "ask@rpc@ghz")["command"].to_string();
    assert!(
        command.contains("\"--protoset\",\"{protoset}\"") && !command.contains("--proto\""),
        "{command}"
    );
}

#[test]
fn a_method_is_measured_whose_file_imports_annotations_that_are_missing() {
    let text = fs::read_to_string(repository().join("proto/wirebench/weather/v1/weather.proto")).unwrap();
    let rpc = "rpc GetCurrentWeather(GetCurrentWeatherRequest) returns (GetCurrentWeatherResponse)";
    let annotated = text.replacen(
        &format!("{rpc};"),
        &format!("{rpc} {{ option (google.api.http) = {{ get: \"/weather/{{city}}\" }}; }}"),
        1,
    );
    assert_ne!(text, annotated);
    let annotated = annotated.replacen("\npackage ", "\nimport \"google/api/annotations.proto\";\npackage ", 1);
    let file = ", proto = \"weather.proto\", proto_root = \".\"";
    measured(&bench(&format!("{WEATHER}/GetCurrentWeather"), file).file("weather.proto", &annotated));
}

/// A run's record, after ghz and h2load have sent their calls.
fn measured(bench: &Bench) -> Value {
    let ended = bench.run(&["run", "--rounds", "1"]);
    assert!(matches!(ended.code, 0 | 1), "{}{}", ended.stdout, ended.stderr);
    let record = bench.record();
    for id in ["ask@rpc@ghz", "ask@rpc@h2load"] {
        let found = series(&record, id);
        assert_ne!(
            found["rounds"][0]["status"], "failed",
            "{}",
            found["rounds"][0]["reason"]
        );
        assert_eq!(found["rounds"][0]["ok_count"], 1000, "{id}");
    }
    record
}

#[test]
fn a_method_that_the_server_does_not_tell_is_named_with_a_remedy() {
    for (call, expected) in [
        (format!("{WEATHER}/Nothing"), "the service has no such method"),
        (
            "no.Such/Method".to_owned(),
            "no.Such/Method: server reflection does not tell its messages",
        ),
    ] {
        let ended = bench(&call, "").run(&["verify"]);
        assert_eq!(ended.code, 1, "{}", ended.stdout);
        assert!(ended.stdout.contains(expected), "{}", ended.stdout);
        assert!(
            ended.stdout.contains("name its file with proto and proto_root"),
            "{}",
            ended.stdout
        );
    }
    let proto = repository().join("proto/wirebench/weather/v1/weather.proto");
    let half = bench(&format!("{WEATHER}/GetCurrentWeather"), &format!(", proto = {proto:?}"));
    let ended = half.run(&["list"]);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("or neither: then the server is asked"),
        "{}",
        ended.stderr
    );
}
