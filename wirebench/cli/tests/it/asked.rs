//! What real servers need: a header from the environment, a body from a file, a part of the response, commands before the start.

use std::fs;

use crate::bench::Bench;

const SERVER: &str = r#"
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply({"ready": True})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if self.headers.get("authorization") != "Bearer s3cret":
            return self.reply({"error": "who are you?"}, 401)
        seeded = open("seeded").read()
        self.reply({"data": {"echo": body, "seeded": seeded, "again": os.urandom(4).hex()}})

    def reply(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

const TOML: &str = r#"
builtin_drivers = ["hey"]

[count]
enabled = false

[profiles.test]
about  = "test"
rounds = 1

[servers.api]
about     = "a token, a seed, a body in a file"
protocols = ["http"]
command   = ["python3", "server.py", ]
args      = ["{port}"]
ready     = { http = "/" }

[[servers.api.before]]
command = ["python3", "-c", "open('seeded', 'a').write('x')"]

[servers.api.operations.order]
request = { method = "POST", path = "/orders", headers = ["authorization: Bearer {env:SHOP_TOKEN}"], body_file = "bodies/order.json" }
expect  = { status = 200, graphql = true, pattern = '"again": "[0-9a-f]{8}"', json = { "/data/echo" = "{\"item\":\"pencil\"}", "/data/seeded" = "x" } }

[scenarios.order]
about     = "orders"
operation = "order"
load      = { connections = 1, requests = 50 }
"#;

fn shop(toml: &str) -> Bench {
    Bench::empty()
        .file("server.py", SERVER)
        .file("bodies/order.json", "{\"item\":\"pencil\"}")
        .file("wirebench.toml", toml)
}

const TOKEN: (&str, &str) = ("SHOP_TOKEN", "s3cret");

#[test]
fn a_token_a_body_in_a_file_a_seed_and_parts_of_the_response_go_into_a_run_and_the_token_into_no_record() {
    let bench = shop(TOML);
    let verified = bench.run_with(&["verify"], &[TOKEN]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    fs::remove_file(bench.path("seeded")).unwrap();
    let ran = bench.run_with(&["run", "--profile", "test", "--keep-raw"], &[TOKEN]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let record = bench.record().to_string();
    assert!(
        record.contains("{env:SHOP_TOKEN}") && !record.contains("s3cret"),
        "{record}"
    );
}

#[test]
fn what_is_missing_or_differs_is_said() {
    let without = shop(TOML).run(&["verify"]);
    let said = "environment variable SHOP_TOKEN is not set; set it, or give a default: {env:SHOP_TOKEN:default}";
    assert!(without.code == 1 && without.stdout.contains(said), "{}", without.stdout);
    for (good, bad, said) in [
        (
            "\"/data/seeded\" = \"x\"",
            "\"/data/seeded\" = \"y\"",
            "expected \"y\" at /data/seeded of the body",
        ),
        ("[0-9a-f]{8}", "[0-9]{9}", "expected a body that matches"),
        ("{env:SHOP_TOKEN}", "{env:SHOP_TOKEN:}x", "found status 401"),
        (
            "open('seeded', 'a')",
            "sys.exit('no database')",
            "which runs before it, exited with status 1; its last words:",
        ),
    ] {
        assert!(TOML.contains(good));
        let ended = shop(&TOML.replace(good, bad)).run_with(&["verify"], &[TOKEN]);
        assert!(
            ended.code == 1 && ended.stdout.contains(said),
            "{bad}: {}{}",
            ended.stdout,
            ended.stderr
        );
    }
    for (good, bad, said) in [
        (
            "bodies/order.json",
            "bodies/none.json",
            "operations.order.request.body_file: ",
        ),
        (
            "body_file =",
            "body = \"x\", body_file =",
            "expected body or body_file, found both",
        ),
        (
            "[0-9a-f]{8}",
            "[0-9",
            "operations.order.expect.pattern: expected a regular expression",
        ),
        (
            "\"/data/seeded\"",
            "\"data.seeded\"",
            "operations.order.expect.json: expected JSON pointers",
        ),
        (
            "graphql = true",
            "graphql = false",
            "operations.order.expect.graphql: expected true",
        ),
        (
            "{env:SHOP_TOKEN}",
            "{env:SHOP-TOKEN}",
            "operations.order.request: expected variables such as {env:TOKEN}",
        ),
        (
            "[\"python3\", \"-c\", ",
            "[\"{db}\", ",
            "before[0].command: unknown placeholder {db}",
        ),
    ] {
        assert!(TOML.contains(good));
        let ended = shop(&TOML.replace(good, bad)).run(&["list"]);
        assert!(
            ended.code == 2 && ended.stderr.contains(said),
            "{bad}: {}{}",
            ended.stdout,
            ended.stderr
        );
    }
}

#[test]
fn a_server_on_another_port_is_said_to_listen_there() {
    let toml = TOML.replace("args      = [\"{port}\"]", "args = [\"0\"]\nready_timeout = \"15s\"");
    let ended = shop(&toml).run_with(&["verify"], &[TOKEN]);
    let said = [
        "; it listens on 127.0.0.1:",
        "tell it {port} in args or env, or declare its own as port",
    ];
    assert!(
        ended.code == 1 && said.iter().all(|part| ended.stdout.contains(part)),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
}

#[test]
fn a_server_is_started_in_its_working_directory() {
    let with = |folder: &str| {
        let toml = format!(
            "builtin_drivers = [\"hey\"]\n[scenarios.menu]\nabout = \"menus\"\noperation = \"menu\"\n\
             load = {{ connections = 1, requests = 50 }}\n[servers.menu]\nabout = \"reads its menu\"\nprotocols = [\"http\"]\ncommand = [\"python3\", \"server.py\", \"{{port}}\"]\n\
             working_directory = \"{folder}\"\nready = {{ tcp = true }}\n[servers.menu.operations.menu]\nrequest = {{ path = \"/\" }}\n\
             expect = {{ status = 200, body = \"soup\" }}\n"
        );
        let server = "import sys\nfrom http.server import BaseHTTPRequestHandler, HTTPServer\nmenu = open('menu.txt', 'rb').read()\n\
                      class Handler(BaseHTTPRequestHandler):\n    def do_GET(self):\n        self.send_response(200)\n        \
                      self.end_headers()\n        self.wfile.write(menu)\n\
                      HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()\n";
        let bench = Bench::empty().file("kitchen/server.py", server);
        bench
            .file("kitchen/menu.txt", "soup")
            .file("wirebench.toml", &toml)
            .run(&["verify"])
    };
    let ended = with("kitchen");
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    for (folder, said) in [
        ("cellar", "there is no folder"),
        ("../kitchen", "expected a folder below the project's"),
    ] {
        let ended = with(folder);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(ended.code != 0 && all.contains(said), "{all}");
    }
}
