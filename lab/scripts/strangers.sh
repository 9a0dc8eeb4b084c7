#!/usr/bin/env bash
# strangers.sh: take servers that nobody here wrote from nothing to a verdict, one after the other, and write lab/docs/STRANGERS.md.
#
# Usage: lab/scripts/strangers.sh [--keep] [NAME…]     (names of wirebench/cli/tests/fixtures/strangers; all of them, some 40 minutes)
#   --keep   leave each server's folder, with its runs, below target/strangers
# Each one: init, verify, run --profile quick, then a seeded slowdown (EFFORT in its source), run --baseline HEAD --budget 3m, gate. Nothing that
# init wrote is edited. The rows are kept in lab/docs/strangers.tsv; a NAME replaces its own row. WIREBENCH names another program to use.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local wirebench="${WIREBENCH:-}"
  if [[ -z "$wirebench" ]]; then
    cargo build --quiet --locked --package wirebench --manifest-path "$root/Cargo.toml"
    wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench"
  fi
  export WIREBENCH_TOOLS="${WIREBENCH_TOOLS:-$root/.tools}"
  cargo run --quiet --locked --package wirebench-lab --bin strangers --manifest-path "$root/Cargo.toml" -- --wirebench "$wirebench" "$@"
}

main "$@"
