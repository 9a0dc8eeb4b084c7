#!/usr/bin/env bash
# judge.sh: join the runs of several runners into one, and judge them together.
#
# Usage: .github/actions/judge/judge.sh DIR     (DIR/bin holds wirebench, DIR/runs one folder of each runner)
# Results are written into DIR, as scripts/lib/conclude.sh says.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
# shellcheck source=scripts/lib/taken.sh
source "$root/scripts/lib/taken.sh"

main() {
  local runs status=0
  if ! taken "$1"; then echo "::error::no runner built wirebench: see the jobs that measure" && return 1; fi
  if ! compgen -G "$1/runs/*" >/dev/null; then echo "::error::no runner measured anything: see the jobs that measure" && return 1; fi
  PATH="$1/bin:$PATH"
  unset GITHUB_TOKEN
  # One artifact alone is unpacked without a folder of its own; merge says which part is missing.
  if [[ -f "$1/runs/run.json" ]]; then runs=("$1/runs"); else runs=("$1"/runs/*); fi
  # A series that failed is part of the result, and is shown.
  wirebench --root "$root" merge "${runs[@]}" || status=$?
  "$root/scripts/lib/conclude.sh" "$root" "$1"
  return "$status"
}

main "$@"
