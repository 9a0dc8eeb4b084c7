#!/usr/bin/env bash
# peers.sh: measure our servers and their peers in one run, and write docs/PEERS.md from its records.
#
# Usage: scripts/peers.sh [--render] [--check] [--rounds N]      (about half an hour, of which counting takes a half)
#   (nothing)   measures, counts, keeps the records in results/peers, writes the page
#   --render    only prints the page that the records in results/peers make
#   --check     measures and counts; exits with 3 when a ratio is worse than scripts/lib/peers/held.json allows; keeps records and page in results/
#   --rounds N  passes (10; with fewer than 6 an interval is no more than a range)
# It takes Go, Node.js and a JDK with Maven; what else is missing it installs (scripts/setup.sh --peers).
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench"
counted=(peer-epoll peer-nginx peer-hyper-fixed peer-hyper peer-actix peer-axum-docs peer-h2-fixed peer-h2 peer-tonic-docs http grpc)

# missing → one line for each program that is not there
missing() {
  local program
  for program in go node npm java mvn nginx h2load strace valgrind jq; do
    command -v "$program" >/dev/null || echo "$program"
  done
}

# abouts → {server: the about text of its server.toml}
abouts() {
  local file
  for file in servers/{http,grpc,grpc-web,peer-*}/server.toml; do
    jq -n --arg name "$(basename "$(dirname "$file")")" --arg about "$(sed -n 's/^about *= "\(.*\)"$/\1/p' "$file")" '{($name): $about}'
  done | jq -s add
}

# versions → {program: version} of what the records were made with
versions() {
  local crate
  {
    for crate in hyper h2 axum tonic actix-web tokio; do
      jq -n --arg name "$crate" --arg version "$(grep -A1 "^name = \"$crate\"" servers/peers/rust/Cargo.lock | sed -n 's/^version = "\(.*\)"/\1/p')" '{($name): $version}'
    done
    jq -n --arg v "$(go version | awk '{ print substr($3, 3) }')" '{Go: $v}'
    jq -n --arg v "$(sed -n 's/.*google.golang.org\/grpc v//p' servers/peers/go/go.mod | head -1)" '{"grpc-go": $v}'
    jq -n --arg v "$(sed -n 's/.*connectrpc.com\/connect v//p' servers/peers/go/go.mod | head -1)" '{"connect-go": $v}'
    jq -n --arg v "$(node --version)" '{"Node.js": $v[1:]}'
    jq '.dependencies | { fastify, "grpc-js": ."@grpc/grpc-js" }' servers/peers/node/package.json
    jq -n --arg v "$(nginx -v 2>&1 | sed 's/.*\///')" '{nginx: $v}'
    jq -n --arg v "$(java --version | awk 'NR == 1 { print $2 }')" '{JDK: $v}'
    jq -n --arg v "$(sed -n '/vertx-core/{n;s/.*<version>\(.*\)<.*/\1/p;}' servers/peers/java/pom.xml)" '{"Vert.x": $v}'
    jq -n --arg v "$(h2load --version | sed 's/.*\///')" '{h2load: $v}'
  } | jq -s add
}

# record FOLDER → the run.json of the one run there
record() { find "$1" -mindepth 2 -maxdepth 2 -name run.json; }

