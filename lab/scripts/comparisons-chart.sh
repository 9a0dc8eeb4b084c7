#!/usr/bin/env bash
# comparisons-chart.sh: draw the jobs of the public comparisons, HTTP against gRPC, from the table that `lab claims` writes.
#
# Usage: lab/scripts/comparisons-chart.sh [FOLDER]     (the folder of jobs.tsv; lab/docs/comparisons)
# jobs.svg is written beside it; README and COMPARISONS show it.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
folder="${1:-$root/lab/docs/comparisons}"

command -v gnuplot >/dev/null || "$root/scripts/setup.sh" --only gnuplot-nox >&2
gnuplot -c "$root/lab/scripts/plot/jobs.gnuplot" "$folder/jobs.tsv" "$folder/jobs.svg" "Server CPU per request: who costs less, and by how much" \
  "mark: Hodges–Lehmann estimate over rounds; line: 95 % interval (fewer than 6 rounds: range); hollow: no clear lead"
