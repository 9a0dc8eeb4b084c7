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
  if ! taken "$1"; then echo "::error::no runner built wirebench: see the jobs that measure" && return 1; fi
  if ! compgen -G "$1/runs/*" >/dev/null; then echo "::error::no runner measured anything: see the jobs that measure" && return 1; fi
  PATH="$1/bin:$PATH"
  unset GITHUB_TOKEN
  wirebench --root "$root" merge "$1"/runs/*
  "$root/scripts/lib/conclude.sh" "$root" "$1"
}

main "$@"
