//! "Which function got slower?" for Go, Node.js, Python and Java: what real servers' own functions do, counted by callgrind or by their
//! runtimes, in two commits of a repository.

use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{Bench, Ended, assert_fits, repository, run_folder};
use crate::built;

const NODE: &str = r#"'use strict'
const http = require('node:http')

const prices = [3, 5, 8, 13, 21]

class Basket {
  constructor (items) { this.items = items }

  total () {
    let sum = 0
    for (const item of this.items) sum += item
    return sum
  }
}

function discount (sum) {
  return sum > 20 ? sum - 1 : sum
}

function order () {
  const chosen = prices.filter(price => price > 4)
  const sum = discount(new Basket(chosen).total())
  const lines = []
  for (const price of chosen) {
    const line = { price, tax: price > 10 ? 2 : 1 }
    lines.push(JSON.stringify(line))
  }
  return JSON.stringify({ sum, lines })
}

http.createServer((request, response) => {
  response.end(order())
}).listen(Number(process.argv[2]), '127.0.0.1')
"#;

const PYTHON: &str = r#"import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PRICES = [3, 5, 8, 13, 21]


def discount(total):
    return total - 1 if total > 20 else total


def order():
    chosen = [price for price in PRICES if price > 4]
    total = 0
    for price in chosen:
        total += price
    lines = []
    for price in chosen:
        tax = 2 if price > 10 else 1
        lines.append(json.dumps({"price": price, "tax": tax}))
    return json.dumps({"total": discount(total), "lines": lines})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = order().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

/// It answers from goroutines of its own, and ends by itself when it is asked to, as most servers in Go do.
const GO: &str = r#"package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

var prices = []int{3, 5, 8, 13, 21}

type line struct {
	Price int `json:"price"`
	Tax   int `json:"tax"`
}

func discount(sum int) int {
	if sum > 20 {
		return sum - 1
	}
	return sum
}

func render(price int) string {
	tax := 1
	if price > 10 {
		tax = 2
	}
	text, err := json.Marshal(line{price, tax})
	if err != nil {
		log.Panic(err)
	}
	return string(text)
}

func order() string {
	sum := 0
	var lines []string
	for _, price := range prices {
		sum += price
		lines = append(lines, render(price))
	}
	return fmt.Sprintf("%d %s", discount(sum), strings.Join(lines, ";"))
}

func main() {
	http.HandleFunc("/ask", func(w http.ResponseWriter, r *http.Request) {
		answer := make(chan string)
		go func() { answer <- order() }()
		fmt.Fprint(w, <-answer)
	})
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	go func() {
		log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
	}()
	<-asked
}
"#;

const JAVA: &str = r#"import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.Collectors;

class Shop {
    static final List<Integer> PRICES = List.of(3, 5, 8, 13, 21);

    record Line(int price, int tax) {
        String text() {
            return price + "+" + tax;
        }
    }

    static int discount(int sum) {
        return sum > 20 ? sum - 1 : sum;
    }

