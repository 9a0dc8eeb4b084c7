#!/usr/bin/env bash
# commands.sh: print docs/COMMANDS.md: the help of every command, as the program itself prints it.
#
# Usage: scripts/commands.sh > docs/COMMANDS.md      (WIREBENCH names another program to use)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
wirebench="${WIREBENCH:-${CARGO_TARGET_DIR:-$root/target}/debug/wirebench}"

# help VERB… → its help, in lines of 100 characters
help() { COLUMNS=100 "$wirebench" "$@" --help | sed 's/ *$//'; }

# groups → a line "GROUP<tab>VERB" for each command, as the first help lists them
groups() {
  help | awk '/^Options:/ { exit } /^[A-Z].*:$/ { group = substr($0, 1, length($0) - 1) } /^  [a-z]/ { print group "\t" $1 }'
}

# nested VERB → the commands below it
nested() { help "$1" | awk '/^[A-Z].*:$/ { inside = /^Commands:/ } inside && /^  [a-z]/ && $1 != "help" { print $1 }'; }

# section LEVEL VERB… → a heading and the help
section() {
  local level="$1"
  shift
  printf '\n%s wirebench %s\n\n```text\n' "$level" "$*"
  help "$@"
  printf '```\n'
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local group verb below last=""
  cat <<'END'
# Commands: what does each command do, and with which options?

Written by `scripts/commands.sh` from the help of the program; a test checks that it is current. Exit codes: [FORMAT.md](FORMAT.md#exit-codes).

END
  printf '```text\n' && help && printf '```\n'
  while IFS=$'\t' read -r group verb; do
    if [[ "$group" != "$last" ]]; then printf '\n## %s\n' "$group" && last="$group"; fi
    section '###' "$verb"
    for below in $(nested "$verb"); do section '####' "$verb" "$below"; done
  done < <(groups)
}

main "$@"
