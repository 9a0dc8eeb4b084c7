#!/usr/bin/env bash
# test.sh: every check of the laboratory: its scripts, the samples of its drivers, the page of peers, and the tests of its programs.
#
# Usage: lab/scripts/test.sh     (after scripts/test.sh, which installs what both need)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
tools="${WIREBENCH_TOOLS:-$root/.tools}"

# shellcheck source=scripts/lib/tests.sh
source "$root/scripts/lib/tests.sh"

step() { printf '\n== %s\n' "$1"; }

# programs → the test programs of the laboratory, built with the product's, so that what they share is built once
programs() {
  CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__" cargo test --config 'build.rustc-workspace-wrapper="clippy-driver"' --workspace --locked \
    --all-targets --no-run --message-format json-render-diagnostics |
    jq --raw-output 'select(.executable != null and .profile.test and (.manifest_path | endswith("lab/programs/Cargo.toml"))) | .executable'
}

# tests PROGRAM… → the output of all of them, which run side by side, then one line over all
tests() {
  local outputs pids=() pid status=0 program
  outputs="$(mktemp -d)"
  for program in "$@"; do
    (cd lab/programs && "$program" --test-threads=2) >"$outputs/$(basename "$program")" 2>&1 &
    pids+=($!)
  done
  node --test --test-reporter=spec lab/programs/tests/page.test.js >"$outputs/page" 2>&1 || status=$?
  for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
  cat "$outputs"/*
  totals "$outputs"/*
  rm -rf "$outputs"
  return "$status"
}

main() {
  local found
  cd "$root"
  export PATH="$tools/bin:$PATH"
  build_servers_fast
  step "packages" && if [[ ! -d lab/servers/gateway-node/node_modules ]]; then npm ci --prefix lab/servers/gateway-node --ignore-scripts --no-audit --no-fund; fi
  step "shell scripts" && git ls-files 'lab/*.sh' scripts/lib/tests.sh | xargs shellcheck
  step "driver samples" && drivers/lib/check-samples --from lab/drivers
  step "peers' page" && lab/scripts/peers.sh --render | diff - lab/docs/PEERS.md
  step "build" && found="$(programs)"
  # shellcheck disable=SC2086 # one path a line
  step "tests" && tests $found
}

main "$@"
