#!/usr/bin/env bash
# rates.sh: print how often a verdict is wrong: equal code that is flagged, slowed code that is not seen. It measures nothing.
#
# Usage: lab/scripts/rates.sh [FOLDER]      (about four minutes)
# Recorded rounds are those of results/selftest/; the rule and the model are described in docs/VERDICT.md.
# FOLDER holds data files of github-action-benchmark: what the trend makes of them is printed too; docs/TREND.md has its rule and its rates.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench"

step() { printf '\n== %s\n' "$1"; }

main() {
  cd "$root"
  cargo build --quiet --locked --package wirebench
  step "recorded rounds: equal code, and candidates that burn CPU in every request"
  "$wirebench" selftest --from results/selftest --runs 400
  for slower in 5% 10%; do "$wirebench" selftest --from results/selftest/equal --inject "$slower" --runs 400; done
  step "simulated: equal code at c = 1, 3, 5, 8 %; one of three scenarios slower, c = 3 %; 12 scenarios, c = 3 %"
  cargo run --quiet --locked --package wirebench-lab --bin verdict_rates
  step "how well the trend finds steps"
  cargo run --quiet --locked --package wirebench-lab --bin trend_rates -- "$@"
}

main "$@"
