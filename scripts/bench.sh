#!/usr/bin/env bash
# bench.sh: print wirebench's own speed and size: its commands, its filters, its servers. It judges nothing.
#
# Usage: scripts/bench.sh      (about two minutes; leave the machine alone meanwhile)
# The time that a run spends outside of load is in every report, under "Machine, tools, repeat".
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

step() { printf '\n== %s\n' "$1"; }

# samples COUNT → a file as hey writes it
samples() {
  jq --null-input --compact-output --argjson count "$1" --from-file "$root/wirebench/benches/hey.jq" >"$folder/hey-$1.json"
}

# timed COMMAND… → its mean and range over several runs
timed() { hyperfine --shell none --warmup 1 --style basic "$*" 2>/dev/null; }

main() {
  cd "$root"
  scripts/setup.sh >&2
  cargo build --quiet --locked --package wirebench
  cargo build --quiet --locked --release --package http-server
  cargo build --quiet --locked --release --package grpc-server
  samples 100000 && samples 1000000
  step "wirebench list" && timed "$wirebench" list
  step "normalising 100,000 hey samples" && timed "$wirebench" normalise hey --stdout "$folder/hey-100000.json"
  step "normalising 1,000,000 hey samples" && timed "$wirebench" normalise hey --stdout "$folder/hey-1000000.json"
  step "the same with at most 1 GiB of address space"
  (ulimit -v 1048576 && "$wirebench" normalise hey --stdout "$folder/hey-1000000.json")
  step "servers ready after exec, size of one answer" && "$wirebench" verify --driver h2load
  step "server CPU per request, 50 in flight" && "$wirebench" --root wirebench/benches/cost run --out "$folder"
}

main "$@"
