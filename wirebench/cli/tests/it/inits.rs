//! `wirebench init`: what it writes, what it leaves, and what it says.

use std::fs;
use std::net::TcpListener;

use crate::bench::{Bench, git_in};
use crate::built::server;

const MAIN: &str = "package main\nfunc main() { http.HandleFunc(\"/health\", f); http.ListenAndServe(\":\"+os.Getenv(\"PORT\"), nil) }\n";

fn go() -> Bench {
    with_server(Bench::empty())
}

/// Adds the sources of a server that init finds.
pub(crate) fn with_server(bench: Bench) -> Bench {
    bench
        .file("go.mod", "module example.org/shop\n")
        .file("cmd/api/main.go", MAIN)
}

const FILES: [&str; 4] = [
    "wirebench.toml",
    ".gitignore",
    ".github/workflows/bench.yml",
    ".github/workflows/bench-comment.yml",
];

#[test]
fn everything_is_written_and_the_next_steps_are_said() {
    let bench = go();
    let ended = bench.run(&["init", "--no-probe", "--action", "them/bench@v9"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for file in FILES {
        assert!(
            bench.path(file).is_file() && ended.stdout.contains(&format!("wrote     {file}")),
            "{}",
            ended.stdout
        );
    }
    assert!(
        ended.stderr.contains("found     api") && ended.stdout.contains("guessed   api"),
        "{}",
        ended.stdout
    );
    for step in ["1. look at the", "2. wirebench run", "3. commit"] {
        assert!(ended.stdout.contains(step), "{}", ended.stdout);
    }
    let toml = fs::read_to_string(bench.path("wirebench.toml")).unwrap();
    for line in [
        "[servers.api]",
        "env       = { PORT = \"{port}\" }",
        "ready     = { http = \"/health\" }",
    ] {
        assert!(toml.contains(line), "{toml}");
    }
    assert!(
        fs::read_to_string(bench.path(FILES[2]))
            .unwrap()
            .contains("uses: them/bench/.github/workflows/measure.yml@v9")
    );
    let listed = bench.run(&["list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(listed.stdout.contains("home@api@h2load"), "{}", listed.stdout);
}

#[test]
fn a_file_that_is_there_is_left_and_the_others_are_written() {
    let bench = go().file("wirebench.toml", "# mine\n");
    let ended = bench.run(&["init", "--no-probe"]);
    assert_eq!(ended.code, 1);
    assert!(
        ended.stdout.contains("left      wirebench.toml: it is there already"),
        "{}",
        ended.stdout
    );
    assert_eq!(fs::read_to_string(bench.path("wirebench.toml")).unwrap(), "# mine\n");
    assert!(bench.path(FILES[2]).is_file() && bench.path(FILES[3]).is_file());
    assert_eq!(bench.run(&["init", "--no-probe"]).code, 1);
}

#[test]
fn a_declaration_by_hand_gets_its_workflows_though_no_server_is_recognised() {
    let bench = Bench::empty()
        .file("wirebench.toml", "# mine\n")
        .file("server.scm", "(serve)\n");
    let ended = bench.run(&["init"]);
    assert!(
        bench.path(FILES[2]).is_file() && bench.path(FILES[3]).is_file(),
        "{}",
        ended.stderr
    );
    for wrong in ["guessed", "question", "change this"] {
        assert!(!ended.stdout.contains(wrong), "{}", ended.stdout);
    }
}

#[test]
fn a_link_to_nowhere_is_not_written_through() {
    let bench = go();
    let elsewhere = bench.path("elsewhere.toml");
    std::os::unix::fs::symlink(&elsewhere, bench.path("wirebench.toml")).unwrap();
    let ended = bench.run(&["init", "--no-probe"]);
    assert_eq!(ended.code, 1);
    assert!(!elsewhere.exists());
}

#[test]
fn printing_writes_nothing() {
    let bench = go();
    let ended = bench.run(&["init", "--no-probe", "--print"]);
    assert_eq!(ended.code, 0);
    assert!(
        ended.stdout.contains("# wirebench.toml\n") && ended.stdout.contains("[servers.api]"),
        "{}",
        ended.stdout
    );
    assert!(FILES.iter().all(|file| !bench.path(file).exists()));
}

#[test]
fn a_folder_of_a_larger_repository_has_its_workflows_at_the_top() {
    let outer = tempfile::tempdir().unwrap();
    git_in(outer.path(), &["init", "--quiet", "--initial-branch", "trunk"]);
    let folder = outer.path().join("services/api");
    fs::create_dir_all(folder.join("cmd/api")).unwrap();
    fs::write(folder.join("go.mod"), "module example.org/shop\n").unwrap();
    fs::write(folder.join("cmd/api/main.go"), MAIN).unwrap();
    let ended = Bench::empty().run(&["init", "--no-probe", &folder.to_string_lossy()]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let workflow = fs::read_to_string(outer.path().join(FILES[2])).unwrap();
    assert!(
        workflow.contains("config: services/api") && workflow.contains("branches: [trunk]"),
        "{workflow}"
    );
    assert!(outer.path().join("services/api/wirebench.toml").is_file());
    assert!(!outer.path().join("wirebench.toml").exists());
}

#[test]
fn a_second_service_of_a_repository_is_declared_and_what_to_do_about_its_workflow_is_said() {
    let outer = tempfile::tempdir().unwrap();
    git_in(outer.path(), &["init", "--quiet", "--initial-branch", "trunk"]);
    let init = |service: &str| {
        let folder = outer.path().join("services").join(service);
        fs::create_dir_all(folder.join("cmd/api")).unwrap();
        fs::write(folder.join("go.mod"), "module example.org/shop\n").unwrap();
        fs::write(folder.join("cmd/api/main.go"), MAIN).unwrap();
        Bench::empty().run(&["init", "--no-probe", &folder.to_string_lossy()])
    };
    let first = init("api");
    assert!(!first.stdout.contains("bench.yml measures"), "{}", first.stdout);
    let second = init("apis");
    assert_eq!(second.code, 0, "{}", second.stderr);
    for said in [
        "wrote     wirebench.toml",
        "bench.yml: it is there already",
        "bench.yml measures services/api, and not this folder: to measure both, delete it and run `wirebench init` at the top",
    ] {
        assert!(second.stdout.contains(said), "{}", second.stdout);
    }
    let again = init("apis");
    assert_eq!(again.code, 1, "its declaration is left: {}", again.stdout);
    let again = init("api");
    assert_eq!(again.code, 1);
    assert!(!again.stdout.contains("bench.yml measures"), "{}", again.stdout);
}

#[test]
fn programs_are_named_one_by_one_or_in_a_list() {
    let bench = || go().file("cmd/shop/main.go", MAIN).file("cmd/third/main.go", MAIN);
    for only in [&["--only", "api,shop"][..], &["--only", "api", "--only=shop"]] {
        let ended = bench().run(&[&["init", "--no-probe"], only].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(
            ended.stdout.contains("guessed   api\nguessed   shop\n") && !ended.stdout.contains("third"),
            "{}",
            ended.stdout
        );
    }
}

#[test]
fn why_a_program_could_not_be_built_is_quoted() {
    let bench = Bench::empty()
        .file("Makefile", "server: server.c\n\t@echo no such colour >&2; exit 3\n")
        .file("server.c", "int main(void) { return listen(3, 4); }\n");
    let ended = bench.run(&["init"]);
    let said = ended
        .stdout
        .split_once("its last words: ")
        .unwrap_or_else(|| panic!("{}", ended.stdout));
    assert!(
        said.1.contains("no such colour") && !ended.stdout.contains("are above"),
        "{}",
        ended.stdout
    );
}

#[test]
fn nothing_found_writes_nothing_and_says_what_was_looked_at() {
    let library = || Bench::empty().file("go.mod", "module example.org/shop\n");
    for (bench, said) in [
        (Bench::empty(), "Go: no *.go, no go.mod"),
        (library(), "Go: go.mod is there, but no program"),
        (library().commit("v1"), "Go: go.mod is there, but no program"),
        (
            library().file(
                "main.go",
                "package main\n\ntype client struct{}\n\nfunc (client) Get(string) {}\n\nfunc main() { client{}.Get(\"/items\") }\n",
            ),
            "declared only if they serve when they are started",
        ),
    ] {
        for more in [&[][..], &["--no-probe"], &["--print"]] {
            let there = FILES.map(|file| bench.path(file).exists());
            let ended = bench.run(&[&["init"], more].concat());
            assert_eq!(ended.code, 1, "{}", ended.stderr);
            assert!(
                ended.stderr.contains("no server was found") && ended.stderr.contains(said),
                "{}",
                ended.stderr
            );
            assert_eq!(ended.stdout, "");
            assert_eq!(FILES.map(|file| bench.path(file).exists()), there);
        }
    }
}

#[test]
fn one_page_for_every_path_that_is_there_after_a_second_is_declared() {
    let server = r#"
import os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(404 if time.time() < start + 0.7 else 200)
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"page")

server = HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler)
start = time.time()
server.serve_forever()
"#;
    let bench = Bench::empty().file("server.py", &format!("ROUTES = [('/one', None)]\n{server}"));
    let toml = declared(&bench);
    assert!(
        toml.contains("request   = { path = \"/\" }") && toml.contains("body = \"page\"") && !toml.contains("/one"),
        "{toml}"
    );
}

#[test]
fn a_daemon_that_a_program_leaves_behind_is_ended() {
    let server = "import subprocess, time\nfrom http.server import HTTPServer\nif __name__ == '__main__':\n    \
                  subprocess.Popen(['sleep', '60'], start_new_session=True)\n    time.sleep(0.5)\n    # HTTPServer((\n";
    // The bench looks for processes that are left.
    Bench::empty().file("server.py", server).run(&["init"]);
}

#[test]
fn a_server_that_exits_during_the_probe_is_reported_with_its_last_words() {
    let server = r#"
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/":
            print("no such page", flush=True)
            os._exit(1)
        self.send_response(404)
        self.end_headers()

    def log_message(self, *args):
        pass

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"#;
    let said = Bench::empty().file("server.py", server).run(&["init"]).stdout;
    assert!(
        said.contains("it exited when init sent requests to it; its last words: no such page"),
        "{said}"
    );
    assert!(!said.contains("question"), "{said}");
}

#[test]
fn a_server_that_a_request_ends_is_asked_the_others_after_a_new_start() {
    let server = r#"
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/":
            os._exit(1)
        self.send_response(200)
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"home")

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"#;
    let toml = declared(&Bench::empty().file("server.py", server));
    assert!(toml.contains("expect    = { status = 200, body = \"home\" }"), "{toml}");
}

#[test]
fn a_request_that_the_user_gives_is_declared() {
    let server = r#"
import json, os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        sent = self.rfile.read(int(self.headers.get("content-length", 0)))
        is_json = self.headers["content-type"] == "application/json"
        body = b"order %d" % json.loads(sent)["id"] if is_json and self.path == "/orders" else b""
        self.send_response(201 if body else 400)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"#;
    let bench = Bench::empty().file("server.py", server);
    let ended = bench.run(&[
        "init",
        "--request",
        "POST /orders {\"id\": 7}",
        "--request",
        "POST /bills",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("POST /bills answered 400"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("GET /orders"), "{}", ended.stdout);
    let toml = fs::read_to_string(bench.path("wirebench.toml")).unwrap();
    for expected in [
        ".operations.post-orders]",
        "request   = { method = \"POST\", path = \"/orders\", headers = [\"content-type: application/json\"], body = '{\"id\": 7}' }",
        "expect    = { status = 201, body = \"order 7\" }",
    ] {
        assert!(toml.contains(expected), "{toml}");
    }
    let verified = bench.run(&["verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
}

/// The declaration that `init` writes.
#[track_caller]
fn declared(bench: &Bench) -> String {
    let ended = bench.run(&["init"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    fs::read_to_string(bench.path("wirebench.toml")).unwrap()
}

#[test]
fn a_server_that_wants_a_folder_gets_the_one_it_is_started_in() {
    let server = "import os, sys\nfrom http.server import HTTPServer, SimpleHTTPRequestHandler\nclass Handler(SimpleHTTPRequestHandler):\n    \
                  protocol_version = 'HTTP/1.1'\nif __name__ == '__main__':\n    if len(sys.argv) < 2:\n        sys.exit('usage: server FOLDER')\n    \
                  os.chdir(sys.argv[1])\n    HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()\n";
    let bench = Bench::empty().file("server.py", server).file("index.html", "page");
    let toml = declared(&bench);
    assert!(toml.contains("args      = [\".\"]"), "{toml}");
}

#[test]
fn a_server_that_lists_its_commands_is_started_with_the_one_that_serves() {
    let server = "import os, sys\nfrom http.server import HTTPServer, SimpleHTTPRequestHandler\nclass Handler(SimpleHTTPRequestHandler):\n    \
                  protocol_version = 'HTTP/1.1'\nif __name__ == '__main__':\n    if sys.argv[1:2] != ['serve']:\n        \
                  sys.exit('Commands:\\n  migrate   Changes the database\\n  serve     Starts the server')\n    \
                  if 'STORE' in os.environ:\n        sys.exit('the store does not answer')\n    \
                  HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()\n";
    let bench = Bench::empty().file("server.py", server).file("index.html", "page");
    // It does without the database that others start it with.
    let bench = bench.file(".env.example", "STORE=db.example\n");
    let toml = declared(&bench);
    assert!(
        toml.contains("args      = [\"serve\"]") && !toml.contains("STORE ="),
        "{toml}"
    );
}

#[test]
fn a_server_gets_the_arguments_of_its_image_and_empty_pages_and_a_client_beside_it_is_not_started() {
    let main = r#"package main

import (
	"os"

	"example.org/shop/web"
)

func main() {
	if len(os.Args) != 3 || os.Args[1] != "serve" {
		os.Exit(1)
	}
	if _, err := os.Stat(os.Args[2]); err != nil {
		panic(err)
	}
	web.Serve(":" + os.Getenv("PORT"))
}
"#;
    let web = r#"package web

import (
	"embed"
	"net/http"
)

//go:embed all:dist
var pages embed.FS

func Serve(address string) {
	http.Handle("/pages/", http.FileServerFS(pages))
	http.HandleFunc("/items", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("[1]")) })
	http.ListenAndServe(address, nil)
}
"#;
    let client = r#"package main

import "os"

func main() { os.WriteFile("started", nil, 0o600) }
"#;
    let image = "FROM scratch\nCOPY conf/dev.json /etc/shop/shop.json\nENTRYPOINT [\"/bin/shop\"]\nCMD [\"serve\", \"/etc/shop/shop.json\"]\n";
    let bench = Bench::empty()
        .file("go.mod", "module example.org/shop\n\ngo 1.24\n")
        .file("cmd/shop/main.go", main)
        .file("web/web.go", web)
        .file("tools/load/main.go", client)
        .file("conf/dev.json", "{}")
        .file("Dockerfile", image);
    let toml = declared(&bench);
    for line in [
        "\"mkdir -p web/dist && touch web/dist/index.html && go build ",
        "args      = [\"serve\", \"conf/dev.json\"]",
        "path = \"/items\"",
    ] {
        assert!(toml.contains(line), "{line}: {toml}");
    }
    assert!(toml.contains("the build makes it empty: web/dist/index.html"), "{toml}");
    assert!(!bench.path("started").exists(), "{toml}");
}

#[test]
fn a_server_that_answers_on_another_of_its_ports_is_asked_there() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = format!(
        "import os, threading\nfrom http.server import BaseHTTPRequestHandler, HTTPServer, SimpleHTTPRequestHandler\n\
         class Pages(SimpleHTTPRequestHandler):\n    protocol_version = 'HTTP/1.1'\n\
         class Nothing(BaseHTTPRequestHandler):\n    def do_GET(self):\n        self.send_error(404)\n\
         if __name__ == '__main__':\n    pages = HTTPServer(('127.0.0.1', {port}), Pages)\n    \
         threading.Thread(target=pages.serve_forever).start()\n    \
         HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Nothing).serve_forever()\n"
    );
    let bench = Bench::empty().file("server.py", &server).file("index.html", "page");
    let toml = declared(&bench);
    assert!(
        toml.contains(&format!("port      = {port} ")) && toml.contains("body = \"page\""),
        "{toml}"
    );
}

#[test]
fn a_server_that_wants_arguments_is_started_with_those_that_the_user_gives() {
    let server = "import os, sys\nfrom http.server import HTTPServer, SimpleHTTPRequestHandler\nclass Handler(SimpleHTTPRequestHandler):\n    \
                  protocol_version = 'HTTP/1.1'\nif __name__ == '__main__':\n    if sys.argv[1:] != ['--open', 'a b']:\n        \
                  sys.exit('there are no users (use --open to do without)')\n    \
                  HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()\n";
    let bench = Bench::empty().file("server.py", server).file("index.html", "page");
    let ended = bench.run(&["init"]);
    let asks = "which arguments does it want? Remove wirebench.toml, then: wirebench init --only ";
    let (_, question) = ended.stdout.split_once(asks).expect(&ended.stdout);
    let (name, _) = question.split_once(" --args 'ARGUMENTS'").unwrap();
    fs::remove_file(bench.path("wirebench.toml")).unwrap();
    let ended = bench.run(&["init", "--only", name, "--args", "--open 'a b'"]);
    let toml = fs::read_to_string(bench.path("wirebench.toml")).unwrap();
    assert!(toml.contains("args      = [\"--open\", \"a b\"]"), "{toml}");
    assert!(!ended.stdout.contains("question"), "{}", ended.stdout);
    let wrong = bench.run(&["init", "--args", "'a"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("missing closing quote"), "{}", wrong.stderr);
}

#[test]
fn a_debugger_that_answers_before_the_server_listens_is_not_taken_for_it() {
    let server = "import os, threading, time\nfrom http.server import HTTPServer, SimpleHTTPRequestHandler\nclass Handler(SimpleHTTPRequestHandler):\n    \
                  protocol_version = 'HTTP/1.1'\nif __name__ == '__main__':\n    \
                  threading.Thread(target=HTTPServer(('127.0.0.1', 9229), Handler).serve_forever, daemon=True).start()\n    \
                  time.sleep(1)\n    HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()\n";
    let bench = Bench::empty().file("server.py", server).file("index.html", "page");
    let toml = declared(&bench);
    assert!(toml.contains("PORT = \"{port}\"") && !toml.contains("9229"), "{toml}");
}

#[test]
fn a_server_tells_the_messages_of_a_file_that_cannot_be_read() {
    let program = server("grpc-server");
    let started = format!(
        "import os\nfrom http.server import HTTPServer\nif __name__ == '__main__':\n    # instead of HTTPServer((\n    \
         os.execv({program:?}, ['server', '--listen', '127.0.0.1:' + os.environ['PORT'], '--threads', '1'])\n"
    );
    let file = "syntax = \"proto3\";\npackage wirebench.users.v1;\nimport \"else/where.proto\";\n\
                service UsersService {\n  rpc GetUser(else.Where) returns (else.Where);\n}\n";
    let bench = Bench::empty()
        .file("server.py", &started)
        .file("proto/users.proto", file);
    let toml = declared(&bench);
    let call = "call = \"wirebench.users.v1.UsersService/GetUser\"";
    assert!(
        toml.contains(&format!("request   = {{ {call}")) && toml.contains("# server reflection; a made-up message"),
        "{toml}"
    );
}

#[test]
fn bytes_of_responses_that_differ_in_length_do_not_gate_and_the_lengths_are_the_evidence() {
    for (body, gates) in [("'x' * next(lengths)", false), ("'x' * 50", true)] {
        let server = format!(
            "import itertools, os\nfrom http.server import BaseHTTPRequestHandler, HTTPServer\nlengths = itertools.count(50)\n\
             class Handler(BaseHTTPRequestHandler):\n    protocol_version = 'HTTP/1.1'\n    def do_GET(self):\n        body = ({body}).encode()\n        \
             self.send_response(200)\n        self.send_header('content-length', str(len(body)))\n        self.end_headers()\n        \
             self.wfile.write(body)\nif __name__ == '__main__':\n    \
             HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()\n"
        );
        let bench = Bench::empty().file("server.py", &server);
        let toml = declared(&bench);
        let (entry, why) = (
            "metric    = \"wire_bytes_sent\"\ngate      = false",
            "# the body of GET / had",
        );
        assert_eq!((toml.contains(entry), toml.contains(why)), (!gates, !gates), "{toml}");
        assert_eq!(bench.run(&["list"]).code, 0);
    }
}

#[test]
fn a_server_that_closes_connections_gets_no_more_than_its_queue_holds() {
    for (queue, connections) in [(5, 5), (50, 10)] {
        let server = format!(
            "import os\nfrom http.server import HTTPServer, SimpleHTTPRequestHandler\nclass Server(HTTPServer):\n    request_queue_size = {queue}\n\
             if __name__ == '__main__':\n    Server(('127.0.0.1', int(os.environ['PORT'])), SimpleHTTPRequestHandler).serve_forever()\n"
        );
        let bench = Bench::empty().file("server.py", &server).file("index.html", "page");
        let toml = declared(&bench);
        let load = format!("load      = {{ connections = {connections}, duration = \"5s\" }}");
        assert!(
            toml.contains("builtin_drivers = [\"ab\"]") && toml.contains(&load),
            "{toml}"
        );
    }
}

#[test]
fn a_server_that_names_what_it_lacks_gets_the_example_that_the_repository_has() {
    let server = "import os, sys\nfrom http.server import HTTPServer, SimpleHTTPRequestHandler\nif __name__ == '__main__':\n    \
                  if 'APP_SECRET' not in os.environ:\n        sys.exit('APP_SECRET is not set')\n    \
                  HTTPServer(('127.0.0.1', int(os.environ['PORT'])), SimpleHTTPRequestHandler).serve_forever()\n";
    let bench = Bench::empty()
        .file("server.py", server)
        .file(".env.example", "APP_SECRET=replace-me\nAPP_OTHER=1\n")
        .file("index.html", "page");
    let toml = declared(&bench);
    assert!(
        toml.contains("env       = { APP_SECRET = \"replace-me\", PORT = \"{port}\"")
            && toml.contains("it did not start before it got APP_SECRET"),
        "{toml}"
    );
}

#[test]
fn a_program_that_wants_a_file_with_its_environment_gets_a_copy_of_the_example() {
    let server = "import os, sys\nfrom http.server import HTTPServer, SimpleHTTPRequestHandler\nif __name__ == '__main__':\n    \
                  if not os.path.exists('.env'):\n        sys.exit('cannot load .env')\n    \
                  HTTPServer(('127.0.0.1', int(os.environ['PORT'])), SimpleHTTPRequestHandler).serve_forever()\n";
    let bench = Bench::empty().file("server.py", server).file("index.html", "page");
    let bench = bench.file("example.env", "A=1\n");
    let toml = declared(&bench);
    let build = "build     = [\"sh\", \"-c\", \"test -f .env || cp example.env .env\"]";
    assert!(toml.contains(build), "{toml}");
}

#[test]
fn a_program_that_wants_pages_gets_them_from_the_script_that_builds_them() {
    let server = "const { readFileSync } = require('node:fs')\nconst page = readFileSync('dist/index.html')\n\
                  require('node:http').createServer((request, response) => response.end(page)).listen(process.env.PORT)\n";
    let make = "const { mkdirSync, writeFileSync } = require('node:fs')\nmkdirSync('dist')\nwriteFileSync('dist/index.html', 'page')\n";
    let package = r#"{ "name": "shop", "scripts": { "start": "node server.js", "build": "node make.js" } }"#;
    let bench = Bench::empty().file("package.json", package);
    let toml = declared(&bench.file("server.js", server).file("make.js", make));
    assert!(
        toml.contains("npm --prefix . run build") && toml.contains("body = \"page\""),
        "{toml}"
    );
}

#[test]
fn a_migration_runs_before_each_start_and_one_that_fails_is_left_out_and_said() {
    let server = "const { existsSync } = require('node:fs')\nrequire('node:http').createServer((request, response) => {\n  \
                  response.statusCode = request.url === '/' && existsSync('tables') ? 200 : 500\n  response.end('page')\n\
                  }).listen(process.env.PORT, '127.0.0.1')\n";
    let with = |migration: &str| {
        let scripts = format!("{{ \"start\": \"node server.js\", \"db:migrate\": \"{migration}\" }}");
        Bench::empty()
            .file(
                "package.json",
                &format!("{{ \"name\": \"shop\", \"scripts\": {scripts} }}"),
            )
            .file("server.js", server)
    };
    let before = "before    = [{ command = [\"npm\", \"--prefix\", \".\", \"run\", \"--silent\", \"db:migrate\"] }]";
    let toml = declared(&with("touch tables"));
    assert!(toml.contains(before), "{toml}");
    let toml = declared(&with("no-such-program").file("tables", ""));
    assert!(
        !toml.contains("before    =") && toml.contains("it is started without its migration"),
        "{toml}"
    );
}

#[test]
fn a_page_that_many_paths_have_is_declared_once_and_proves_no_prefix() {
    let server = "import os\nfrom http.server import HTTPServer, BaseHTTPRequestHandler\nPAGES = dict(prefix=\"/a-pages\")\nAPI = dict(prefix=\"/api\")\n\
                  class Handler(BaseHTTPRequestHandler):\n    def do_GET(self):\n        body = b'[]'\n        \
                  if self.path == '/one' or self.path == '/two' or self.path.startswith(PAGES['prefix']):\n            body = b'page' * 100\n        \
                  elif self.path == '/stats' or self.path != API['prefix'] + '/stats':\n            return self.send_error(404)\n        \
                  self.send_response(200)\n        self.send_header('Content-Length', str(len(body)))\n        self.end_headers()\n        self.wfile.write(body)\n\
                  if __name__ == '__main__':\n    HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()\n";
    let toml = declared(&Bench::empty().file("server.py", server));
    assert!(
        toml.contains("path = \"/api/stats\"") && !toml.contains("a-pages/stats"),
        "{toml}"
    );
    assert!(
        toml.contains("path = \"/one\"") && !toml.contains("path = \"/two\""),
        "{toml}"
    );
}

#[test]
fn a_commit_is_written_with_its_version_and_an_unknown_one_is_said() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let uses = |text: &str| format!("uses: {text}");
    let bench = go();
    let ended = bench.run(&["init", "--no-probe", "--commit", commit]);
    let workflow = fs::read_to_string(bench.path(FILES[2])).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        workflow.contains(&uses(&format!(
            "wirebench/wirebench/.github/workflows/measure.yml@{commit} # v{version}\n"
        ))),
        "{workflow}"
    );
    assert!(!ended.stdout.contains("can be moved"), "{}", ended.stdout);
    let bench = go();
    let ended = bench.run(&["init", "--no-probe", "--action", "them/bench@v9"]);
    let workflow = fs::read_to_string(bench.path(FILES[3])).unwrap();
    assert!(
        workflow.contains("# them/bench@v9 can be moved, and its commit is not known here"),
        "{workflow}"
    );
    assert!(
        ended.stdout.contains("them/bench@v9, which can be moved"),
        "{}",
        ended.stdout
    );
}

#[test]
fn wrong_usage_is_said() {
    for args in [
        ["init", "no/such/folder"],
        ["init", "--action=main"],
        ["init", "--commit=v1.0.0"],
    ] {
        let ended = go().run(&args);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
    }
}
