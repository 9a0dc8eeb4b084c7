#!/usr/bin/env bash
# about.sh: print {server: its about text} of our servers and their peers.
#
# Usage: lab/scripts/lib/peers/about.sh
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../../../.."

# about NAME FILE [CONFIGURATION] → {NAME: the about text of a server, or of one of its configurations}
about() {
  jq -n --arg name "$1" \
    --arg about "$(sed -n "/^${3:+\[configurations.$3\]}/,\$p" "$2" | sed -n '/^about/{s/^about *= "\(.*\)"$/\1/p;q}')" '{($name): $about}'
}

main() {
  local file
  {
    for file in servers/{http,grpc,peer-*}/server.toml; do about "$(basename "$(dirname "$file")")" "$file"; done
    about grpc-web servers/grpc/server.toml web
  } | jq -s add
}

main "$@"
