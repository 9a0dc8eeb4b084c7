#!/usr/bin/env bash
# measure.sh: measure or count with the profile peers, and write the run's record to a file.
#
# Usage: lab/scripts/lib/peers/measure.sh FILE VERB [ARGUMENT…]     (VERB: run or count, with its arguments)
# Rounds that are not good (exit code 1) are no error: the page names them.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)"

main() {
  local file="$1" verb="$2" out
  shift 2
  out="$(mktemp -d "$root/lab/results/peers-XXXXXX")"
  "${CARGO_TARGET_DIR:-$root/target}/debug/wirebench" --root "$root/lab" "$verb" --profile peers "$@" --out "$out" >&2 || [[ $? -eq 1 ]]
  cp "$out"/*/run.json "$file"
}

main "$@"
