#!/usr/bin/env bash
# conclude.sh: the end of a run in a workflow: write its summary, the comparison for the comment, and after a push the files to publish.
#
# Usage: scripts/lib/conclude.sh CONFIG DIR     (of the newest run of the project in CONFIG; wirebench is on PATH)
# DIR/result takes comparison.json; DIR/history, after a push, the run as a history keeps it and export/ for github-action-benchmark.
set -euo pipefail

main() {
  wirebench --root "$1" github summary --artifact "$2/result"
  if [[ "${GITHUB_EVENT_NAME:-}" != push ]]; then return; fi
  wirebench --root "$1" history append --to "$2/history" || echo "::warning::this run has no place in the history; the reason is above"
  wirebench --root "$1" export --format github-action-benchmark --out "$2/history/export"
}

main "$@"
