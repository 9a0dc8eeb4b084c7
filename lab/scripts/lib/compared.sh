#!/usr/bin/env bash
# compared.sh: what is shown of measured comparisons: the document, the dashboard with its page, criterion's report.
#
# Usage: lab/scripts/lib/compared.sh RUNS OUT     (RUNS: a folder of runs, as lab/scripts/comparisons.sh leaves them)
# OUT takes COMPARISONS.md, comparisons/ with its details and chart, the records below runs/, site/ and criterion/ (benchmarks of servers/domain, run anew with plots).
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"

main() {
  local from="$1" out="$2" wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench" run lab runs=()
  for run in "$from"/*/run.json; do if [[ -f "$run" ]]; then runs+=("$(dirname "$run")"); fi; done
  if [[ "${#runs[@]}" -eq 0 ]]; then echo "compared.sh: $from: there are no runs" >&2 && return 1; fi
  (cd "$root" && cargo build --locked --package wirebench --package wirebench-lab)
  # criterion draws its plots with it.
  command -v gnuplot >/dev/null || "$root/scripts/setup.sh" --only gnuplot-nox >&2
  mkdir -p "$out/runs"
  for run in "${runs[@]}"; do cp -r "$run" "$out/runs/$(jq --raw-output .id "$run/run.json")"; done
  lab="${CARGO_TARGET_DIR:-$root/target}/debug/lab"
  "$lab" --root "$root/lab" claims "$out"/runs/* --out "$out/COMPARISONS.md"
  "$root/lab/scripts/comparisons-chart.sh" "$out/comparisons"
  "$lab" --root "$root/lab" claims "$out"/runs/* --page "$out/comparisons.html"
  "$wirebench" --root "$root" site build --runs "$out/runs" --out "$out/site" --page "HTTP or gRPC?=$out/comparisons.html"
  CRITERION_HOME="$(cd "$out" && pwd)/criterion" cargo bench --locked --manifest-path "$root/Cargo.toml" --package domain
}

main "$@"
