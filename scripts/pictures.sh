#!/usr/bin/env bash
# pictures.sh: make the pictures of the docs from the dashboard of this repository's own history, in headless Chromium; never by hand.
#
# Usage: scripts/pictures.sh [OUT]     (docs/pictures)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local out="${1:-$root/docs/pictures}"
  "$root/scripts/setup.sh" --dev >&2
  cargo build --quiet --locked --manifest-path "$root/Cargo.toml" --package wirebench
  "${CARGO_TARGET_DIR:-$root/target}/debug/wirebench" --root "$root" site build "$root/results/history" --out "$folder/_site" >&2
  node "$root/site/tests/lib/draw.js" "$folder/_site" "$out"
}

main "$@"
