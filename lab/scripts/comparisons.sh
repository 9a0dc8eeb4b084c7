#!/usr/bin/env bash
# comparisons.sh: run the public comparisons at the lengths that were published, one after the other, and write what came of them.
#
# Usage: lab/scripts/comparisons.sh [--only LETTER]... [--rounds N] [--profile NAME] [--out DIR]
#        (every letter of claims/; the profile's rounds; comparisons-full; lab/results/claims)
# Each comparison is a run of its own in DIR/LETTER, because its series are compared with each other and must share a machine. Call it
# again to go on: a comparison whose run is complete is not measured again. At the end the document is in DIR/claims.md, made of the runs that
# are there; `lab claims lab/results/comparisons/[A-E]* --out lab/docs/COMPARISONS.md` makes the committed one of the committed runs.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench"
lab="${CARGO_TARGET_DIR:-$root/target}/debug/lab"

# is_complete DIR → success when a run there has every series it was asked for
is_complete() { [[ -f "$1/run.json" && "$(jq --raw-output .status "$1/run.json")" == complete ]]; }

# measure LETTER PROFILE OUT [flags...] → the newest run of that comparison, in OUT/LETTER
measure() {
  local letter="$1" profile="$2" to="$3/$1" status=0 newest part=()
  shift 3
  if is_complete "$to"; then echo "$letter: measured already, in $to" >&2 && return; fi
  readarray -t part < <("$lab" --root "$root/lab" claims --series "$letter")
  part=("${part[@]/#/--series=}")
  rm -rf "$to.making"
  "$wirebench" --root "$root/lab" run --profile "$profile" "${part[@]}" --out "$to.making" "$@" || status=$?
  newest="$(find "$to.making" -mindepth 2 -maxdepth 2 -name run.json 2>/dev/null | head -n 1)" || true
  if [[ -z "$newest" ]]; then return "$((status == 0 ? 1 : status))"; fi
  rm -rf "$to" && mv "$(dirname "$newest")" "$to" && rm -rf "$to.making"
  return "$status"
}

main() {
  local out="$root/lab/results/claims" profile=comparisons-full letters=() flags=() letter failed=0 runs=()
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --only) letters+=("$2") && shift 2 ;;
      --rounds) flags+=(--rounds "$2") && shift 2 ;;
      --profile) profile="$2" && shift 2 ;;
      --out) out="$2" && shift 2 ;;
      --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return ;;
      *) echo "comparisons.sh: $1: is no flag of it; see --help" >&2 && return 2 ;;
    esac
  done
  if [[ "${#letters[@]}" -eq 0 ]]; then
    mapfile -t letters < <(sed -n 's/^letter *= *"\(.*\)"/\1/p' "$root"/lab/claims/*.toml)
  fi
  "$root/scripts/setup.sh" --drivers >&2
  (cd "$root" && cargo build --locked --package wirebench --package wirebench-lab)
  mkdir -p "$out"
  for letter in "${letters[@]}"; do measure "$letter" "$profile" "$out" "${flags[@]}" || failed=$?; done
  for letter in "$out"/*/run.json; do if [[ -f "$letter" ]]; then runs+=("$(dirname "$letter")"); fi; done
  if [[ "${#runs[@]}" -eq 0 ]]; then echo "comparisons.sh: nothing was measured" >&2 && return 1; fi
  "$lab" --root "$root/lab" claims "${runs[@]}" --out "$out/claims.md"
  return "$failed"
}

main "$@"