    static String order() {
        List<Integer> chosen = PRICES.stream().filter(price -> price > 4).toList();
        int sum = 0;
        for (int price : chosen) {
            sum += price;
        }
        String lines = chosen.stream().map(price -> new Line(price, price > 10 ? 2 : 1).text()).collect(Collectors.joining(";"));
        return discount(sum) + " " + lines;
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.createContext("/ask", exchange -> {
            byte[] body = order().getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }
}
"#;

/// A repository with one server, committed as `base`.
fn shop(file: &str, text: &str) -> Bench {
    let command = match file.rsplit('.').next() {
        Some("go") => {
            "build = [\"go\", \"build\", \"-o\", \".wirebench/bin/shop\", \".\"]\ncommand = [\".wirebench/bin/shop\"]"
                .into()
        }
        Some("java") => {
            "build = [\"javac\", \"-d\", \".wirebench/classes\", \"Shop.java\"]\ncommand = [\"java\", \"-cp\", \".wirebench/classes\", \"Shop\"]"
                .into()
        }
        Some("py") => format!("command = [{:?}, {file:?}]", built::python()),
        _ => format!("command = [\"node\", {file:?}]"),
    };
    let server = format!(
        "about = \"test\"\nprotocols = [\"http\"]\n{command}\nargs = [\"{{port}}\"]\n\
         ready = {{ tcp = true }}\n[operations.ask]\nrequest = {{ path = \"/ask\" }}\nexpect = {{ status = 200 }}\n"
    );
    Bench::new()
        .file(
            "wirebench.toml",
            "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\nrequests = [20, 120]\n",
        )
        .real_driver("hey")
        .file("servers/shop/server.toml", &server)
        .file("go.mod", "module shop\n\ngo 1.24\n")
        .file(file, text)
        .commit("base")
}

/// The text with replacements, each of which must find its place.
fn edited(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// The counted series of the working tree against `base`, and how counting ended.
fn counted(bench: &Bench, out: &str) -> (Value, Ended) {
    let folder = bench.path(out);
    let ended = bench.run(&["count", "--baseline", "base", "--out", &folder.display().to_string()]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let text = std::fs::read(run_folder(&folder).join("comparison.json")).unwrap();
    let comparison: Value = serde_json::from_slice(&text).unwrap();
    assert_fits("comparison.v2.schema.json", &comparison);
    (comparison["series"][0].clone(), ended)
}

/// The verdict of a metric of a counted series.
fn verdict_of<'a>(series: &'a Value, metric: &str) -> &'a Value {
    let metrics = series["metrics"].as_array().unwrap();
    let found = metrics.iter().find(|one| one["metric"] == metric);
    &found.unwrap_or_else(|| panic!("no {metric}: {series:#}"))["verdict"]
}

/// What functions do more or less often in the working tree than at `base`, and how counting ended.
fn work(bench: &Bench, out: &str) -> (Value, Ended) {
    let (series, ended) = counted(bench, out);
    (series["work"].clone(), ended)
}

/// Each function with its change and lines, or what else happened to it.
fn changes(work: &Value) -> Vec<String> {
    let said = |one: &Value| {
        let name = one["function"].as_str().unwrap();
        if one["kind"] != "changed" {
            return format!("{name} {}", one["kind"].as_str().unwrap());
        }
        let change = one["candidate"].as_f64().unwrap() - one["baseline"].as_f64().unwrap();
        let source = &one["source"];
        format!(
            "{name} {change:+.2} {}:{} to {}",
            source["file"].as_str().unwrap(),
            source["line"],
            source["last_line"]
        )
    };
    work["functions"].as_array().into_iter().flatten().map(said).collect()
}

/// No function does more or less often what it did: code only moved, or was edited.
#[track_caller]
fn assert_moved_or_edited(found: &Value) {
    let is_equal_work = |one: &String| one.ends_with(" moved") || one.ends_with(" edited");
    assert!(changes(found).iter().all(is_equal_work), "{found:#}");
}

#[test]
fn a_go_function_that_renders_twice_is_named_with_its_line() {
    let twice = [(
        "lines = append(lines, render(price))",
        "lines = append(lines, render(price))\n\t\trender(price + 1)",
    )];
    let bench = shop("shop.go", GO).file("shop.go", &edited(GO, &twice));
    let (series, ended) = counted(&bench, "twice");
    let first = &series["functions"][0];
    assert_eq!(
        (&first["function"], &first["own_code"]),
        (&"main.order".into(), &true.into()),
        "{series:#}"
    );
    assert_eq!(first["source"]["file"], "shop.go");
    assert!(ended.stdout.contains(" in main.order, shop.go:"), "{}", ended.stdout);
    assert_eq!(verdict_of(&series, "allocations"), "regressed", "{}", ended.stdout);
    // Callers of goroutines are not known, so none are drawn.
    let folder = run_folder(&bench.path("twice"));
    let run: Value = serde_json::from_slice(&std::fs::read(folder.join("run.json")).unwrap()).unwrap();
    let stacks = run["series"][0]["counts"][1]["stacks"]["instructions"]
        .as_str()
        .unwrap();
    let stacks = std::fs::read_to_string(folder.join(stacks)).unwrap();
    let rendered: Vec<&str> = stacks.lines().filter(|line| line.contains("main.render")).collect();
    assert!(
        !rendered.is_empty() && rendered.iter().all(|line| line.starts_with("main;main.render")),
        "{rendered:?}"
    );
}

/// Without the functions that depend on timing, the same program differs by less than the smallest margin.
#[test]
#[ignore = "nightly"]
fn equal_work_in_go_is_unchanged() {
    let same = [
        ("var prices", "// What everything costs.\n// In euros.\nvar prices"),
        ("func discount", "func reduced"),
        ("discount(sum)", "reduced(sum)"),
        ("lines", "rendered"),
    ];
    let bench = shop("shop.go", GO);
    let text = same
        .iter()
        .fold(GO.to_owned(), |text, (from, to)| text.replace(from, to));
    let bench = bench.file("shop.go", &text);
    let (series, ended) = counted(&bench, "same");
    for metric in ["instructions", "allocations"] {
        assert_eq!(verdict_of(&series, metric), "unchanged", "{}", ended.stdout);
    }
    assert_eq!(series["functions"], serde_json::json!([]), "{series:#}");
}

#[test]
fn a_node_function_that_loops_more_is_named_and_equal_work_is_not() {
    let bench = shop("shop.js", NODE);
    // What the engine does itself is no block: `total` is known by its text.
    let more = [
        (
            "const lines = []\n",
            "const lines = []\n  for (let i = 0; i < 2; i++) JSON.stringify(chosen)\n",
        ),
        ("return sum\n  }", "return JSON.parse(JSON.stringify(sum))\n  }"),
    ];
    let bench = bench.file("shop.js", &edited(NODE, &more));
    let (found, ended) = work(&bench, "more");
    assert_eq!(found["unit"], "block");
    assert_eq!(
        changes(&found),
        ["order +2.00 shop.js:20 to 30", "total edited"],
        "{found:#}"
    );
    assert!(
        ended.stderr.contains("blocks by function are counted") && !ended.stdout.contains("Regressed"),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
    assert!(
        ended
            .stdout
            .contains("1 function does more or less often per request, without a slower timing"),
        "{}",
        ended.stdout
    );

    let same = [
        ("const prices", "// What everything costs.\n// In euros.\nconst prices"),
        ("sum", "total_sum"),
        ("function discount", "function reduced"),
        ("= discount(", "= reduced("),
        (
            "    const line = { price, tax: price > 10 ? 2 : 1 }\n    lines.push(JSON.stringify(line))\n",
            "    lines.push(line(price))\n",
        ),
        (
            "function order",
            "function line (price) {\n  return JSON.stringify({ price, tax: price > 10 ? 2 : 1 })\n}\n\nfunction order",
        ),
    ];
    let bench = bench.file("shop.js", &edited(NODE, &same));
    let (found, ended) = work(&bench, "same");
    assert_moved_or_edited(&found);
    assert!(!ended.stdout.contains("more or less often"), "{}", ended.stdout);
}

#[test]
#[ignore = "nightly"]
fn a_python_function_that_serializes_twice_is_named_and_equal_work_is_not() {
    let bench = shop("shop.py", PYTHON);
    let twice = [("lines.append(json.dumps(", "lines.append(json.dumps(1) and json.dumps(")];
    let bench = bench.file("shop.py", &edited(PYTHON, &twice));
    let (found, _) = work(&bench, "twice");
    assert_eq!(found["unit"], "bytecode");
    let named = changes(&found);
    assert!(
        named.len() == 1 && named[0].starts_with("order +") && named[0].ends_with("shop.py:12 to 21"),
        "{found:#}"
    );

    // As many bytecodes: the function is known by its text.
    let bench = bench.file("shop.py", &edited(PYTHON, &[("tax = 2", "tax = 3")]));
    let (found, _) = work(&bench, "edited");
    assert_eq!(changes(&found), ["order edited"], "{found:#}");

    let same = [
        ("PRICES =", "# What everything costs.\nPRICES ="),
        ("total", "amount"),
        ("def discount", "def reduced"),
        ("discount(amount)", "reduced(amount)"),
        (
            "    for price in chosen:\n        amount += price\n    lines",
            "    amount = add(chosen)\n    lines",
        ),
        ("    amount = 0\n", ""),
        (
            "def order",
            "def add(chosen):\n    amount = 0\n    for price in chosen:\n        amount += price\n    return amount\n\n\ndef order",
        ),
    ];
    let bench = bench.file("shop.py", &edited(PYTHON, &same));
    let (found, _) = work(&bench, "same");
    assert_moved_or_edited(&found);
}

#[test]
#[ignore = "nightly"]
fn a_java_method_that_loops_more_is_named_and_equal_work_is_not() {
    let bench = shop("Shop.java", JAVA);
    let more = [(
        "int sum = 0;\n        for (int price : chosen)",
        "int sum = 0;\n        for (int price : PRICES)",
    )];
    let bench = bench.file("Shop.java", &edited(JAVA, &more));
    let (found, ended) = work(&bench, "more");
    assert_eq!(found["unit"], "bytecode");
    let named = changes(&found);
    assert!(
        named.len() == 1 && named[0].starts_with("Shop.order +") && named[0].ends_with("Shop.java:20 to 26"),
        "{found:#}{}",
        ended.stdout
    );

    let bench = bench.file("Shop.java", &edited(JAVA, &[("10 ? 2", "10 ? 3")]));
    let (found, _) = work(&bench, "edited");
    assert_eq!(changes(&found), ["Shop.order edited"], "{found:#}");

    let same = [
        ("static final List", "// What everything costs.\n    static final List"),
        ("int discount(", "int reduced("),
        ("return discount(", "return reduced("),
        ("chosen", "picked"),
        (
            "        int sum = 0;\n        for (int price : picked) {\n            sum += price;\n        }\n",
            "        int sum = added(picked);\n",
        ),
        (
            "    static String order",
            "    static int added(List<Integer> prices) {\n        int sum = 0;\n        for (int price : prices) {\n            \
             sum += price;\n        }\n        return sum;\n    }\n\n    static String order",
        ),
    ];
    let bench = bench.file("Shop.java", &edited(JAVA, &same));
    let (found, ended) = work(&bench, "same");
    assert_moved_or_edited(&found);
    assert!(!ended.stdout.contains("more or less often"), "{}", ended.stdout);
}

#[test]
fn a_program_that_breaks_when_it_is_counted_is_measured_without_and_it_is_said() {
    let breaks = format!("if (process.env.NODE_V8_COVERAGE) process.exit(3)\n{NODE}");
    let bench = shop("shop.js", &breaks).file("shop.js", &format!("{breaks}\n// One more line.\n"));
    let (found, ended) = work(&bench, "broken");
    assert_eq!(found, Value::Null);
    assert!(
        ended.stdout.contains("what functions do is not counted: ") && ended.stdout.contains("status 3"),
        "{}",
        ended.stdout
    );
}

#[test]
#[ignore = "nightly"]
fn a_server_that_closes_every_connection_is_counted_by_its_runtime_alone() {
    let closes = [("    protocol_version = \"HTTP/1.1\"\n\n", "")];
    let bench = shop("shop.py", &edited(PYTHON, &closes));
    let more = [
        closes[0],
        (
            "for price in chosen:\n        total",
            "for price in chosen + [1]:\n        total",
        ),
    ];
    let bench = bench.file("shop.py", &edited(PYTHON, &more));
    let (found, ended) = work(&bench, "more");
    let named = changes(&found);
    assert!(named.len() == 1 && named[0].starts_with("order +"), "{found:#}");
    assert!(ended.stdout.contains("not counted: hey opened"), "{}", ended.stdout);
}

#[test]
#[ignore = "nightly"]
fn another_runtime_is_a_folder_and_the_programs_own_start_up_code_still_runs() {
    let counter = "about = \"calls\"\nprograms = [\"python\"]\nunit = \"call\"\ncall = 1\n\
                   [env]\nPYTHONPATH = \"{folder}:{before}\"\nCALLS = \"{out}\"\n";
    let inject = "import atexit, json, os, signal, sys, threading\n\
                  counts = {}\n\
                  def called(frame, event, argument):\n    \
                      if event == 'call':\n        \
                          code = frame.f_code\n        \
                          key = (code.co_filename, code.co_firstlineno, code.co_name)\n        \
                          counts[key] = counts.get(key, 0) + 1\n\
                  def write():\n    \
                      with open(os.environ['CALLS'] + '/' + str(os.getpid()), 'w') as file:\n        \
                          json.dump([[*key, count] for key, count in list(counts.items())], file)\n\
                  if os.environ.get('CALLS'):\n    \
                      signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))\n    \
                      atexit.register(write)\n    \
                      sys.setprofile(called)\n    \
                      threading.setprofile(called)\n";
    let filter = "{functions: [inputs[] | {file: .[0], line: .[1], name: .[2], count: .[3], calls: .[3]}]}\n";
    let more = [("\"lines\": lines", "\"lines\": lines, \"again\": discount(total)")];
    let bench = shop("shop.py", PYTHON)
        .file("counters/calls/counter.toml", counter)
        .file("counters/calls/sitecustomize.py", inject)
        .file("counters/calls/normalise.jq", filter)
        .file("shop.py", &edited(PYTHON, &more));
    let (found, _) = work(&bench, "calls");
    assert_eq!(found["unit"], "call");
    assert_eq!(changes(&found), ["discount +1.00 shop.py:8"], "{found:#}");
}

#[test]
#[ignore = "nightly"]
fn a_sitecustomize_of_the_program_still_runs_when_it_is_counted() {
    let asks = "import shop_settings\n";
    let bench = shop("shop.py", &format!("{asks}{PYTHON}")).file(
        "start/sitecustomize.py",
        "import sys, types\nsys.modules['shop_settings'] = types.ModuleType('shop_settings')\n",
    );
    let toml = std::fs::read_to_string(bench.path("servers/shop/server.toml")).unwrap();
    let start = bench.path("start").display().to_string();
    let toml = toml.replace("ready =", &format!("env = {{ PYTHONPATH = {start:?} }}\nready ="));
    let more = [(
        "for price in chosen:\n        total",
        "for price in chosen + [1]:\n        total",
    )];
    let bench = bench.file("servers/shop/server.toml", &toml).commit("with-settings");
    bench.git(&["tag", "--force", "base"]);
    let bench = bench.file("shop.py", &format!("{asks}{}", edited(PYTHON, &more)));
    let (found, ended) = work(&bench, "more");
    let named = changes(&found);
    assert!(
        named.len() == 1 && named[0].starts_with("order +"),
        "{found:#}{}",
        ended.stdout
    );
}

#[test]
fn an_installed_copy_of_the_project_is_its_own_code_under_the_names_of_its_sources() {
    let bench = Bench::empty();
    let project = bench.path("project");
    let code = "def price():\n    return 1\n";
    let record = json!({ "url": format!("file://{}", project.display()), "dir_info": {} }).to_string();
    let bench = bench
        .file("project/src/shop/__init__.py", code)
        .file("lib/site-packages/shop/__init__.py", code)
        .file("lib/site-packages/shop-1.dist-info/direct_url.json", &record)
        .file("lib/site-packages/other.py", "def discount():\n    return 2\n");
    let counted = || -> Vec<String> {
        let out = tempfile::tempdir().unwrap();
        let paths = [repository().join("counters/python"), bench.path("lib/site-packages")];
        let ended = Command::new("python3")
            .args(["-c", "import shop, other; shop.price(); other.discount()"])
            .env("PYTHONPATH", std::env::join_paths(paths).unwrap())
            .env("WIREBENCH_COUNT_ROOT", &project)
            .env("WIREBENCH_COUNT_OUT", out.path())
            .status();
        assert!(ended.unwrap().success());
        let files = std::fs::read_dir(out.path()).unwrap().flatten();
        let files = files.map(|file| serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap());
        let functions: Vec<Value> = files.flat_map(|all: Vec<Value>| all).collect();
        let told = functions
            .iter()
            .map(|one| format!("{} {}", one["file"].as_str().unwrap(), one["name"]));
        told.collect()
    };
    let file = project.join("src/shop/__init__.py");
    let expected = ["<module>", "price"].map(|name| format!("{} {name:?}", file.display()));
    assert_eq!(counted(), expected);
    // It was installed before the project changed: its lines are other ones.
    std::fs::write(&file, format!("\n{code}")).unwrap();
    assert_eq!(counted(), [""; 0]);
}

const ALWAYS: [&str; 4] = ["--rounds", "1", "--sample-functions", "always"];

/// A run of the working tree against the last commit, whose functions are sampled: the samples, its compared series and what it says.
fn sampled(bench: &Bench, out: &str, flags: &[&str]) -> (Value, Value, String) {
    let folder = bench.path(out);
    let out = folder.display().to_string();
    let command = ["run", "--baseline", "HEAD", "--only", "timings", "--out", &out];
    let ended = bench.run(&[&command, flags].concat());
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let read = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(run_folder(&folder).join(name)).unwrap()).unwrap()
    };
    let (run, comparison) = (read("run.json"), read("comparison.json"));
    assert_fits("run.v1.schema.json", &run);
    assert_fits("comparison.v2.schema.json", &comparison);
    let series = comparison["series"][0].clone();
    (
        run["series"][0]["sampled"].clone(),
        series,
        ended.stdout + &ended.stderr,
    )
}

/// The sampled CPU time of a function on both sides, ns per request: medians of the rounds.
fn time_of(sampled: &Value, function: &str) -> [f64; 2] {
    let all = sampled["functions"].as_array().unwrap();
    let found = all.iter().find(|one| one["function"] == function);
    let found = found.unwrap_or_else(|| panic!("no {function}: {sampled:#}"));
    ["baseline", "candidate"].map(|side| {
        let mut values: Vec<f64> = serde_json::from_value(found["time"][side].clone()).unwrap();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    })
}

/// No block is executed more often: only samples see what the engine does itself.
#[test]
fn samples_name_the_function_that_makes_the_engine_do_more() {
    // Large enough for several samples of a round on a busy machine.
    let copied = "return JSON.stringify(copied({ sum, lines, all: Array(400).fill(sum) }).sum)\n}\n\nfunction copied (value) {\n  return structuredClone(value)";
    let base = edited(NODE, &[("return JSON.stringify({ sum, lines })", copied)]);
    let twelve = format!("{}value{}", "structuredClone(".repeat(12), ")".repeat(12));
    let bench = shop("shop.js", &base)
        .scenario("ask", "connections = 4, duration = \"400ms\"")
        .commit("edited")
        .file("shop.js", &edited(&base, &[("structuredClone(value)", &twelve)]));
    let (sampled, series, said) = sampled(&bench, "node", &ALWAYS);
    let [before, after] = time_of(&sampled, "copied");
    assert!(after > before * 2.0, "{before} {after} {sampled:#}");
    let first = &series["functions"][0];
    assert_eq!(
        (&first["function"], &first["metric"]),
        (&"copied".into(), &"server_cpu".into()),
        "{sampled:#} {series:#}"
    );
    assert_eq!(first["source"]["file"], "shop.js");
    assert!(
        said.contains("Sampled: copied costs ") && said.contains(" more per request"),
        "{said}"
    );
}

/// The CPU time is the same; only the switches away from the thread, with its stack, see where it waits.
#[test]
fn a_wait_is_named_with_its_call_where_requests_take_longer_without_more_cpu_time() {
    let rested = "return JSON.stringify(rested({ sum, lines }))\n}\n\nfunction rested (value) {\n  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)\n  return value";
    let base = edited(NODE, &[("return JSON.stringify({ sum, lines })", rested)]);
    let bench = shop("shop.js", &base)
        .scenario("ask", "connections = 4, duration = \"400ms\"")
        .commit("edited")
        .file("shop.js", &edited(&base, &[("0, 0, 1)", "0, 0, 3)")]));
    let (sampled, series, said) = sampled(&bench, "waits", &["--rounds", "10", "--budget", "20s"]);
    assert_eq!(sampled["metric"], "latency_p50", "{said}");
    let first = &series["functions"][0];
    let name = first["function"].as_str().unwrap_or_default();
    assert!(
        name.contains("Wait") && name.ends_with(" by rested"),
        "{sampled:#} {series:#}"
    );
    let longer = first["candidate"].as_f64().unwrap() - first["baseline"].as_f64().unwrap();
    assert!((1e6..4e6).contains(&longer), "{longer} {sampled:#}");
    assert_eq!(
        (&first["source"]["file"], &first["source"]["line"]),
        (&"shop.js".into(), &json!(31))
    );
    assert!(said.contains(" more per request (") && said.contains(name), "{said}");
    let metrics = series["metrics"].as_array().unwrap();
    let explained = metrics.iter().find(|one| one["metric"] == first["metric"]).unwrap();
    let picture = run_folder(&bench.path("waits")).join(explained["flame_graph"].as_str().unwrap());
    let picture = std::fs::read_to_string(picture).unwrap();
    assert!(picture.contains("sampled ns per 1,000 requests") && picture.contains("rested"));
}

#[test]
fn an_interpreter_without_frame_pointers_is_not_sampled_in_vain() {
    let bench = shop("shop.py", PYTHON)
        .scenario("ask", "connections = 4, duration = \"400ms\"")
        .commit("edited")
        .file("shop.py", &edited(PYTHON, &[("total > 20", "total > 21")]));
    let (sampled, _, said) = sampled(&bench, "python", &ALWAYS);
    assert!(sampled.is_null(), "{sampled:#}");
    assert!(said.contains("perf sees none of the project's own"), "{said}");
}
