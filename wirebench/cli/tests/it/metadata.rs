//! Metadata of gRPC calls: every driver that can send it does, and its variables go into no record.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, series};

/// A gRPC server of one method, which answers 403 to calls without the token and notes each token that it was given.
const SERVER: &str = r"
const { appendFileSync } = require('node:fs')
const server = require('node:http2').createServer()
server.on('stream', (stream, headers) => {
  appendFileSync('tokens', `${headers['authorization']} ${headers['x-tenant']}\n`)
  if (headers['authorization'] !== 'Bearer s3cret' || headers['x-tenant'] !== 'a: b') {
    stream.respond({ ':status': 403 }, { endStream: true })
    return
  }
  stream.on('data', () => {})
  stream.on('end', () => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(Buffer.from([0, 0, 0, 0, 2, 8, 7]))
  })
})
server.listen(Number(process.argv[2]), '127.0.0.1')
";

const PROTO: &str = "syntax = \"proto3\";\npackage shop.v1;\nservice Shop { rpc Order(OrderRequest) returns (OrderResponse); }\n\
                     message OrderRequest {}\nmessage OrderResponse { int32 number = 1; }\n";

const METADATA: &str = "metadata = [\"authorization: Bearer {env:SHOP_TOKEN}\", \"x-tenant: a: b\"]";

const TOKEN: (&str, &str) = ("SHOP_TOKEN", "s3cret");

fn bench(metadata: &str) -> Bench {
    let text = format!(
        "about = \"orders\"\nprotocols = [\"grpc\"]\ncommand = [\"node\", \"server.js\"]\nargs = [\"{{port}}\"]\nready = {{ tcp = true }}\n\
         [operations.ask]\nrequest = {{ call = \"shop.v1.Shop/Order\", proto = \"proto/shop.proto\", proto_root = \"proto\", \
         {metadata} }}\nexpect = {{ message = '{{\"number\":7}}' }}\n",
    );
    Bench::new()
        .file("server.js", SERVER)
        .file("proto/shop.proto", PROTO)
        .file("servers/shop/server.toml", &text)
        .scenario("ask", "connections = 1, requests = 200")
        .real_driver("ghz")
        .real_driver("h2load")
}

#[test]
fn it_is_sent_with_every_call_and_its_variables_are_in_no_record() {
    let bench = bench(METADATA);
    let ended = bench.run_with(&["run", "--rounds", "1"], &[TOKEN]);
    assert!(matches!(ended.code, 0 | 1), "{}{}", ended.stdout, ended.stderr);
    let record = bench.record();
    for id in ["ask@shop@ghz", "ask@shop@h2load"] {
        let round = &series(&record, id)["rounds"][0];
        assert_eq!(round["ok_count"], 200, "{id}: {}", round["reason"]);
        let command: Vec<&str> = series(&record, id)["command"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert!(
            command.iter().any(|word| word.contains("{env:SHOP_TOKEN}")),
            "{command:?}"
        );
    }
    assert!(!record.to_string().contains("s3cret"));
    let tokens = fs::read_to_string(bench.path("tokens")).unwrap();
    assert!(tokens.lines().count() >= 400 && tokens.lines().all(|line| line == "Bearer s3cret a: b"));
}

#[test]
fn a_variable_that_is_not_set_and_lines_that_cannot_be_are_said() {
    let ended = bench(METADATA).run(&["verify"]);
    assert_eq!(ended.code, 1);
    assert!(
        ended.stdout.contains("environment variable SHOP_TOKEN is not set"),
        "{}",
        ended.stdout
    );
    let without = bench("message = \"{}\"").run(&["verify"]);
    assert!(without.stdout.contains("found HTTP status 403"), "{}", without.stdout);
    for (metadata, expected) in [
        (
            "metadata = [\"Authorization: x\"]",
            "request.metadata: expected lines such as",
        ),
        (
            "metadata = [\"authorization\"]",
            "request.metadata: expected lines such as",
        ),
        (
            "metadata = [\"key-bin: x\"]",
            "request.metadata: expected text; drivers encode",
        ),
        (
            "metadata = [\"key: {env:1}\"]",
            "request.metadata: expected variables such as {env:TOKEN}",
        ),
        (
            "headers = [\"key: x\"]",
            "headers and body are HTTP's, and metadata is its own",
        ),
    ] {
        let ended = bench(metadata).run(&["list"]);
        assert_eq!(ended.code, 2, "{metadata}");
        assert!(ended.stderr.contains(expected), "{metadata}: {}", ended.stderr);
    }
}
