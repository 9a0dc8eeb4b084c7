#!/usr/bin/env bash
# scenarios.sh: which scenarios a workflow was asked for, as flags of wirebench, one a line; nothing when it was asked for all.
#
# Usage: scripts/lib/scenarios.sh     ($SCENARIOS: globs, separated by blanks; wirebench is on PATH)
# A run that was started anew by a comment `/bench GLOB…` carries no inputs of its own: the comment says which.
set -euo pipefail

main() {
  local scenario scenarios=() asked
  read -ra scenarios <<<"${SCENARIOS:-}" || true
  if [[ "${GITHUB_EVENT_NAME:-}" == pull_request && "${GITHUB_RUN_ATTEMPT:-1}" -gt 1 ]]; then
    asked="$(wirebench rerun --asked)"
    if [[ -n "$asked" ]]; then mapfile -t scenarios <<<"$asked"; fi
  fi
  for scenario in ${scenarios[@]+"${scenarios[@]}"}; do
    if [[ "$scenario" == -* ]]; then echo "::error::input scenarios: $scenario begins with -" >&2 && return 2; fi
    echo "--scenario=$scenario"
  done
}

main "$@"
