//! TLS and gRPC-web between this repository's servers and real load generators.

use std::path::Path;

use serde_json::Value;
use wirebench_engine::measure::tls::TlsFiles;

use crate::bench::{Bench, repository, series};
use crate::built::server;

const HTTP: &str = "[operations.ask]\nrequest = { path = \"/api/weather/current?city=Kyiv\" }\n";

/// How the gRPC servers are asked; the answer is `Kyiv`'s unless `expected` says otherwise.
fn grpc(expected: &str) -> String {
    format!(
        "[operations.ask]\nrequest = {{ proto = \"weather.proto\", proto_root = \".\", \
         call = \"wirebench.weather.v1.WeatherService/GetCurrentWeather\", message = '{{\"city\":\"Kyiv\"}}' }}\n\
         expect = {{ message = '{expected}' }}\n"
    )
}

/// One scenario, the drivers, and the contract.
fn bench() -> Bench {
    let proto = repository().join("proto/wirebench/weather/v1/weather.proto");
    let bench = Bench::new()
        .scenario("ask", "connections = 4, requests = 2000")
        .file("weather.proto", &std::fs::read_to_string(proto).unwrap());
    ghz(hey(bench))
}

const KYIV: &str = r#"{"city":"Kyiv","temperatureC":21.5,"humidity":60,"condition":"Cloudy"}"#;
const TLS: &str = "\"--tls-cert\", \"{tls_cert}\", \"--tls-key\", \"{tls_key}\"";

/// On a busy machine a server may take some seconds.
const READY_TIMEOUT: &str = "ready_timeout = \"30s\"";
/// For servers that never get ready.
const SHORT_READY_TIMEOUT: &str = "ready_timeout = \"2s\"";

fn served(program: &Path, protocol: &str, args: &str, ready: &str, operations: &str) -> String {
    format!(
        "about = \"test\"\nprotocols = [{protocol:?}]\ncommand = [{:?}]\n{READY_TIMEOUT}\n\
         args = [\"--listen\", \"{{address}}\", \"--threads\", \"{{threads}}\", {args}]\nready = {{ {ready} }}\n{operations}",
        program.to_string_lossy()
    )
}

/// One of this repository's drivers with other tables for protocols.
fn driver(bench: Bench, name: &str, protocols: &str) -> Bench {
    let own = repository().join("drivers").join(name);
    let text = std::fs::read_to_string(own.join("driver.toml")).unwrap();
    let (tool, rest) = text.split_once("[protocols.").unwrap();
    let normalise = &rest[rest.find("[normalise]").unwrap()..];
    let read = |file: std::path::PathBuf| std::fs::read_to_string(file).unwrap();
    let mut bench = bench
        .file(
            &format!("drivers/{name}/driver.toml"),
            &format!("{tool}{protocols}{normalise}"),
        )
        .file(&format!("drivers/{name}/normalise.jq"), &read(own.join("normalise.jq")));
    for shared in std::fs::read_dir(repository().join("drivers/lib")).unwrap().flatten() {
        if shared.path().extension().is_some_and(|ending| ending == "jq") {
            let file = format!("drivers/lib/{}", shared.file_name().to_string_lossy());
            bench = bench.file(&file, &read(shared.path()));
        }
    }
    bench
}

/// hey does not verify certificates, which is why this repository's own declares no https. It names the host it is given to
/// the server, which must be no address then.
fn hey(bench: Bench) -> Bench {
    let mode = |protocol: &str| {
        format!(
            "[protocols.{protocol}]\nargs = [\"-c\", \"{{connections}}\", [\"-n\", \"{{requests}}\"], \"-disable-redirects\", \
             \"-disable-compression\", \"-host\", \"localhost\", \"-m\", \"{{method}}\", [\"-H\", \"{{header}}\"], [\"-D\", \"{{body_file}}\"], \"-o\", \
             '{{\"elapsed_ns\":{{{{.Total.Nanoseconds}}}},\"results\":{{{{.NumRes}}}},\"statuses\":{{{{jsonify .StatusCodeDist}}}},\
             \"errors\":{{{{jsonify .ErrorDist}}}},\"latencies_s\":{{{{jsonify .Lats}}}}}}', \"{{url}}\"]\n"
        )
    };
    driver(bench, "hey", &(mode("https") + &mode("grpc-web")))
}

