# --slurpfile run run.json, counts counts.json, calls calls.json, held held.json → docs/PEERS.md; with --arg check true instead a line for each
# ratio that is worse than what is held.

def median: sort | if length == 0 then null elif length % 2 == 1 then .[(length - 1) / 2] else (.[length / 2 - 1] + .[length / 2]) / 2 end;

# How many of the n smallest and largest values an interval for the median leaves out, at 95 % or more (the sign test's).
def left_out($n):
  reduce range(0; ($n / 2) | floor) as $i ({ term: 1, sum: 0, out: 0 };
    .sum += .term
    | if 2 * .sum <= 0.05 * pow(2; $n) then .out = $i + 1 else . end
    | .term = .term * ($n - $i) / ($i + 1))
  | [.out - 1, 0] | max;

# values → {value, low, high, n}: the median and its interval; of fewer than 6 values, their range
def spread: map(select(. != null)) | sort | length as $n | left_out($n) as $out
  | { value: median, low: .[$out], high: .[$n - 1 - $out], n: $n };

def rounds($id): [$run[0].series[] | select(.id == "\($id)@h2load") | .rounds[]? | select(.status == "ok")];
def cpu: (.server_cpu_ns.user + .server_cpu_ns.system) / .ok_count / 1000;
def figure($what):
  if $what == "cpu" then cpu
  elif $what == "memory" then .server_peak_rss_bytes / 1048576
  elif $what == "rate" then .ok_count / .elapsed_ns * 1e9
  else .latency_ns.p99 / 1e6 end;

