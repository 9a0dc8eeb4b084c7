#!/usr/bin/env bash
# run.sh: the main job: install what is missing, build, measure, report.
#
# Usage: scripts/run.sh [flags of `wirebench run`]
#   scripts/run.sh --profile quick     every scenario cut short: under a minute of load
#   scripts/run.sh                     every scenario in full on every server: about seven minutes of load
#   scripts/run.sh --help              every flag
# The table is printed; record, report and charts are in results/<run>/.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

main() {
  "$root/scripts/setup.sh" >&2
  (cd "$root" && cargo build --locked --package wirebench)
  exec "${CARGO_TARGET_DIR:-$root/target}/debug/wirebench" --root "$root" run "$@"
}

main "$@"
