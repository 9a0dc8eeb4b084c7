#!/usr/bin/env bash
# strangers.sh: take servers that nobody here wrote from nothing to a verdict, one after the other, and write docs/STRANGERS.md.
#
# Usage: scripts/strangers.sh [--keep] [NAME…]     (names of wirebench/cli/tests/fixtures/strangers; all of them, some 40 minutes)
#   --keep   leave each server's folder, with its runs, below target/strangers
# Each one: init, verify, run --profile quick, then a seeded slowdown (EFFORT in its source), run --baseline HEAD --budget 3m, gate. Nothing that
# init wrote is edited. The rows are kept in docs/strangers.tsv; a NAME replaces its own row. WIREBENCH names another program to use.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
strangers="$root/wirebench/cli/tests/fixtures/strangers"
rows="$root/docs/strangers.tsv"
page="$root/docs/STRANGERS.md"
work="$root/target/strangers"
budget=3m

# effort NAME → iterations of the slowdown, some 5 to 100 µs of CPU in each language
effort() {
  case "$1" in
    axum | actix | tonic) echo 3000 ;;
    go-net-http | gin | grpc-go) echo 6000 ;;
    express | fastify | spring-boot) echo 10000 ;;
    *) echo 2000 ;;
  esac
}

# seconds COMMAND… → runs it, its output to the log; prints how long it took, and keeps its exit code in $work/code
seconds() {
  local began="${EPOCHREALTIME/./}" code=0
  "$@" >>"$work/log" 2>&1 || code=$?
  echo "$code" >"$work/code"
  awk -v us="$((${EPOCHREALTIME/./} - began))" 'BEGIN { printf "%.0f", us / 1e6 }'
}

code() { cat "$work/code"; }

# building FOLDER → seconds of building in the newest run there
building() { jq '[.spent.build_ns / 1e9] | add | round' "$(newest "$1")/run.json"; }

