#!/usr/bin/env bash
# alert.sh: open, update or close the issue about worsenings on the default branch.
#
# Usage: .github/actions/alert/alert.sh [CONFIG]     (CONFIG: the folder with wirebench.toml and accepted.toml; the current folder if not given)
# Clones the branch `data` of the remote `origin`, and runs `wirebench github alert` on its history. Without that branch it does nothing.
# Environment: GITHUB_TOKEN (reads the branch, writes the issue), GITHUB_REPOSITORY (OWNER/NAME), WIREBENCH (the program; wirebench on PATH).
set -euo pipefail

# shellcheck source=scripts/lib/credentials.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/lib/credentials.sh"

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local url found=0
  url="$(git remote get-url origin)"
  if [[ -d "$url" ]]; then url="$(cd "$url" && pwd)"; fi
  store="$(mktemp -d)"
  trap 'rm -rf "$store"' EXIT
  # In a shell of its own: what git is told of the token is for git alone.
  (
    credentials "$url"
    git ls-remote --exit-code "$url" refs/heads/data >/dev/null || exit
    git clone --quiet --depth 1 --single-branch --branch data -- "$url" "$store/data"
  ) || found=$?
  case "$found" in
    0) ;;
    2) echo "alert.sh: there is no branch data yet" >&2 && return ;;
    *) echo "alert.sh: the remote origin does not say whether it has a branch data" >&2 && return 1 ;;
  esac
  "${WIREBENCH:-wirebench}" --root "${1:-.}" github alert "$store/data"
}

main "$@"
