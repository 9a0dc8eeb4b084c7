#!/usr/bin/env bash
# measure.sh: what action.yml does between installing and uploading: get what the drivers need, measure, conclude.
#
# Usage: .github/actions/measure/measure.sh DIR     (DIR/bin holds wirebench and its load generators)
# Results are written into DIR, as scripts/lib/conclude.sh says.
# Inputs come by environment, as action.yml sets them, and none of them is ever a flag: CONFIG (folder with wirebench.toml), SCENARIOS (globs,
# separated by blanks), BASELINE, CANDIDATE (revisions), ROUNDS, BUDGET, PROFILE and SHARD (1/2).
set -euo pipefail

lib="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/lib" && pwd)"
# shellcheck source=scripts/lib/stranger.sh
source "$lib/stranger.sh"
# shellcheck source=scripts/lib/packages.sh
source "$lib/packages.sh"

fail() { echo "::error::$1" >&2 && exit 2; }

# checked NAME… → nothing, or the end when an input could be taken for a flag
checked() {
  local name
  for name in "$@"; do
    if [[ "${!name:-}" == -* ]]; then fail "input ${name,,} begins with -, which no value of it does"; fi
    if [[ "${!name:-}" == *$'\n'* ]]; then fail "input ${name,,} has several lines"; fi
  done
}

# quietly COMMAND… → the command; nothing that it prints is a workflow command
quietly() {
  local word status=0
  word="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
  echo "::stop-commands::$word"
  "$@" || status=$?
  echo "::$word::"
  return "$status"
}

# packages → what this project's drivers and counting need from the distribution, where it can be installed
packages() {
  local missing
  # Looking at a program starts it, and it may lie in the project.
  mapfile -t missing < <(stranger wirebench --root "$CONFIG" verify --packages)
  [[ ${#missing[@]} -gt 0 ]] || return 0
  echo "installing ${missing[*]}"
  install_packages "${missing[@]}" >/dev/null
}

# allow_sampling → functions can be sampled, on a machine that ends with its job; no other machine's kernel is set
allow_sampling() {
  if [[ "${RUNNER_ENVIRONMENT:-}" != github-hosted ]]; then return; fi
  # Ubuntu's perf belongs to the kernel that runs; of another one it only says so.
  perf --version &>/dev/null || install_packages "linux-tools-$(uname -r)" >/dev/null || return
  as_root sysctl --quiet kernel.perf_event_paranoid=1
}

# before_push → the commit where the branch stood before this push, or HEAD^1 with a notice of the reason
before_push() {
  local commit why
  commit="$(jq --raw-output '.before // ""' "${GITHUB_EVENT_PATH:-/dev/null}")"
  if [[ ! "$commit" =~ ^[0-9a-f]{40,64}$ ]]; then why="the event does not say where the branch stood"
  elif [[ "$commit" =~ ^0+$ ]]; then why="the branch is new"
  elif ! git -C "$CONFIG" cat-file -e "$commit^{commit}" 2>/dev/null; then why="commit $commit, where the branch stood, is not in this clone: check out with fetch-depth: 0"
  elif ! git -C "$CONFIG" merge-base --is-ancestor "$commit" HEAD; then why="the push was forced: commit $commit, where the branch stood, does not come before it"
  else echo "$commit" && return
  fi
  echo "::notice::compared with the commit before the newest: $why" >&2
  echo HEAD^1
}

# arguments → the arguments of `wirebench run`, except the scenarios, one a line
arguments() {
  if [[ -z "${BASELINE:-}" ]] && git -C "$CONFIG" rev-parse --verify --quiet HEAD^1 >/dev/null; then
    case "${GITHUB_EVENT_NAME:-}" in
      # The checkout is GitHub's merge commit, and its first parent what it merges into.
      pull_request) BASELINE=HEAD^1 ;;
      # A push can bring several commits.
      push) BASELINE="$(before_push)" ;;
    esac
  fi
  if [[ -n "${BASELINE:-}" ]]; then
    echo "--baseline=$BASELINE"
    # The checked-out commit, from a worktree like the baseline: opening a file by its absolute path takes longer in a deeper folder.
    CANDIDATE="${CANDIDATE:-HEAD}"
  fi
  if [[ -n "${CANDIDATE:-}" ]]; then echo "--candidate=$CANDIDATE"; fi
  if [[ -n "${ROUNDS:-}" ]]; then echo "--rounds=$ROUNDS"; fi
  if [[ -n "${BUDGET:-}" ]]; then echo "--budget=$BUDGET"; fi
  if [[ -n "${PROFILE:-}" ]]; then echo "--profile=$PROFILE"; fi
  if [[ -n "${SHARD:-}" ]]; then echo "--shard=$SHARD"; fi
}

main() {
  local status=0 lines args=()
  PATH="$1/bin:$PATH"
  checked CONFIG BASELINE CANDIDATE ROUNDS BUDGET PROFILE SHARD
  # An artifact is named after the part, and its name has no slash.
  if [[ -n "${SHARD:-}" ]]; then echo "shard=${SHARD%/*}" >>"$GITHUB_OUTPUT"; fi
  lines="$("$lib/scenarios.sh")"
  # From here on, programs of the pull request may be run: the token is removed from their environment.
  unset GITHUB_TOKEN
  quietly packages || echo "::warning::some packages could not be installed; series that need them fail, and say so"
  quietly allow_sampling || echo "::notice::perf could not be installed or allowed here; functions are not sampled"
  lines+=$'\n'"$(arguments)"
  mapfile -t args < <(sed '/^$/d' <<<"$lines")
  quietly stranger wirebench --root "$CONFIG" run ${args[@]+"${args[@]}"} || status=$?
  if [[ "$status" -ne 2 ]]; then "$lib/conclude.sh" "$CONFIG" "$1"; fi
  return "$status"
}

main "$@"
