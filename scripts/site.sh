#!/usr/bin/env bash
# site.sh: build the dashboard that is published: of the history on the branch `data`, else of results/history.
#
# Usage: scripts/site.sh [OUT [CONFIG]]     (_site; CONFIG: the folder with wirebench.toml, without it the repository that one stands in)
# $PAGES has further pages, TITLE=FILE on each line. $WIREBENCH names a wirebench to use; without it, this checkout's is built. GITHUB_TOKEN, where it is set, is used to read GitHub's server.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck source=scripts/lib/credentials.sh
source "$root/scripts/lib/credentials.sh"

# history REPOSITORY → the folder of the history: the data branch in a worktree of its own, or results/history where there is no such branch. A remote
# that does not answer says nothing about its branches: that is a failure, so that an old history does not take the place of the newest.
history() {
  local tree="$1/.wirebench/trees/data" found=2 url head
  if url="$(git -C "$1" remote get-url origin 2>/dev/null)"; then
    credentials "$url"
    found=0 && git -C "$1" ls-remote --exit-code origin refs/heads/data >/dev/null || found=$?
  fi
  case "$found" in
    0) ;;
    2)
      echo "there is no branch data yet: showing results/history, past commits measured on one machine" >&2
      echo "$root/results/history" && return
      ;;
    *) echo "site.sh: the remote origin does not say whether it has a branch data; nothing was built" >&2 && return 1 ;;
  esac
  git -C "$1" fetch --quiet --depth 1 origin refs/heads/data && head="$(git -C "$1" rev-parse FETCH_HEAD)" || return
  if [[ -d "$tree" ]]; then git -C "$tree" checkout --quiet --detach "$head"; else
    git -C "$1" worktree add --quiet --detach "$tree" "$head"
  fi || return
  echo "$tree"
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local out="${1:-_site}" repository from wirebench="${WIREBENCH:-}" page pages=()
  repository="$(git rev-parse --show-toplevel 2>/dev/null || echo "$root")"
  if [[ -z "$wirebench" ]]; then
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml" --package wirebench
    wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench"
  fi
  # In a shell of its own: the token is for git alone.
  from="$(history "$repository")"
  unset GITHUB_TOKEN
  while IFS= read -r page; do if [[ -n "$page" ]]; then pages+=(--page "$page"); fi; done <<<"${PAGES:-}"
  "$wirebench" --root "${2:-$repository}" site build "$from" --out "$out" "${pages[@]}" ${GITHUB_REPOSITORY:+--repository "$GITHUB_REPOSITORY"}
}

main "$@"
