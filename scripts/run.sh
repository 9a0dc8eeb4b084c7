#!/usr/bin/env bash
# run.sh: the main job: install what is missing, build, measure, report.
#
# Usage: scripts/run.sh [flags of `wirebench run`]
#   scripts/run.sh --profile quick     every scenario cut short: under a minute of load
#   scripts/run.sh                     every scenario in full on every server: about seven minutes of load
#   scripts/run.sh --help              every flag
# The table is printed; record, report and charts are in results/<run>/, the dashboard of all runs there in results/site/.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck source=scripts/lib/beside.sh
source "$root/scripts/lib/beside.sh"

# dashboard WIREBENCH → the dashboard of every run under results/, and where it is
dashboard() {
  local page
  page="$("$1" --root "$root" site build --runs "$root/results" --out "$root/results/site" 2>/dev/null)" || return 0
  printf 'dashboard  %s, or move about in it with: %s site serve %s\n' "$page" "$1" "$root/results/site" >&2
}

build() { (cd "$root" && cargo build --locked --package wirebench); }

main() {
  local wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench" status=0 argument more=""
  # This profile takes every load generator there is.
  if [[ " $* " =~ \ --profile[=\ ]loads\  ]]; then more=--drivers; fi
  build_beside_setup "$more" build >&2
  for argument in "$@"; do
    if [[ "$argument" == --help || "$argument" == -h ]]; then exec "$wirebench" run --help; fi
  done
  "$wirebench" --root "$root" run "$@" || status=$?
  # Wrong usage measured nothing.
  if [[ "$status" -ne 2 ]]; then dashboard "$wirebench"; fi
  return "$status"
}

main "$@"
