#!/usr/bin/env bash
# calls.sh: count the system calls of a gRPC call over 1 connection × 50 calls, by strace.
#
# Usage: lab/scripts/lib/peers/calls.sh      prints {server: system calls for a request}; the servers must be built
# `wirebench count` drives one request at a time, where nothing can be batched. Here h2load drives two loads of different length, and the
# figure is the slope between them, so that the start does not count.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)"
few=5000
many=25000
port=50999
folder="$(mktemp -d)"
tracer=""

# stop → the traced server ends; strace itself passes a signal on to nobody, its child is the server
stop() {
  if [[ -n "$tracer" ]]; then
    kill -TERM "$(cat "/proc/$tracer/task/$tracer/children")" 2>/dev/null || true
    wait "$tracer" || true # a peer ends by the signal
  fi
  tracer=""
}

# load REQUESTS PROGRAM … → strace's summary in $folder/REQUESTS
load() {
  local requests="$1"
  shift
  strace --follow-forks --summary-only --output "$folder/$requests" "${@//ADDRESS/127.0.0.1:$port}" >"$folder/output" &
  tracer=$!
  until (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; do
    kill -0 "$tracer" 2>/dev/null || { echo "calls.sh: $1 ended before it listened on 127.0.0.1:$port" >&2 && return 1; }
    sleep 0.05
  done
  h2load --threads 1 --clients 1 --max-concurrent-streams 50 --requests "$requests" --no-tls-proto h2c --header 'content-type: application/grpc' \
    --header 'te: trailers' --data "$folder/message" "http://127.0.0.1:$port/wirebench.weather.v1.WeatherService/GetCurrentWeather" >"$folder/load"
  grep -q "$requests succeeded" "$folder/load" || { echo "calls.sh: $1: not all of $requests requests succeeded" >&2 && return 1; }
  stop
}

# calls SERVER PROGRAM … → {SERVER: system calls for a request}
calls() {
  local server="$1"
  shift
  load "$few" "$@"
  load "$many" "$@"
  awk -v server="$server" -v requests="$((many - few))" '$NF == "total" { sum[FILENAME] = $(NF == 6 ? 4 : NF - 1) }
    END { for (file in sum) value[++n] = sum[file]; d = value[1] - value[2]; printf "{\"%s\": %s}\n", server, (d < 0 ? -d : d) / requests }' \
    "$folder/$few" "$folder/$many"
}

main() {
  local release="${CARGO_TARGET_DIR:-$root/target}/release" peers="$root/target/peers/release"
  trap 'stop; rm -r "$folder"' EXIT
  printf '\0\0\0\0\006\012\004Kyiv' >"$folder/message"
  {
    calls grpc "$release/grpc-server" --listen ADDRESS --threads 1
    calls peer-h2 "$peers/h2" ADDRESS
    calls peer-tonic-docs "$peers/tonic-docs" ADDRESS
    GOMAXPROCS=1 calls peer-grpc-go "$root/.wirebench/bin/peer-grpc-go" ADDRESS
  } >"$folder/all"
  jq -s add "$folder/all"
}

main "$@"
