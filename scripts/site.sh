#!/usr/bin/env bash
# site.sh: build the dashboard that is published: of the history on the branch `data`, else of the made-up one.
#
# Usage: scripts/site.sh [OUT [CONFIG]]     (_site; CONFIG: the folder with wirebench.toml, without it the repository that one stands in)
# $WIREBENCH names a wirebench to use; without it, this checkout's is built.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# history REPOSITORY → the folder of the history: the data branch in a worktree of its own, or results/demo
history() {
  local tree="$1/.wirebench/trees/data"
  if ! git -C "$1" fetch --quiet --depth 1 origin data 2>/dev/null; then
    echo "there is no branch data yet: showing results/demo, which is made up" >&2
    echo "$root/results/demo" && return
  fi
  if [[ -d "$tree" ]]; then git -C "$tree" checkout --quiet --detach FETCH_HEAD; else
    git -C "$1" worktree add --quiet --detach "$tree" FETCH_HEAD
  fi
  echo "$tree"
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local out="${1:-_site}" repository from wirebench="${WIREBENCH:-}"
  repository="$(git rev-parse --show-toplevel 2>/dev/null || echo "$root")"
  command -v gnuplot >/dev/null || "$root/scripts/setup.sh" --only gnuplot-nox >&2
  if [[ -z "$wirebench" ]]; then
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml" --package wirebench
    wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench"
  fi
  from="$(history "$repository")"
  "$wirebench" --root "${2:-$repository}" site build "$from" --out "$out" ${GITHUB_REPOSITORY:+--repository "$GITHUB_REPOSITORY"}
}

main "$@"