# calls PROGRAM … → system calls for a request over 1 connection × 50 calls, once the server runs: the slope between two loads
calls() {
  local folder port=50999 few=5000 many=25000 requests
  folder="$(mktemp -d)"
  printf '\0\0\0\0\006\012\004Kyiv' >"$folder/question"
  for requests in "$few" "$many"; do
    strace --follow-forks --summary-only --output "$folder/$requests" "${@//ADDRESS/127.0.0.1:$port}" >"$folder/ready" &
    until (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; do sleep 0.05; done
    h2load --threads 1 --clients 1 --max-concurrent-streams 50 --requests "$requests" --no-tls-proto h2c --header 'content-type: application/grpc' \
      --header 'te: trailers' --data "$folder/question" "http://127.0.0.1:$port/wirebench.weather.v1.WeatherService/GetCurrentWeather" >"$folder/load"
    grep -q "$requests succeeded" "$folder/load"
    # strace passes the signal on to nobody: its child is the server.
    kill -TERM "$(cat "/proc/$!/task/$!/children")"
    wait "$!" || true # a peer ends by the signal
  done
  awk -v less="$few" -v more="$many" '$NF == "total" { sum[FILENAME] = $(NF == 6 ? 4 : NF - 1) }
    END { for (file in sum) value[++n] = sum[file]; d = value[1] - value[2]; print (d < 0 ? -d : d) / (more - less) }' "$folder/$few" "$folder/$many"
  rm -r "$folder"
}

# all_calls → {server: system calls for a request}
all_calls() {
  local release="${CARGO_TARGET_DIR:-$root/target}/release" peers="$root/target/peers/release"
  {
    jq -n --argjson v "$(calls "$release/grpc-server" --listen ADDRESS --threads 1)" '{grpc: $v}'
    jq -n --argjson v "$(calls "$peers/h2" ADDRESS)" '{"peer-h2": $v}'
    jq -n --argjson v "$(calls "$peers/tonic-docs" ADDRESS)" '{"peer-tonic-docs": $v}'
    jq -n --argjson v "$(GOMAXPROCS=1 calls "$root/.wirebench/bin/peer-grpc-go" ADDRESS)" '{"peer-grpc-go": $v}'
  } | jq -s add
}

# page RECORDS CHECK → the page as Markdown; with CHECK true, one line for each ratio worse than held.json allows
page() {
  jq --null-input --raw-output --slurpfile run "$1/run.json" --slurpfile counts "$1/counts.json" --slurpfile calls "$1/calls.json" \
    --slurpfile about "$1/about.json" --slurpfile versions "$1/versions.json" --slurpfile held scripts/lib/peers/held.json --arg check "$2" \
    --from-file scripts/lib/peers/peers.jq
}

# measure RECORDS ROUNDS → run.json, counts.json, calls.json, about.json, versions.json there
measure() {
  local records="$1" out flags=() server
  out="$(mktemp -d "$root/results/peers-XXXXXX")"
  for server in "${counted[@]}"; do flags+=(--server "$server"); done
  # 1: not every round was good, which the page says.
  "$wirebench" run --profile peers --only timings --rounds "$2" --out "$out/timed" || [[ $? -eq 1 ]]
  "$wirebench" count --profile peers "${flags[@]}" --driver hey --driver ghz --scenario count-weather --out "$out/counted" || [[ $? -eq 1 ]]
  mkdir -p "$records"
  cp "$(record "$out/timed")" "$records/run.json"
  # Call stacks, and all but the dearest functions, are left out: they are most of the record.
  jq --compact-output '.series |= map(.counts |= map(del(.stacks, .callers) | .functions |= ((. // []) | map(select(.metric == "instructions")) | sort_by(-.cost) | .[:30])))' \
    "$(record "$out/counted")" >"$records/counts.json"
  all_calls >"$records/calls.json"
  abouts >"$records/about.json"
  versions >"$records/versions.json"
}

main() {
  local check=false rounds=10 lacking worse
  cd "$root"
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --render) page results/peers false && return ;;
      --check) check=true ;;
      --rounds) rounds="${2:?--rounds needs a number}" && shift ;;
      --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return ;;
      *) echo "peers.sh: unknown argument $1; see --help" >&2 && return 2 ;;
    esac
    shift
  done
  scripts/setup.sh --peers >&2
  lacking="$(missing)"
  if [[ -n "$lacking" ]]; then echo "peers.sh: install first: ${lacking//$'\n'/, }" >&2 && return 2; fi
  cargo build --locked --package wirebench
  if ! "$check"; then
    measure results/peers "$rounds"
    page results/peers false >docs/PEERS.md
    return
  fi
  measure results/peers-checked "$rounds"
  page results/peers-checked false >results/peers-checked/PEERS.md
  worse="$(page results/peers-checked true)"
  if [[ -n "$worse" ]]; then printf 'worse than held:\n%s\n' "$worse" >&2 && return 3; fi
}

main "$@"
