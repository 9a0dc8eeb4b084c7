#!/usr/bin/env bash
# figures.sh: which files of `wirebench export` github-action-benchmark can read; it refuses a list without an entry.
#
# Usage: scripts/lib/figures.sh EXPORT     (the folder that `wirebench export` wrote)
# Writes `smaller` and `bigger`, true or false, to $GITHUB_OUTPUT. A run whose servers crashed has no figure; one of start-up or counts alone has none
# that is better bigger.
set -euo pipefail

main() {
  if [[ "${1:---help}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && exit "$((2 * ($# == 0)))"; fi
  local kind found
  for kind in smaller bigger; do
    found=true
    if ! grep --quiet '"name"' "$1/$kind-is-better.json"; then
      found=false
      echo "::notice::the run has no figure that is better $kind: github-action-benchmark is skipped, and the history, the dashboard and alerts have the run"
    fi
    echo "$kind=$found" >>"$GITHUB_OUTPUT"
  done
}

main "$@"
