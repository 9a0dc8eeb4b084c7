#!/usr/bin/env bash
# test.sh: every check of the project's own code, the same that CI makes; stops at the first that fails. Other people's crates are
# checked by dependencies.sh.
#
# Usage: scripts/test.sh [--nightly]
#   --nightly  also the tests that are long and rarely fail, one at a time: Rust's `#[ignore = "nightly"]`, and `{ skip: nightly }` of the site
# Formatting, lints, every recorded driver sample through every jq there is, then all tests: those of the programs,
# with a short run of the real servers under the real load generators, and those of the dashboard in a real browser.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tools="${WIREBENCH_TOOLS:-$root/.tools}"
# shellcheck source=scripts/lib/beside.sh
source "$root/scripts/lib/beside.sh"
# shellcheck source=scripts/lib/tests.sh
source "$root/scripts/lib/tests.sh"

step() { printf '\n== %s\n' "$1"; }

scripts() {
  git ls-files '*.sh' ':!lab' .ci/run drivers/lib/check-samples
}

# workflows → what two linters say of them. What is ignored is newer than actionlint 1.7.12: the self-repository syntax \$/ (2026-07)
workflows() {
  "$tools/bin/actionlint" -ignore 'specifying action "\$/' -ignore 'reusable workflow call "\$/' \
    .github/workflows/*.yml
  "$tools/bin/zizmor" --quiet --offline --persona=auditor --strict-collection .github action.yml
}

# linted ARGUMENT… → cargo test with clippy as the compiler of the workspace's crates, warnings refused: lints and tests share one build, which
# `cargo clippy` would make a second time. The variable is clippy's own form of `-- -D warnings`
linted() {
  CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__" cargo test --config 'build.rustc-workspace-wrapper="clippy-driver"' --workspace --exclude wirebench-lab --locked "$@"
}

# site_tests → node's own output; the browser opens sites that the program just built makes
site_tests() {
  git ls-files 'site/tests/*.test.js' | xargs node --test --test-concurrency=2 --test-reporter=spec
}

# other_rust_tests → cargo's output: all Rust tests but the end-to-end tests, whose target is named `it`
other_rust_tests() {
  linted --lib --test '[!i]*' --no-fail-fast
}

# tests → the output of cargo and of node, then one line over all test programs
tests() {
  local outputs pids=() pid status=0
  outputs="$(mktemp -d)"
  build_servers_fast
  # setup.sh builds the load generators with this setting, so Go's standard library is compiled already.
  export CGO_ENABLED=0
  # wirebench itself is built without optimisation: that takes a fifth of the time, and few tests compute for long. Many
  # end-to-end tests wait for loads: four of them at a time and the other tests keep two cores busy.
  site_tests >"$outputs/site" 2>&1 &
  pids+=($!)
  other_rust_tests >"$outputs/rust" 2>&1 &
  pids+=($!)
  linted --test it --no-fail-fast -- --test-threads=4 2>&1 | tee "$outputs/it" || status=$?
  for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
  cat "$outputs/site" "$outputs/rust"
  # Some of the nightly tests need an idle machine.
  if [[ -n "${WIREBENCH_NIGHTLY:-}" ]]; then
    linted --lib --tests --no-fail-fast -- --ignored --test-threads=1 2>&1 | tee "$outputs/nightly" || status=$?
  fi
  totals "$outputs"/*
  rm -rf "$outputs"
  return "$status"
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  # PROPTEST_CASES: of each property test that does not say itself how many it takes.
  case "${1:-}" in
    "") export PROPTEST_CASES=150 ;;
    --nightly) export PROPTEST_CASES=1000 WIREBENCH_NIGHTLY=1 ;;
    *) echo "test.sh: expected --nightly or nothing, found $1" >&2 && exit 2 ;;
  esac
  cd "$root"
  step "formatting" && cargo fmt --all -- --check
  step "lints and build, and tools" && build_beside_setup --dev linted --all-targets --no-run
  step "shell scripts" && scripts | xargs shellcheck
  step "workflows" && workflows
  step "driver samples" && drivers/lib/check-samples
  step "tests" && tests
}

main "$@"
