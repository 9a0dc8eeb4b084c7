#!/usr/bin/env bash
# dependencies.sh: check the licence, version, source and known vulnerabilities of every crate; fetches the newest database of vulnerabilities.
#
# Usage: scripts/dependencies.sh
# Builds cargo-deny the first time, which takes some minutes: a job of its own in ci.yml, and no part of test.sh.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tools="${WIREBENCH_TOOLS:-$root/.tools}"

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local manifest
  cd "$root"
  scripts/setup.sh --dependencies
  # Crates that only other systems need are looked at too: they are downloaded, not built. Licences first: they need no database.
  "$tools/bin/cargo-deny" --locked check licenses bans sources
  # The fuzz targets are given to nobody, so their licences are not asked; their build runs on this machine all the same.
  for manifest in Cargo.toml wirebench/fuzz/Cargo.toml; do
    "$tools/bin/cargo-deny" --locked --config deny.toml --manifest-path "$manifest" check advisories
  done
}

main "$@"
