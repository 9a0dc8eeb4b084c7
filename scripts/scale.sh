#!/usr/bin/env bash
# scale.sh: print the measured figures of docs/SCALE.md: what large runs and long histories cost on this machine. It judges nothing.
#
# Usage: scripts/scale.sh [PART…]      (all of them: about 20 minutes, 2 GB of disk; leave the machine alone meanwhile)
# Parts: records (shards joined, run files in git, object storage), pods (outputs of 100 load pods joined), trend, site.
# The build is the development one, whose own crates are not optimised; `pods` is optimised.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
programs="${CARGO_TARGET_DIR:-$root/target}/debug"
run="$root/results/demo/runs/2026/11/e78d757e3754-20261118T163204Z-fee7ec.json"

step() { printf '\n== %s\n' "$1"; }

records() { "$programs/scale" "$run"; }

pods() {
  step "outputs of 100 load pods, 1,000,000 latencies each, joined"
  cargo bench --quiet --locked --package wirebench-cluster
}

trend() {
  local series
  step "a trend of a long history"
  for series in 60 240; do "$programs/history_speed" "$run" --series "$series"; done
}

site() {
  node site/tests/speed/main.js --turns 3
  node site/tests/speed/main.js --turns 3 --pushes 2000 --series 1000
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  cd "$root"
  local part parts=("$@")
  if [[ ${#parts[@]} -eq 0 ]]; then parts=(records pods trend site); fi
  for part in "${parts[@]}"; do
    case "$part" in
      records | pods | trend | site) ;;
      *) echo "scale.sh: unknown part $part; see --help" >&2 && return 2 ;;
    esac
  done
  scripts/setup.sh --dev >&2
  cargo build --quiet --locked --package wirebench --package wirebench-tools
  for part in "${parts[@]}"; do "$part"; done
}

main "$@"
