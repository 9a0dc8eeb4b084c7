# Prints the page lab/docs/PEERS.md; with --arg check true, one line for each ratio that is worse than held.json allows. figures.jq comes before it in
# the same program. An entry of held.json without a goal is held, but not on the page. --slurpfile run run.json, counts counts.json, calls calls.json, about about.json, versions versions.json, held held.json

def about($server): $about[0][$server];

def goals:
  "| what | goal: at most | found | |", "|---|--:|--:|---|",
  ($held[0][] | select(.goal) | found as $found | "| \(.about) | \(.goal) | \($found | shown) | \(outcome($found)) |");

# The servers of a scenario; ours with another allocator have a table of their own.
def servers($scenario): [$run[0].series[] | select(.scenario == $scenario) | .server | select(endswith("malloc") | not)];

# Lines that are left out when the scenario was not measured.
def when($scenario; lines): if servers($scenario) == [] then empty else lines end;

# One scenario: a row for each server, the cheapest first; CPU is that of a request's $parts, each called $part.
def timed($scenario; $title; $ours; $part; $parts): when($scenario;
  "", "### \($title)", "",
  "| server | CPU for a \($part), µs | ours ÷ it | \($part)s/s | p99 of a request, ms | what limited it |", "|---|--:|--:|--:|--:|---|",
  (servers($scenario) | map({ server: ., cpu: (rounds("\($scenario)@\(.)") | map(cpu / $parts) | spread) }) | sort_by(.cpu.value // infinite) | .[]
    | .server as $server | rounds("\($scenario)@\($server)") as $rounds
    | (if $server == $ours then "–" else (ratio("cpu"; "\($scenario)@\($ours)"; "\($scenario)@\($server)") | shown) end) as $ratio
    | ($rounds | map(.bound // "–") | group_by(.) | max_by(length) | first // "–") as $bound
    | "| \(if $server == $ours then "**\(about($server))**" else about($server) end) | \(.cpu | shown) | \($ratio) | \($rounds | map(figure("rate") * $parts) | median | digits) | \($rounds | map(figure("p99")) | median | digits) | \($bound) |"));
def timed($scenario; $title; $ours): timed($scenario; $title; $ours; "request"; 1);

# What another allocator changes: figures of the two programs, and each allocator's beside those of the system's.
def allocators($ours; $others; $scenarios):
  "", "| | instructions\($scenarios | map(" | CPU, \(.about), µs | ÷ ours") | join("")) | memory at 1,000, MiB | ÷ ours |",
  "|---|--:|\($scenarios | map("--:|--:|") | join(""))--:|--:|",
  ($scenarios | last.scenario) as $many
  | (([$ours] + $others)[] | . as $server
    | "| \(if $server == $ours then "**\(about($server))**" else about($server) end) | \(count($server; "instructions") | digits) | \(
        [$scenarios[] | .scenario as $scenario | (rounds("\($scenario)@\($server)") | map(cpu) | spread | shown), (if $server == $ours then "–" else (ratio("cpu"; "\($scenario)@\($server)"; "\($scenario)@\($ours)") | shown) end)] | join(" | ")) | \(
        rounds("\($many)@\($server)") | map(figure("memory")) | median | digits) | \(
        if $server == $ours then "–" else (ratio("memory"; "\($many)@\($server)"; "\($many)@\($ours)") | shown) end) |");

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
  [$run[].series[] | . as $series | ([.rounds[]? | select(.status != "ok")] | select(length > 0)) as $bad
    | "`\($series.id)`: \($bad | length) of \($series.rounds | length) rounds are not used (\($bad | last.reason // "no reason" | split(";") | first))"]
  | if length == 0 then empty else "", "Not everything went well:", "", (.[] | "- \(.)") end;

def page:
  "# Peers: how far from the limit are our servers?", "",
  "Written by `lab/scripts/peers.sh` from [a run over all series](../results/peers/run.json), \(if $run[1] then "[a second run](../results/peers/run-goals.json) over those that a goal names, " else "" end)[counts](../results/peers/counts.json) and [system calls](../results/peers/calls.json); not edited by hand. `lab/scripts/peers.sh` repeats all of it.", "",
  "Every server responds to `GET /api/weather/current?city=Kyiv`, or the gRPC call of the same name, with the same data. The server has one core, the client (h2load, the same for all) has the other; each pass holds every series once, in an order drawn by lot. The adapters are in [servers/peers](../servers/peers), none longer than 80 lines. *Constant* means that nothing is looked up and nothing is encoded: a ceiling. *The same work* means request, look-up and encoding as ours do it.", "",
  "A figure is the median over \([$run[0].series[].rounds | length] | max) passes\(if $run[1] then ", and \([$run[1].series[].rounds | length] | max) more for the series that a goal names" else "" end); in brackets stands its interval at 95 % or more (by order, no distribution assumed). A ratio is ours ÷ the other, formed within each pass. **Absolute times are this machine's and nobody else's; the ratios are what is compared.**", "",
  "## What was to be reached", "", goals,
  "", "*Missed*: the whole interval lies above the goal; *can't tell*: the median does, the interval does not. Where one is missed, [FINDINGS.md](FINDINGS.md) says which functions it goes to.",
  "", "## HTTP/1.1",
  timed("peers-http-c50"; "50 connections"; "http"), timed("peers-http-c1000"; "1,000 connections"; "http"),
  memory("peers-http-c10"; "peers-http-c1000"; "Memory at its peak"; "http"),
  timed("peers-http-warm"; "50 connections, after a warm-up of 3 s"; "http"),
  timed("peers-http-c1000-warm"; "1,000 connections, after a warm-up of 3 s"; "http"),
  "", "Servers that compile themselves while they run (Node.js, the JVM) are still slow after the 200 ms of the other tables; fastify does not even accept 1,000 connections in the 700 ms of the table above.",
  "", "## gRPC",
  timed("peers-grpc-1x50"; "1 connection × 50 calls"; "grpc"), timed("peers-grpc-10x5"; "10 connections × 5 calls"; "grpc"), timed("peers-grpc-50x1"; "50 connections × 1 call"; "grpc"),
  memory("peers-grpc-10x1"; "peers-grpc-1000x1"; "Memory at its peak"; "grpc"),
  "", "System calls for a request at 1 × 50, counted by strace: \([$calls[0] | to_entries[] | select(.key | test("@") | not) | "\(about(.key)) \(.value | digits)"] | join("; ")).",
  when("peers-stream-1x50"; "", "## gRPC server streaming", "",
  "`StreamUsers` with 100 messages of about 165 bytes. h2load counts a stream as one request and reads every DATA frame; CPU for a message is that for a stream divided by 100. raw h2 hands over the messages of a stream together, tonic gathers those that are ready up to 32 KiB, and tonic's documentation sends each through a channel.",
  timed("peers-stream-1x50"; "1 connection × 50 streams"; "grpc"; "message"; 100), timed("peers-stream-50x1"; "50 connections × 1 stream"; "grpc"; "message"; 100), timed("peers-stream-1000x1"; "1,000 connections × 1 stream"; "grpc"; "message"; 100)),
  when("peers-download-http"; "", "## Large payloads", "",
  "One file of 1,048,576 bytes in the response, or a request body of 1,048,651 bytes, on each of 10 connections. *On our runtime* is a program of a few lines on the library of our servers ([servers/peers/ours](../servers/peers/ours)). nginx sends the file with `sendfile`.",
  timed("peers-download-http"; "Responses of 1 MiB, HTTP/1.1"; "peer-files-axum"), timed("peers-download-grpc"; "Responses of 1 MiB, gRPC"; "peer-files-tonic"),
  timed("peers-upload-http"; "Requests of 1 MiB, HTTP/1.1"; "peer-files-axum"), timed("peers-upload-grpc"; "Requests of 1 MiB, gRPC"; "peer-files-tonic")),
  if rounds("peers-http-c50@peer-http-mimalloc") == [] then empty else "", "## Allocators", "",
  "Our servers with another allocator linked in, nothing else changed ([servers/peers/ours](../servers/peers/ours)). \"Default\" is the system's, glibc. A ratio is the row ÷ ours.",
  allocators("http"; ["peer-http-mimalloc", "peer-http-jemalloc"]; [{ about: "50 connections", scenario: "peers-http-c50" }, { about: "1,000", scenario: "peers-http-c1000" }]),
  allocators("grpc"; ["peer-grpc-mimalloc", "peer-grpc-jemalloc"]; [{ about: "1 × 50", scenario: "peers-grpc-1x50" }, { about: "1,000 × 1", scenario: "peers-grpc-1000x1" }]) end,
  "", "## gRPC-web", "", "50 connections, HTTP/1.1, `application/grpc-web+proto`: \(rounds("peers-web@grpc-web") | map(cpu) | spread | shown) µs of CPU for a request, \(ratio("cpu"; "peers-web@grpc-web"; "peers-http-c50@http") | shown) times that of axum and JSON.",
  "", "## What a request costs, counted", "",
  "By `wirebench count`: one connection, one request at a time, user space (instructions) and all threads (system calls); HTTP driven by hey, gRPC by ghz. Only native programs without a run time of their own are counted.",
  counts("http"; ["peer-epoll", "peer-nginx", "peer-hyper-fixed", "peer-hyper", "peer-axum-handlers", "http", "peer-actix", "peer-axum-docs"]),
  counts("grpc"; ["peer-h2-fixed", "peer-h2", "grpc", "peer-tonic-docs"]),
  "", "Where they go:", function_list("http"; "our HTTP server"), function_list("peer-hyper"; "raw hyper, the same work"), function_list("grpc"; "our gRPC server"), function_list("peer-h2"; "raw h2, the same work"),
  not_good,
  "", "## The machine", "",
  "\($run[0].host.cpu_count) × \($run[0].host.cpu_model), \($run[0].host.memory_bytes / 1073741824 | digits) GiB, \($run[0].host.kernel); run \([$run[] | "\(.id), \(.started_at)"] | join("; ")). \([$versions[0] | to_entries[] | "\(.key) \(.value)"] | join(", ")).";

def worse:
  $held[0][] | limit as $limit | found as $found
  | if $found.value == null then "\(.about): not measured"
    elif ($found.low // $found.value) > $limit then "\(.about): \($found | shown), held at \($limit)" else empty end;

if $check == "true" then worse else page end
