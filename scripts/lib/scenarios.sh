#!/usr/bin/env bash
# scenarios.sh: print the scenarios that a workflow selects as flags of wirebench, one a line; nothing for all scenarios.
#
# Usage: scripts/lib/scenarios.sh     ($SCENARIOS: globs, separated by blanks; wirebench is on PATH)
# A run that was restarted by a comment `/bench GLOB…` has no inputs: the globs are in the comment.
set -euo pipefail

main() {
  local scenario scenarios=() asked
  read -ra scenarios <<<"${SCENARIOS:-}" || true
  if [[ "${GITHUB_EVENT_NAME:-}" == pull_request && "${GITHUB_RUN_ATTEMPT:-1}" -gt 1 ]]; then
    asked="$(wirebench github rerun --asked)"
    if [[ -n "$asked" ]]; then mapfile -t scenarios <<<"$asked"; fi
  fi
  for scenario in ${scenarios[@]+"${scenarios[@]}"}; do
    if [[ "$scenario" == -* ]]; then echo "::error::input scenarios: $scenario begins with -" >&2 && return 2; fi
    echo "--scenario=$scenario"
  done
}

main "$@"
