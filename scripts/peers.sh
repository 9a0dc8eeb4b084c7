#!/usr/bin/env bash
# peers.sh: measure our servers and their peers in one run, and write docs/PEERS.md from its records.
#
# Usage: scripts/peers.sh [--render] [--check] [--only timings|counts] [--rounds N] [--more N]
#   (nothing)   measures for about 22 minutes, counts for about 10, keeps the records in results/peers, writes the page
#   --render    only prints the page that the records in results/peers make
#   --check     measures and counts; exits with 3 when a ratio is worse than scripts/lib/peers/held.json allows; records and page go to
#               results/peers-checked
#   --only      only the timings, which need a quiet machine, or only the counts, which do not; the other records stay as they are
#   --rounds N  passes over every series (6)
#   --more N    further passes over the series that a goal of held.json names (14)
# It takes Go, Node.js and a JDK with Maven; what else is missing it installs (scripts/setup.sh --peers).
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
lib="$root/scripts/lib/peers"
wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench"
counted=(peer-epoll peer-nginx peer-hyper-fixed peer-hyper peer-actix peer-axum-docs peer-axum-handlers peer-h2-fixed peer-h2 peer-tonic-docs http grpc)
counted+=(peer-http-mimalloc peer-http-jemalloc peer-grpc-mimalloc peer-grpc-jemalloc)
# The servers whose system calls calls.sh counts.
traced=(grpc peer-h2 peer-tonic-docs peer-grpc-go)

# missing → one line for each program that is not installed
missing() {
  local program
  for program in go node npm java mvn nginx h2load strace valgrind jq; do
    command -v "$program" >/dev/null || echo "$program"
  done
}

# about FILE [CONFIGURATION] → the about text of a server, or of one of its configurations
about() { sed -n "/^${2:+\[configurations.$2\]}/,\$p" "$1" | sed -n '/^about/{s/^about *= "\(.*\)"$/\1/p;q}'; }

# abouts → {server: its about text}
abouts() {
  local file
  {
    for file in servers/{http,grpc,peer-*}/server.toml; do
      jq -n --arg name "$(basename "$(dirname "$file")")" --arg about "$(about "$file")" '{($name): $about}'
    done
    jq -n --arg about "$(about servers/grpc/server.toml web)" '{"grpc-web": $about}'
  } | jq -s add
}

# goals → the arguments of wirebench that select the series of every goal with a ratio of timings, one a line
goals() {
  jq --raw-output '[.[] | select(.goal) | .ours, .beside // empty | select(contains("@")) / "@"]
    | (map(.[0]) | unique[] | "--scenario", .), (map(.[1]) | unique[] | "--server", .)' "$lib/held.json"
}

# page RECORDS CHECK → the page as Markdown; with CHECK true, one line for each ratio worse than held.json allows
page() {
  local runs=("$1/run.json")
  if [[ -e "$1/run-goals.json" ]]; then runs+=("$1/run-goals.json"); fi
  jq --null-input --raw-output --slurpfile run <(cat "${runs[@]}") --slurpfile counts "$1/counts.json" --slurpfile calls "$1/calls.json" \
    --slurpfile about "$1/about.json" --slurpfile versions "$1/versions.json" --slurpfile held "$lib/held.json" --arg check "$2" \
    --from-file <(cat "$lib/figures.jq" "$lib/peers.jq")
}

# run FILE VERB ARGUMENT … → the run.json of one run of the profile, as FILE; that not every round is good (exit code 1) the page says
run() {
  local file="$1" verb="$2" out
  shift 2
  out="$(mktemp -d "$root/results/peers-XXXXXX")"
  "$wirebench" "$verb" --profile peers "$@" --out "$out" >&2 || [[ $? -eq 1 ]]
  cp "$out"/*/run.json "$file"
}

# timings RECORDS ROUNDS MORE → run.json and run-goals.json there
timings() {
  local named=()
  readarray -t named < <(goals)
  run "$1/run.json" run --only timings --rounds "$2"
  run "$1/run-goals.json" run --only timings --rounds "$3" "${named[@]}"
}

# counts RECORDS → counts.json and calls.json there
counts() {
  local servers=() whole calls
  "$wirebench" verify --profile peers "${traced[@]/#/--server=}" >&2 # builds them
  calls="$("$lib/calls.sh")"
  whole="$(mktemp)"
  readarray -t servers < <(printf '%s\n' "${counted[@]/#/--server=}")
  run "$whole" count "${servers[@]}" --driver hey --driver ghz --scenario count-weather
  echo "$calls" >"$1/calls.json"
  # Call stacks, and all but the costliest functions, are left out: they are most of the record.
  jq --compact-output '.series |= map(.counts |= map(del(.stacks, .callers)
    | .functions |= ((. // []) | group_by(.metric) | map(sort_by(-.cost) | .[:30]) | add)))' "$whole" >"$1/counts.json"
  rm "$whole"
}

main() {
  local check=false only="" rounds=6 more=14 records=results/peers lacking worse
  cd "$root"
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --render) page results/peers false && return ;;
      --check) check=true && records=results/peers-checked ;;
      --only)
        only="${2:?--only needs timings or counts}" && shift
        [[ "$only" == timings || "$only" == counts ]] || { echo "peers.sh: --only takes timings or counts, found $only" >&2 && return 2; }
        ;;
      --rounds) rounds="${2:?--rounds needs a number}" && shift ;;
      --more) more="${2:?--more needs a number}" && shift ;;
      --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return ;;
      *) echo "peers.sh: unknown argument $1; see --help" >&2 && return 2 ;;
    esac
    shift
  done
  scripts/setup.sh --peers >&2
  lacking="$(missing)"
  if [[ -n "$lacking" ]]; then echo "peers.sh: install first: ${lacking//$'\n'/, }" >&2 && return 2; fi
  cargo build --locked --package wirebench
  mkdir -p "$records"
  if [[ "$only" != counts ]]; then timings "$records" "$rounds" "$more"; fi
  if [[ "$only" != timings ]]; then counts "$records"; fi
  abouts >"$records/about.json"
  "$lib/versions.sh" >"$records/versions.json"
  if ! "$check"; then page "$records" false >docs/PEERS.md && return; fi
  page "$records" false >"$records/PEERS.md"
  worse="$(page "$records" true)"
  if [[ -n "$worse" ]]; then printf 'worse than held:\n%s\n' "$worse" >&2 && return 3; fi
}

main "$@"
