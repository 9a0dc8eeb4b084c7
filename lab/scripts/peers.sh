#!/usr/bin/env bash
# peers.sh: measure our servers and their peers in one run, and write lab/docs/PEERS.md from its records.
#
# Usage: lab/scripts/peers.sh [--render] [--check] [--only timings|counts] [--rounds N] [--more N]
#   (nothing)   measures for about 22 minutes, counts for about 10, keeps the records in lab/results/peers, writes the page
#   --render    only prints the page that the records in lab/results/peers make
#   --check     measures and counts; exits with 3 when a ratio is worse than lab/scripts/lib/peers/held.json allows; records and page go to
#               lab/results/peers-checked
#   --only      only the timings, which need a quiet machine, or only the counts, which do not; the other records stay as they are
#   --rounds N  passes over every series (6)
#   --more N    further passes over the series that a goal of held.json names (14)
# It takes Go, Node.js and a JDK with Maven; what else is missing it installs (scripts/setup.sh --peers).
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
lib="$root/lab/scripts/lib/peers"
# missing → one line for each program that is not installed
missing() {
  local program
  for program in go node npm java mvn nginx h2load strace valgrind jq; do
    command -v "$program" >/dev/null || echo "$program"
  done
}

# timings RECORDS ROUNDS MORE → run.json and run-goals.json there
timings() {
  local goals=()
  readarray -t goals < <(jq --raw-output --from-file "$lib/goals.jq" "$lib/held.json")
  "$lib/measure.sh" "$1/run.json" run --only timings --rounds "$2"
  "$lib/measure.sh" "$1/run-goals.json" run --only timings --rounds "$3" "${goals[@]}"
}

main() {
  local check=false only="" rounds=6 more=14 records=lab/results/peers lacking worse
  cd "$root"
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --render)
        "$lib/page.sh" lab/results/peers
        return
        ;;
      --check) check=true && records=lab/results/peers-checked ;;
      --only)
        only="${2:?--only needs timings or counts}" && shift
        [[ "$only" == timings || "$only" == counts ]] || { echo "peers.sh: --only takes timings or counts, found $only" >&2 && return 2; }
        ;;
      --rounds) rounds="${2:?--rounds needs a number}" && shift ;;
      --more) more="${2:?--more needs a number}" && shift ;;
      --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return ;;
      *) echo "peers.sh: unknown argument $1; see --help" >&2 && return 2 ;;
    esac
    shift
  done
  scripts/setup.sh --peers >&2
  lacking="$(missing)"
  if [[ -n "$lacking" ]]; then echo "peers.sh: install first: ${lacking//$'\n'/, }" >&2 && return 2; fi
  cargo build --locked --package wirebench
  mkdir -p "$records"
  if [[ "$only" != counts ]]; then timings "$records" "$rounds" "$more"; fi
  if [[ "$only" != timings ]]; then "$lib/counts.sh" "$records"; fi
  "$lib/about.sh" >"$records/about.json"
  "$lib/versions.sh" >"$records/versions.json"
  if ! "$check"; then "$lib/page.sh" "$records" >lab/docs/PEERS.md && return; fi
  "$lib/page.sh" "$records" >"$records/PEERS.md"
  worse="$("$lib/page.sh" "$records" --worse)"
  if [[ -n "$worse" ]]; then printf 'worse than held:\n%s\n' "$worse" >&2 && return 3; fi
}

main "$@"
