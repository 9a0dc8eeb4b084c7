#!/usr/bin/env bash
# counts.sh: count what requests cost our servers and their peers.
#
# Usage: lab/scripts/lib/peers/counts.sh RECORDS     writes counts.json and calls.json there
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)"
lib="$root/lab/scripts/lib/peers"
counted=(peer-epoll peer-nginx peer-hyper-fixed peer-hyper peer-actix peer-axum-docs peer-axum-handlers peer-h2-fixed peer-h2 peer-tonic-docs http grpc)
counted+=(peer-http-mimalloc peer-http-jemalloc peer-grpc-mimalloc peer-grpc-jemalloc)
# The servers whose system calls calls.sh counts.
traced=(grpc peer-h2 peer-tonic-docs peer-grpc-go)

main() {
  local whole calls
  "${CARGO_TARGET_DIR:-$root/target}/debug/wirebench" --root "$root/lab" verify --profile peers "${traced[@]/#/--server=}" >&2 # builds them
  calls="$("$lib/calls.sh")"
  whole="$(mktemp)"
  trap 'rm -f "$whole"' EXIT
  "$lib/measure.sh" "$whole" count "${counted[@]/#/--server=}" --driver hey --driver ghz --scenario count-weather
  echo "$calls" >"$1/calls.json"
  jq --compact-output --from-file "$lib/counts.jq" "$whole" >"$1/counts.json"
}

main "$@"