newest() { printf '%s\n' "$1"/results/*/ | tail -1; }

# finding FOLDER → the change that is called regressed, of what a request costs where there is one; without any, the largest
finding() {
  jq --raw-output '
    [.series[].metrics[]? | select(.effect_percent != null)] as $all
    | ([$all[] | select(.metric == "instructions")] + [$all[] | select(.metric == "server_cpu")]) as $cost
    | (($cost + $all | map(select(.verdict == "regressed")) | first) // ($cost | max_by(.effect_percent))) as $most
    | if $most == null then "–" else "\($most.metric) \($most.effect_percent * 10 | round / 10 | if . > 0 then "+\(.)" else "\(.)" end) %" end
  ' "$(newest "$1")/comparison.json"
}

commit() { git -C "$1" add --all && git -C "$1" -c user.name=bench -c user.email=bench@localhost commit --quiet --message "$2"; }

# slower FOLDER NAME: the same program with more to do in each request
slower() {
  local declared='(const | *private static final int )?(EFFORT|effort)(: u64)? = '
  grep --recursive --files-with-matches --extended-regexp "^${declared}0;?\$" "$1" \
    --include='*.py' --include='*.go' --include='*.js' --include='*.rs' --include='*.java' \
    | xargs sed --in-place --regexp-extended "s/^(${declared})0/\1$(effort "$2")/"
}

# take NAME → one row
take() {
  local name="$1" folder="$work/$1" init verify quick compare built operations questions ok edits=0 verdict load
  rm -rf "$folder"
  cp -r "$strangers/$name" "$folder"
  git -C "$folder" init --quiet
  commit "$folder" theirs
  load="$(cut -d' ' -f1 /proc/loadavg)"
  init="$(seconds "$wirebench" --root "$folder" init)"
  built="$(sed -n 's/.*# worked, in \([0-9.]*\) s$/\1/p' "$folder/wirebench.toml" | awk '{ sum += $1 } END { printf "%.0f", sum }')"
  operations="$(grep -c '^\[servers\..*\.operations\.' "$folder/wirebench.toml" || true)"
  questions="$(sed -n '/^# Questions/,/^$/p' "$folder/wirebench.toml" | grep -c '^# [a-z0-9-]*: ' || true)"
  commit "$folder" measured
  verify="$(seconds "$wirebench" --root "$folder" verify)"
  if [[ "$(code)" != 0 ]]; then edits=1; fi
  quick="$(seconds "$wirebench" --root "$folder" run --profile quick)"
  ok="$(code)"
  quick=$((quick - $(building "$folder")))
  slower "$folder" "$name"
  compare="$(seconds "$wirebench" --root "$folder" run --profile quick --baseline HEAD --budget "$budget")"
  compare=$((compare - $(building "$folder")))
  seconds "$wirebench" --root "$folder" gate >/dev/null
  verdict="$(jq --raw-output .verdict "$(newest "$folder")/comparison.json"), exit $(code)"
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
    "$name" "$operations" "$questions" "$edits" "$((init - built))" "$built" "$verify" "$quick" "$ok" "$compare" "$verdict: $(finding "$folder")" "$load" "$budget"
}

# minutes SECONDS…: their sum
minutes() { printf '%s\n' "$@" | awk '{ sum += $1 } END { printf "%.1f", sum / 60 }'; }

write_page() {
  local name operations questions edits init built verify quick ok compare verdict load given first
  cat <<HEAD
# Strangers: what happens to a server that nobody here wrote?

Each server below is a small program in the shape its community uses ([wirebench/cli/tests/fixtures/strangers](../wirebench/cli/tests/fixtures/strangers)). \`scripts/strangers.sh\` takes it from nothing to a verdict and wrote this page:
\`wirebench init\`, \`wirebench verify\`, \`wirebench run --profile quick\`; then each request gets more to do (a loop in the source), \`wirebench run --profile quick --baseline HEAD --budget TIME\`, \`wirebench gate\`. What init wrote is not edited.
Times are seconds of waiting; building is left out of them and has a column of its own. "First verdict" is init, verify and the comparison together, in minutes; a comparison counts first, and its budget is for the timed rounds after that.

| server | operations | questions | hand edits | init | building | verify | quick run | budget | comparison | first verdict | says of the slowdown | load |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|
HEAD
  while IFS=$'\t' read -r name operations questions edits init built verify quick ok compare verdict load given; do
    first="$(minutes "$init" "$verify" "$compare")"
    if [[ "$ok" != 0 ]]; then quick="$quick (exit $ok)"; fi
    echo "| $name | $operations | $questions | $edits | $init s | $built s | $verify s | $quick s | $given | $compare s | $first min | $verdict | $load |"
  done <"$rows"
  cat <<FOOT

"Load" is how many programs wanted a core of this machine just before ($(nproc) cores; $(date --utc +%Y-%m-%d)). A load above 1 means that something else ran as well, which makes times longer and verdicts less certain.
The change named is one that is called regressed: instructions per request where they can be counted (Rust), server CPU per request elsewhere. Another metric there, such as system calls, means that server CPU was not confirmed, and that the verdict is right for a wrong reason.
FOOT
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local keep="" name row names=()
  if [[ "${1:-}" == --keep ]]; then keep=1 && shift; fi
  names=("$@")
  if [[ $# == 0 ]]; then mapfile -t names < <(ls "$strangers"); fi
  wirebench="${WIREBENCH:-}"
  if [[ -z "$wirebench" ]]; then
    cargo build --quiet --locked --package wirebench --manifest-path "$root/Cargo.toml"
    wirebench="${CARGO_TARGET_DIR:-$root/target}/debug/wirebench"
  fi
  export WIREBENCH_TOOLS="${WIREBENCH_TOOLS:-$root/.tools}"
  mkdir -p "$work"
  touch "$rows"
  for name in "${names[@]}"; do
    : >"$work/log"
    row="$(take "$name")"
    cp "$work/log" "$work/$name.log"
    { grep --invert-match "^$name"$'\t' "$rows" || true; } >"$work/rows"
    { cat "$work/rows" && echo "$row"; } | sort >"$rows"
    write_page >"$page"
    echo "$row"
    if [[ -z "$keep" ]]; then rm -rf "${work:?}/$name"; fi
  done
}

main "$@"