fn ghz(bench: Bench) -> Bench {
    driver(
        bench,
        "ghz",
        "[protocols.grpcs]\nmultiplexes = true\nin_flight_at_least = 0.1\nenv = { GOMAXPROCS = \"2\" }\nargs = [\"--cacert\", \"{ca}\", \"--proto\", \
         \"{proto}\", \"--import-paths\", \"{proto_root}\", \"--call\", \"{call}\", \"--data\", \"{message}\", \"--connections\", \
         \"{connections}\", \"--concurrency\", \"{workers}\", [\"--total\", \"{requests}\"], \"--format\", \"json\", \"{address}\"]\n",
    )
}

#[test]
fn https_grpcs_and_grpc_web_are_measured_and_verified() {
    let (http, rpc) = (server("http-server"), server("grpc-server"));
    let health = "grpc_health = \"\"";
    let bench = bench()
        .file(
            "servers/tls/server.toml",
            &served(&http, "https", TLS, "http = \"/health\"", HTTP),
        )
        .file(
            "servers/rpc/server.toml",
            &served(&rpc, "grpcs", TLS, health, &grpc(KYIV)),
        )
        .file(
            "servers/web/server.toml",
            &served(&rpc, "grpc-web", "\"--grpc-web\"", health, &grpc(KYIV)),
        );
    let ended = bench.run(&["run"]);
    let record = bench.record();
    for (id, protocol, url) in [
        (
            "ask@tls@hey",
            "https",
            "https://127.0.0.1:{port}/api/weather/current?city=Kyiv",
        ),
        ("ask@rpc@ghz", "grpcs", "127.0.0.1:{port}"),
        (
            "ask@web@hey",
            "grpc-web",
            "http://127.0.0.1:{port}/wirebench.weather.v1.WeatherService/GetCurrentWeather",
        ),
    ] {
        let found = series(&record, id);
        let round = &found["rounds"][0];
        // A round may be invalid on a busy machine; it must have been measured, without a failure.
        assert_ne!(round["status"], "failed", "{id}: {}", round["reason"]);
        assert_eq!(
            (&round["ok_count"], &round["failed_count"]),
            (&2000.into(), &0.into()),
            "{id}"
        );
        assert_eq!(found["protocol"], protocol);
        assert_eq!(found["command"].as_array().unwrap().last().unwrap(), url);
        assert!(round["payload_bytes"].as_u64().unwrap() > 15, "{id}");
        if let Some(seen) = round["connections_seen"].as_u64() {
            assert!((4..=8).contains(&seen), "{id}: {seen} connections");
        }
    }
    let command = series(&record, "ask@rpc@ghz")["command"].as_array().unwrap();
    assert!(command.contains(&Value::from("{ca}")), "{command:?}");
    let report = std::fs::read_to_string(crate::bench::run_folder(&bench.path("results")).join("report.md")).unwrap();
    assert!(report.contains("grpc-web"), "{}", ended.stdout);
}

