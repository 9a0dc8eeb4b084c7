#!/usr/bin/env bash
# site.sh: build the dashboard that is published: of the history on the branch `data`, else of the made-up one.
#
# Usage: scripts/site.sh [OUT]     (_site)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# history → the folder of the history: the data branch in a worktree of its own, or results/demo
history() {
  local tree="$root/.wirebench/trees/data"
  if ! git -C "$root" fetch --quiet --depth 1 origin data 2>/dev/null; then
    echo "there is no branch data yet: showing results/demo, which is made up" >&2
    echo "$root/results/demo" && return
  fi
  if [[ -d "$tree" ]]; then git -C "$tree" checkout --quiet --detach FETCH_HEAD; else
    git -C "$root" worktree add --quiet --detach "$tree" FETCH_HEAD
  fi
  echo "$tree"
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local out="${1:-_site}" from
  command -v gnuplot >/dev/null || "$root/scripts/setup.sh" >&2
  cargo build --quiet --locked --manifest-path "$root/Cargo.toml" --package wirebench
  from="$(history)"
  "${CARGO_TARGET_DIR:-$root/target}/debug/wirebench" --root "$root" site build "$from" --out "$out"
}

main "$@"
