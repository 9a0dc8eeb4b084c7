#!/usr/bin/env bash
# changes.sh: decide whether a pull request can change what is measured; in doubt it can.
#
# Usage: .github/actions/changes/changes.sh     (in a checkout of GitHub's merge commit and its first parent)
# Environment: PATHS (globs of the files that matter, separated by blanks; empty for every file), READERS (folders and files that builds read,
# separated by blanks; empty for every file). Writes measure=true or measure=false to $GITHUB_OUTPUT, and a notice if it is false.
# Not measured are a pull request that changes none of PATHS, or only documents that no file of READERS names; and a merge group, whose pull
# requests were measured.
set -euo pipefail

# answer MEASURE [REASON] → the output, and a notice of the reason
answer() {
  if [[ -n "${2:-}" ]]; then echo "::notice::not measured: $2"; fi
  echo "measure=$1" >>"$GITHUB_OUTPUT"
}

# is_document FILE → succeeds for prose, licences, and pictures of the documentation
is_document() {
  case "$1" in
    *.md | *.rst | *.adoc | LICENSE* | COPYING | NOTICE | CITATION.cff | .github/CODEOWNERS | .github/ISSUE_TEMPLATE/*) ;;
    docs/*.png | docs/*.svg | docs/*.jpg | docs/*.gif) ;;
    *) return 1 ;;
  esac
}

# is_named FILE → succeeds when a file of READERS that is no document names it, as a build does that takes it in
is_named() {
  local folder readers=()
  read -ra readers <<<"${READERS:-.}"
  folder="$(git rev-parse --show-toplevel)"
  git -C "$folder" grep --quiet --fixed-strings -e "${1##*/}" HEAD -- "${readers[@]}" ':(exclude)*.md' ':(exclude)*.rst' ':(exclude)*.adoc'
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local file glob globs=() paths=() changed=()
  case "${GITHUB_EVENT_NAME:-}" in
    merge_group) answer false "a merge group has the changes of pull requests that were measured" && return ;;
    pull_request) ;;
    *) answer true && return ;;
  esac
  # Somebody asked for this run by /bench.
  if [[ "${GITHUB_RUN_ATTEMPT:-1}" -gt 1 ]] || ! git rev-parse --verify --quiet HEAD^1 >/dev/null; then answer true && return; fi
  read -ra globs <<<"${PATHS:-}" || true
  for glob in ${globs[@]+"${globs[@]}"}; do paths+=(":(top,glob)$glob"); done
  list="$(mktemp)"
  trap 'rm -f "$list"' EXIT
  if ! git diff --name-only --no-renames -z HEAD^1 HEAD -- ${paths[@]+"${paths[@]}"} >"$list"; then answer true && return; fi
  mapfile -d '' -t changed <"$list"
  if [[ ${#changed[@]} -eq 0 ]]; then answer false "no file that matters changed" && return; fi
  for file in "${changed[@]}"; do
    if ! is_document "$file" || is_named "$file"; then answer true && return; fi
  done
  answer false "only documents changed (${#changed[@]}), and no build names one"
}

main "$@"