#[test]
fn another_certificate_and_a_wrong_answer_over_grpc_web_are_named() {
    let (http, rpc) = (server("http-server"), server("grpc-server"));
    let pair = TlsFiles::make().unwrap();
    let other = format!(
        "\"--tls-cert\", {:?}, \"--tls-key\", {:?}",
        pair.certificate().to_string_lossy(),
        pair.key().to_string_lossy()
    );
    let health = "grpc_health = \"\"";
    let plain = served(&http, "https", "\"--runtime\", \"multi\"", "http = \"/health\"", HTTP);
    let wrong = grpc(&KYIV.replace("60", "61"));
    let absent = grpc(KYIV).replace("GetCurrentWeather\"", "Nothing\"");
    let bench = bench()
        .file(
            "servers/other/server.toml",
            &served(&rpc, "grpcs", &other, health, &grpc(KYIV)).replace(READY_TIMEOUT, SHORT_READY_TIMEOUT),
        )
        .file(
            "servers/plain/server.toml",
            &plain.replace(READY_TIMEOUT, SHORT_READY_TIMEOUT),
        )
        .file(
            "servers/wrong/server.toml",
            &served(&rpc, "grpc-web", "\"--grpc-web\"", health, &wrong),
        )
        .file(
            "servers/absent/server.toml",
            &served(&rpc, "grpc-web", "\"--grpc-web\"", health, &absent),
        )
        .file(
            "servers/off/server.toml",
            &served(&rpc, "grpc-web", "\"--runtime\", \"multi\"", "tcp = true", &grpc(KYIV)),
        );
    let ended = bench.run(&["verify"]);
    assert_eq!(ended.code, 1, "{}{}", ended.stdout, ended.stderr);
    for (server, words) in [
        ("other", "invalid peer certificate"),
        (
            "other",
            "the server must show the certificate and use the key that it is given as {tls_cert} and {tls_key}",
        ),
        ("plain", "TLS: "),
        ("wrong", "wrong answer: expected message"),
        (
            "absent",
            "declares no method wirebench.weather.v1.WeatherService/Nothing",
        ),
        ("off", "server off: "),
    ] {
        let line = ended
            .stdout
            .lines()
            .find(|line| line.contains(&format!("FAILED {server} ")));
        let line = line.unwrap_or_else(|| panic!("{server} passed: {}", ended.stdout));
        assert!(line.contains(words), "expected {words:?} in {line}");
    }
}

#[test]
#[ignore = "nightly"]
fn a_server_on_the_other_loopback_address_with_a_certificate_of_its_own() {
    let (http, rpc) = (server("http-server"), server("grpc-server"));
    let pair = TlsFiles::make().unwrap();
    let own = format!(
        "\"--tls-cert\", {:?}, \"--tls-key\", {:?}",
        pair.certificate().to_string_lossy(),
        pair.key().to_string_lossy()
    );
    let (ready, health) = ("http = \"/health\"", "grpc_health = \"\"");
    let with = |more: &str, text: String| format!("{more}\n{text}");
    let bench = bench()
        .file("ca.pem", &std::fs::read_to_string(pair.certificate()).unwrap())
        .file(
            "servers/plain/server.toml",
            &with(
                "host = \"::1\"",
                served(&http, "http", "\"--runtime\", \"multi\"", ready, HTTP),
            ),
        )
        .file(
            "servers/rpc/server.toml",
            &with(
                "host = \"::1\"\nca = \"ca.pem\"",
                served(&rpc, "grpcs", &own, health, &grpc(KYIV)),
            ),
        )
        .real_driver("h2load");
    let ended = bench.run(&["run", "--rounds", "1"]);
    assert!(matches!(ended.code, 0 | 1), "{}{}", ended.stdout, ended.stderr);
    let record = bench.record();
    for (id, last) in [
        ("ask@plain@h2load", "http://[::1]:{port}/api/weather/current?city=Kyiv"),
        ("ask@rpc@ghz", "[::1]:{port}"),
    ] {
        let found = series(&record, id);
        let round = &found["rounds"][0];
        assert_ne!(round["status"], "failed", "{id}: {}", round["reason"]);
        assert_eq!(round["ok_count"], 2000, "{id}");
        assert_eq!(found["command"].as_array().unwrap().last().unwrap(), last);
    }
}

#[test]
fn an_address_that_others_reach_and_a_certificate_without_tls_are_refused() {
    let http = Path::new("http-server");
    for (more, expected) in [
        ("host = \"0.0.0.0\"", "host: expected an address of this machine alone"),
        ("ca = \"ca.pem\"", "ca: expected https or grpcs among the protocols"),
    ] {
        let text = format!("{more}\n{}", served(http, "http", "", "http = \"/health\"", HTTP));
        let ended = bench().file("servers/plain/server.toml", &text).run(&["list"]);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
}
