#!/usr/bin/env bash
# profile-gateway.sh: where the CPU time of the gateway in Node.js goes, by client library, as folded stacks.
#
# Usage: lab/scripts/profile-gateway.sh [OUT]     (lab/results/comparisons/profiles)
# For undici and grpc-js: the service in Rust, the gateway with node --cpu-prof, and wrk over 10 connections for 8 s. OUT takes
# gateway-node-CLIENT.folded, one stack a line with its µs (flame graphs are drawn of that), and gateway-node-CLIENT.txt, the share of each kind.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
programs="${CARGO_TARGET_DIR:-$root/target}/release"
started=()

end() {
  local one
  for one in "${started[@]}"; do
    kill -INT "$one" 2>/dev/null || continue
    wait "$one" || true
  done
}

# ready FILE → the address that a program printed there
ready() {
  local try
  for ((try = 0; try < 100; try++)); do
    if [[ -s "$1" ]] && grep --quiet '^ready ' "$1"; then sed -n 's/^ready //p' "$1" && return; fi
    sleep 0.1
  done
  echo "profile-gateway.sh: $1: nothing became ready" >&2 && return 1
}

# profile CLIENT PROTOCOL SERVICE OUT
profile() {
  local client="$1" protocol="$2" out="$4" made
  made="$(mktemp -d)"
  "$programs/$3" --listen 127.0.0.1:0 --threads 1 >"$made/service" &
  started+=("$!")
  node --cpu-prof --cpu-prof-dir "$made" "$root/lab/servers/gateway-node/src/gateway.js" --upstream "$protocol://$(ready "$made/service")" \
    --client "$client" --listen 127.0.0.1:0 --deadline-ms 10000 >"$made/gateway" &
  started+=("$!")
  wrk -t 1 -c 10 -d 8s "http://$(ready "$made/gateway")/api/weather/current?city=Kyiv" >&2
  end && started=()
  node "$root/lab/scripts/lib/folded.mjs" "$made"/*.cpuprofile >"$out/gateway-node-$client.folded" 2>"$out/gateway-node-$client.txt"
  rm -rf "$made"
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local out="${1:-$root/lab/results/comparisons/profiles}"
  trap end EXIT
  (cd "$root" && cargo build --locked --release --package http-server --package grpc-server)
  if [[ ! -d "$root/lab/servers/gateway-node/node_modules" ]]; then npm ci --prefix "$root/lab/servers/gateway-node" --ignore-scripts --no-audit --no-fund >&2; fi
  mkdir -p "$out"
  profile undici http http-server "$out"
  profile grpc-js grpc grpc-server "$out"
}

main "$@"
