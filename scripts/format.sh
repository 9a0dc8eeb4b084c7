#!/usr/bin/env bash
# format.sh: format every Rust source, also the modules that a macro declares, which `cargo fmt` does not find.
#
# Usage: scripts/format.sh [--check]      --check changes nothing, and fails where a file is not formatted
set -euo pipefail

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  cargo fmt --all -- "$@" wirebench/cli/src/*.rs wirebench/cli/src/*/mod.rs
}

main "$@"
