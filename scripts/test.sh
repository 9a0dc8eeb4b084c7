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

# inner_tests → cargo's output: all of Rust but those through the command line, which are the programs named `it`
inner_tests() {
  linted --lib --test '[!i]*' --no-fail-fast
}

# tests → the output of cargo and of node, then one line over all test programs
tests() {
  local output beside pids=() pid status=0
  output="$(mktemp)" && beside="$(mktemp -d)"
  # Tests ask whether the servers are right, not how fast they are: hardly optimised they build in less than half the time.
  export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1
  # As setup.sh builds the load generators: what Go's own packages compile to is there.
  export CGO_ENABLED=0
  # wirebench itself is built without optimisation: that takes a fifth of the time, and few tests compute for long. Many tests wait for loads,
  # so three at a time, with the others beside them, keep two cores busy.
  site_tests >"$beside/site" 2>&1 &
  pids+=($!)
  inner_tests >"$beside/inner" 2>&1 &
  pids+=($!)
  linted --test it --no-fail-fast -- --test-threads=3 2>&1 | tee "$output" || status=$?
  for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
  cat "$beside"/* | tee -a "$output"
  # Some of the nightly tests need an idle machine.
  if [[ -n "${WIREBENCH_NIGHTLY:-}" ]]; then
    linted --lib --tests --no-fail-fast -- --ignored --test-threads=1 2>&1 | tee -a "$output" || status=$?
  fi
  awk '/^test result:/ { passed += $4; failed += $6 } /^ℹ pass / { passed += $3 } /^ℹ (fail|cancelled) / { failed += $3 }
    END { print passed + 0 " passed, " failed + 0 " failed" }' "$output"
  rm -rf "$output" "$beside"
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
