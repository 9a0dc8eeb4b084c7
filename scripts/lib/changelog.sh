#!/usr/bin/env bash
# changelog.sh: print what CHANGELOG.md says of one version.
#
# Usage: scripts/lib/changelog.sh VERSION     (such as v0.1.0; exit code 1 when there is no such section, or nothing in it)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

main() {
  local text
  text="$(awk -v wanted="$1" '/^## / { inside = $2 == wanted; next } inside' "$root/CHANGELOG.md")"
  [[ "$text" == *[![:space:]]* ]] || return 1
  sed '1{/^$/d;}' <<<"$text"
}

main "$@"
