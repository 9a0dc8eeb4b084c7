#!/usr/bin/env bash
# page.sh: print the page lab/docs/PEERS.md that records make.
#
# Usage: lab/scripts/lib/peers/page.sh RECORDS [--worse]
#   --worse  instead of the page, one line for each ratio that is worse than held.json allows
set -euo pipefail

lib="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

main() {
  local check=false runs=("$1/run.json")
  if [[ -e "$1/run-goals.json" ]]; then runs+=("$1/run-goals.json"); fi
  if [[ "${2:-}" == --worse ]]; then check=true; fi
  jq --null-input --raw-output --slurpfile run <(cat "${runs[@]}") --slurpfile counts "$1/counts.json" --slurpfile calls "$1/calls.json" \
    --slurpfile about "$1/about.json" --slurpfile versions "$1/versions.json" --slurpfile held "$lib/held.json" --arg check "$check" \
    --from-file <(cat "$lib/figures.jq" "$lib/peers.jq")
}

main "$@"