# The ratio of two series: that of each pass in which both were measured.
def ratio($what; $ours; $beside):
  (rounds($beside) | map({ "\(.round)": figure($what) }) | add // {}) as $other
  | rounds($ours) | map(select($other["\(.round)"] != null) | figure($what) / $other["\(.round)"]) | spread;

def counted($server): [$counts[0].series[] | select(.server == $server) | .counts[]?] | first // null;
def count($server; $metric): counted($server) | .figures // [] | map(select(.metric == $metric and .refused == null) | .value) | first // null;

def found:
  if .figure == "calls" then { value: $calls[0][.ours] }
  elif .figure == "allocations" then { value: count(.ours; "allocations") }
  elif .figure == "instructions" then { value: (count(.ours; "instructions") as $a | count(.beside; "instructions") as $b | if $a and $b then $a / $b else null end) }
  else ratio(.figure; .ours; .beside) end;

def limit: .held // .goal;
def outcome($found):
  if $found.value == null then "not measured"
  elif ($found.low // $found.value) > .goal then "**missed**"
  elif $found.value <= .goal then "reached"
  else "can't tell" end;

def digits: if . == null then "–" elif . >= 1000 then (round | tostring | [match("\\d{1,3}(?=(\\d{3})*$)"; "g").string] | join(",")) elif . >= 100 then (round | tostring)
  elif . >= 10 then ((. * 10 | round) / 10 | tostring) elif . >= 0.1 then (. * 100 | round | "\(. / 100 | floor).\(. % 100 | tostring | if length < 2 then "0" + . else . end)") else ((. * 1000 | round) / 1000 | tostring) end;
def shown: if .value == null then "–" elif .low == null then (.value | digits) else "\(.value | digits) (\(.low | digits) to \(.high | digits))" end;

def about($server): $about[0][$server];

def goals:
  "| what | goal: at most | found | |", "|---|--:|--:|---|",
  ($held[0][] | found as $found | "| \(.about) | \(.goal) | \($found | shown) | \(outcome($found)) |");

def servers($scenario): [$run[0].series[] | select(.scenario == $scenario) | .server];

# One scenario: a row for each server, the cheapest first.
def timed($scenario; $title; $ours):
  "", "### \($title)", "",
  "| server | CPU for a request, µs | ours ÷ it | requests/s | p99, ms | what limited it |", "|---|--:|--:|--:|--:|---|",
  (servers($scenario) | map({ server: ., cpu: (rounds("\($scenario)@\(.)") | map(cpu) | spread) }) | sort_by(.cpu.value // infinite) | .[]
    | .server as $server | rounds("\($scenario)@\($server)") as $rounds
    | (if $server == $ours then "–" else (ratio("cpu"; "\($scenario)@\($ours)"; "\($scenario)@\($server)") | shown) end) as $ratio
    | ($rounds | map(.bound // "–") | group_by(.) | max_by(length) | first // "–") as $bound
    | "| \(if $server == $ours then "**\(about($server))**" else about($server) end) | \(.cpu | shown) | \($ratio) | \($rounds | map(figure("rate")) | median | digits) | \($rounds | map(figure("p99")) | median | digits) | \($bound) |");

def memory($few; $many; $title; $ours):
  "", "### \($title)", "",
  "| server | at 10 connections, MiB | at 1,000, MiB | ours ÷ it at 1,000 |", "|---|--:|--:|--:|",
  (servers($many) | map({ server: ., many: (rounds("\($many)@\(.)") | map(figure("memory")) | median) }) | sort_by(.many // infinite) | .[]
    | .server as $server
    | (if $server == $ours then "–" else (ratio("memory"; "\($many)@\($ours)"; "\($many)@\($server)") | shown) end) as $ratio
    | "| \(if $server == $ours then "**\(about($server))**" else about($server) end) | \(rounds("\($few)@\($server)") | map(figure("memory")) | median | digits) | \(.many | digits) | \($ratio) |");

def counts($ours; $names):
  "", "| server | instructions | allocations | allocated, B | system calls | wire bytes sent |", "|---|--:|--:|--:|--:|--:|",
  ($names | .[] | . as $server | select(counted($server) != null)
    | "| \(if $server == $ours then "**\(about($server))**" else about($server) end) | \([("instructions", "allocations", "allocated_bytes", "syscalls", "wire_bytes_sent") as $metric | count($server; $metric) | digits] | join(" | ")) |");

def functions($server; $most):
  counted($server) | .functions // [] | map(select(.metric == "instructions")) | sort_by(-.cost) | .[:$most]
  | .[] | "| `\(.function)` | \(.cost | digits) |";
def function_list($server; $title): "", "\($title):", "", "| function | instructions for a request, its own |", "|---|--:|", functions($server; 14);

# Rounds that were not good, by series, with the reason of the last.
def not_good:
  [$run[0].series[] | . as $series | ([.rounds[]? | select(.status != "ok")] | select(length > 0)) as $bad
    | "`\($series.id)`: \($bad | length) of \($series.rounds | length) rounds are not used (\($bad | last.reason // "no reason" | split(";") | first))"]
  | if length == 0 then empty else "", "Not everything went well:", "", (.[] | "- \(.)") end;

def page:
  "# Peers: how far from the limit are our servers?", "",
  "Written by `scripts/peers.sh` from [one run](../results/peers/run.json), [its counts](../results/peers/counts.json) and [its system calls](../results/peers/calls.json); not edited by hand. `scripts/peers.sh` repeats all of it.", "",
  "Every server answers `GET /api/weather/current?city=Kyiv`, or the gRPC call of the same name, with the same bytes of data. It has one core, the client (h2load, the same for all) has the other; each pass holds every series once, in an order drawn by lot. The adapters are in [servers/peers](../servers/peers), none longer than 80 lines. *Constant* means that nothing is looked up and nothing is encoded: a ceiling. *The same work* means question, look-up and encoding as ours do it.", "",
  "A figure is the median over \([$run[0].series[].rounds | length] | max) passes; in brackets stands its interval at 95 % or more (by order, no distribution assumed). A ratio is ours ÷ the other, formed within each pass. **Absolute times are this machine's and nobody else's; the ratios are what is compared.**", "",
  "## What was to be reached", "", goals,
  "", "*Missed*: the whole interval lies above the goal; *can't tell*: the median does, the interval does not. Where one is missed, [FINDINGS.md](FINDINGS.md) says which functions it goes to.",
  "", "## HTTP/1.1",
  timed("peers-http-c50"; "50 connections"; "http"), timed("peers-http-c1000"; "1,000 connections"; "http"),
  memory("peers-http-c10"; "peers-http-c1000"; "Memory at its peak"; "http"),
  timed("peers-http-warm"; "50 connections, after a warm-up of 3 s"; "http"),
  "", "Servers that compile themselves while they run (Node.js, the JVM) are still slow after the 200 ms of the other tables.",
  "", "## gRPC",
  timed("peers-grpc-1x50"; "1 connection × 50 calls"; "grpc"), timed("peers-grpc-10x5"; "10 connections × 5 calls"; "grpc"), timed("peers-grpc-50x1"; "50 connections × 1 call"; "grpc"),
  memory("peers-grpc-10x1"; "peers-grpc-1000x1"; "Memory at its peak"; "grpc"),
  "", "System calls for a request at 1 × 50, counted by strace: \([$calls[0] | to_entries[] | select(.key | test("@") | not) | "\(about(.key)) \(.value | digits)"] | join("; ")).",
  "", "## gRPC-web", "", "50 connections, HTTP/1.1, `application/grpc-web+proto`: \(rounds("peers-web@grpc-web") | map(cpu) | spread | shown) µs of CPU for a request, \(ratio("cpu"; "peers-web@grpc-web"; "peers-http-c50@http") | shown) times that of axum and JSON.",
  "", "## What a request costs, counted", "",
  "By `wirebench count`: one connection, one request at a time, user space (instructions) and all threads (system calls); HTTP driven by hey, gRPC by ghz. Only native programs without a run time of their own are counted.",
  counts("http"; ["peer-epoll", "peer-nginx", "peer-hyper-fixed", "peer-hyper", "http", "peer-actix", "peer-axum-docs"]),
  counts("grpc"; ["peer-h2-fixed", "peer-h2", "grpc", "peer-tonic-docs"]),
  "", "Where they go:", function_list("http"; "our HTTP server"), function_list("peer-hyper"; "raw hyper, the same work"), function_list("grpc"; "our gRPC server"), function_list("peer-h2"; "raw h2, the same work"),
  not_good,
  "", "## The machine", "",
  "\($run[0].host.cpu_count) × \($run[0].host.cpu_model), \($run[0].host.memory_bytes / 1073741824 | digits) GiB, \($run[0].host.kernel); run \($run[0].id), \($run[0].started_at). \([$versions[0] | to_entries[] | "\(.key) \(.value)"] | join(", ")).";

def worse:
  $held[0][] | limit as $limit | found as $found
  | if $found.value == null then "\(.about): not measured"
    elif ($found.low // $found.value) > $limit then "\(.about): \($found | shown), held at \($limit)" else empty end;

if $check == "true" then worse else page end
