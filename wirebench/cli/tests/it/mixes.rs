//! Several paths in turn: a mix of requests, by a driver that can.

use serde_json::Value;

use crate::bench::{Bench, series};
use crate::built::python;

/// A server that knows three items and writes each path that is requested to the file `paths`.
const SERVER: &str = r#"
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # One write a response: the second of two waits 40 ms for the acknowledgement of the first.
    def do_GET(self):
        with open("paths", "a") as file:
            file.write(self.path + "\n")
        known = self.path in ("/health", "/items/1", "/items/2", "/items/3")
        body = b'{"ok":true}' if known else b"{}"
        self.send_response(200 if known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

fn bench(request: &str) -> Bench {
    let text = format!(
        "about = \"items\"\nprotocols = [\"http\"]\ncommand = [{:?}, \"server.py\"]\nargs = [\"{{port}}\"]\n\
         ready = {{ http = \"/health\" }}\n[operations.ask]\nrequest = {{ {request} }}\nexpect = {{ json = {{ \"/ok\" = true }} }}\n",
        python()
    );
    Bench::new()
        .file("server.py", SERVER)
        .file("servers/items/server.toml", &text)
        .scenario("ask", "connections = 1, requests = 400")
        .real_driver("hey")
        .real_driver("h2load")
}

#[test]
fn paths_are_requested_in_turn_by_a_driver_that_can() {
    let bench = bench("paths = [\"/items/1\", \"/items/2\", \"/items/1\", \"/items/3\"]");
    let ended = bench.run(&["run", "--rounds", "1"]);
    assert!(matches!(ended.code, 0 | 1), "{}{}", ended.stdout, ended.stderr);
    let record = bench.record();
    let ids: Vec<&Value> = record["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, ["ask@items@h2load"], "hey requests one path only");
    let round = &series(&record, "ask@items@h2load")["rounds"][0];
    assert_eq!(round["ok_count"], 400, "{}", round["reason"]);
    let paths = std::fs::read_to_string(bench.path("paths")).unwrap();
    let count = |path: &str| paths.lines().filter(|line| *line == path).count();
    // Each probe requests every path once for each time that it is listed.
    let probes = 2;
    assert_eq!(count("/items/1"), 200 + 2 * probes);
    assert_eq!((count("/items/2"), count("/items/3")), (100 + probes, 100 + probes));
}

#[test]
fn a_path_that_answers_wrongly_is_named_and_one_path_is_no_mix() {
    let ended = bench("paths = [\"/items/1\", \"/items/4\"]").run(&["verify"]);
    assert_eq!(ended.code, 1);
    let expected = "wrong answer: expected status 200 of /items/4, found status 404";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
    for (request, expected) in [
        ("paths = [\"/a\"]", "request.paths: expected 2 to 1,000 paths"),
        (
            "path = \"/a\", paths = [\"/a\", \"/b\"]",
            "request.paths: expected path or paths, found both",
        ),
        (
            "paths = [\"/a\", \"b\"]",
            "request.path: expected a path that starts with /",
        ),
    ] {
        let ended = bench(request).run(&["list"]);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
}
