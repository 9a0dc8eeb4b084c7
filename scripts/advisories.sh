#!/usr/bin/env bash
# advisories.sh: check every crate against the newest known vulnerabilities; fetches their database, which test.sh never does.
#
# Usage: scripts/advisories.sh
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tools="${WIREBENCH_TOOLS:-$root/.tools}"

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local missing
  cd "$root"
  missing="$(scripts/lib/missing.sh --dev | cut -f 2 | grep '^cargo-deny@' || true)"
  if [[ -n "$missing" ]]; then scripts/setup.sh --dev --only "$missing"; fi
  "$tools/bin/cargo-deny" --locked check advisories
  "$tools/bin/cargo-deny" --locked --config deny.toml --manifest-path wirebench/fuzz/Cargo.toml check advisories
}

main "$@"
