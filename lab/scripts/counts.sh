#!/usr/bin/env bash
# counts.sh: print how well counting tells equal code from code that wastes a little in every request, on this machine.
#
# Usage: lab/scripts/counts.sh [--trials N] [--injected N] [--loaded N] [--server NAME]     (a comparison takes a quarter of a minute)
#   --trials N     comparisons of equal code, of each server (20)
#   --injected N   comparisons with each of four kinds of waste, of each server (5)
#   --loaded N     comparisons of equal code while every core is busy with something else, of each server (3)
#   --server NAME  only http or only grpc
# The last line is all of it in JSON.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  cd "$root"
  cargo build --quiet --locked --package wirebench
  cargo build --quiet --locked --release --target-dir target --package http-server --package grpc-server
  cargo run --quiet --locked --package wirebench-lab --bin count_rates -- \
    --wirebench "${CARGO_TARGET_DIR:-$root/target}/debug/wirebench" "$@"
}

main "$@"
