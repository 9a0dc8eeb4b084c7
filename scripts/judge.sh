#!/usr/bin/env bash
# judge.sh: join the runs of several runners into one, and judge them together.
#
# Usage: scripts/judge.sh DIR PLAN     (DIR/bin holds wirebench, DIR/runs one folder of each runner; see lib/conclude.sh for what else it takes,
# and lib/scenarios.sh for what is said by environment)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

main() {
  local lines args=()
  # Artifacts keep no permissions.
  chmod +x "$1/bin/wirebench"
  PATH="$1/bin:$PATH"
  lines="$("$root/scripts/lib/scenarios.sh")"
  if [[ -n "$lines" ]]; then mapfile -t args <<<"$lines"; fi
  unset GITHUB_TOKEN
  wirebench --root "$root" merge "$1"/runs/* --plan "$2" ${args[@]+"${args[@]}"}
  "$root/scripts/lib/conclude.sh" "$root" "$1"
}

main "$@"
