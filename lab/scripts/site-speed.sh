#!/usr/bin/env bash
# site-speed.sh: print how quick and how small the dashboard of a large made-up history is, beside github-action-benchmark's own page.
#
# Usage: lab/scripts/site-speed.sh [--pushes N] [--series N] [--turns N] [--yardstick DIR]      (some minutes; leave the machine alone)
#   --pushes N        pushes in the history (10000)
#   --series N        series, each with one metric (60)
#   --turns N         how often a page is opened; the median is printed (5)
#   --yardstick DIR   a checkout of github-action-benchmark; without it v1.22.0 is cloned
# It judges nothing in CI: figures are of the machine it runs on. Nothing is left behind.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  cd "$root"
  scripts/setup.sh --dev >&2
  cargo build --quiet --locked --package wirebench
  node site/tests/speed/main.js "$@"
}

main "$@"
