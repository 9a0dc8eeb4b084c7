#!/usr/bin/env bash
# defences.sh: remove each defence in turn and run the tests that must then fail; prints which held and which did not.
#
# Usage: .github/scripts/defences.sh [NAME]...     (all of them; a defence takes about a minute)
# wirebench/cli/tests/defences.json lists the defences: file, text to find, replacement, and the tests that must fail with it (of package
# wirebench, unless another is named).
# Works in a git worktree of HEAD in a temporary folder and builds into target/defences. Exit code 1 when a defence is missed.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
list="$root/wirebench/cli/tests/defences.json"

say() { echo "defences.sh: $*" >&2; }

# of NAME FIELD → a field of a defence
of() { jq --raw-output --arg name "$1" ".[] | select(.name == \$name) | $2" "$list"; }

# without NAME → replaces the defence's text in the worktree; fails unless the file has that text exactly once
without() {
  local file found
  file="$copy/$(of "$1" .file)"
  found="$(jq --raw-input --slurp --arg find "$(of "$1" .find)" 'split($find) | length - 1' "$file")"
  if [[ "$found" -ne 1 ]]; then say "$1: its text occurs $found times in ${file#"$copy/"}" && return 1; fi
  jq --raw-input --slurp --join-output --arg find "$(of "$1" .find)" --arg replace "$(of "$1" .replace)" 'split($find) | join($replace)' "$file" >"$file.new"
  cat "$file.new" >"$file" && rm "$file.new"
}

# tests NAME → their output; the exit code is cargo's
tests() {
  local words
  mapfile -t words < <(of "$1" '.tests[]')
  # Unoptimised: building is what takes the time.
  cargo test --quiet --locked --manifest-path "$copy/Cargo.toml" --package "$(of "$1" '.package // "wirebench"')" \
    "${words[0]}" ${words[1]:+"${words[1]}"} -- --include-ignored "${words[@]:2}" 2>&1
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local names=("$@") name output missed=0
  if [[ $# -eq 0 ]]; then mapfile -t names < <(jq --raw-output '.[].name' "$list"); fi
  copy="$(mktemp -d)/wirebench"
  trap 'git -C "$root" worktree remove --force "$copy"' EXIT
  git -C "$root" worktree add --quiet --detach "$copy" HEAD
  ln -s "${WIREBENCH_TOOLS:-$root/.tools}" "$copy/.tools"
  # Build into a target folder of its own: these programs have a defence removed and must not replace the project's.
  export CARGO_TARGET_DIR="$root/target/defences"
  for name in "${names[@]}"; do
    without "$name" || { missed=1 && continue; }
    if output="$(tests "$name")"; then
      say "MISSED $name: without it no test fails ($(of "$name" .about))" && missed=1
    elif [[ "$output" != *"test result: FAILED"* ]]; then
      say "MISSED $name: without it nothing builds, so nothing was tested; the last lines: $(tail -n 5 <<<"$output")" && missed=1
    else
      echo "held: $name: $(grep -c '^test .*FAILED$\|^    [a-z_:]*$' <<<"$output") lines of tests that failed"
    fi
    git -C "$copy" checkout --quiet -- .
  done
  return "$missed"
}

main "$@"
