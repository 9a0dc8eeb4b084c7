#!/usr/bin/env bash
# publish.sh: put the runs of a history onto the branch `data`, which many jobs push to at once.
#
# Usage: scripts/publish.sh HISTORY [REMOTE]     (origin)
# Every file below HISTORY/runs/ is added as it is; a file that the branch has with other content is refused, and nothing is
# pushed then. A branch that is missing is begun. Who was quicker is never overwritten: fetch, commit on top, push again.
# No checkout is touched. git's own credentials are used, and GITHUB_TOKEN for GitHub's server where it is set.
set -euo pipefail

branch=data
tries=60
names=() # of the files that are added

say() { echo "publish.sh: $*" >&2; }
mine() { git -C "$store" --literal-pathspecs "$@"; }

# credentials URL → hands GITHUB_TOKEN to git by the environment, for that server alone: no argument and no file holds it
credentials() {
  local server="${GITHUB_SERVER_URL:-https://github.com}/" n="${GIT_CONFIG_COUNT:-0}"
  export GIT_TERMINAL_PROMPT=0
  if [[ -z "${GITHUB_TOKEN:-}" || "$1" != "$server"* ]]; then return 0; fi
  export "GIT_CONFIG_KEY_$n=http.$server.extraheader" GIT_CONFIG_COUNT="$((n + 1))"
  export "GIT_CONFIG_VALUE_$n=AUTHORIZATION: basic $(printf 'x-access-token:%s' "$GITHUB_TOKEN" | base64 | tr -d '\n')"
}

# add FILE PATH → the file as it is, in the index
add() { mine update-index --add --cacheinfo "100644,$(mine hash-object -w --no-filters -- "$1"),$2"; }

# begin HISTORY → the index of a new branch
begin() {
  mine read-tree --empty
  printf '%s\n' '# The history of this repository, kept by wirebench' \
    'Files are added and never changed; "wirebench history trend" reads them, "wirebench site build" shows them.' >"$store/README.md"
  add "$store/README.md" README.md
  if [[ -f "$1/history.json" ]]; then add "$1/history.json" history.json; fi
}

# put HISTORY → adds what is new to the index; fails when a name is taken by other content
put() {
  local file known refused=0
  names=()
  while IFS= read -r -d '' file; do
    known="$(mine ls-files --stage -- "$file" | cut --delimiter ' ' --fields 2)"
    if [[ -z "$known" ]]; then
      add "$1/$file" "$file" && names+=("$(basename "$file")")
    elif [[ "$known" != "$(mine hash-object --no-filters -- "$1/$file")" ]]; then
      say "$file: the branch $branch has it with other content; nothing was pushed" && refused=1
    fi
  done < <(cd "$1" && find runs -type f -print0 | sort --zero-terminated)
  return "$refused"
}

main() {
  if [[ "${1:---help}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && exit "$((2 * ($# == 0)))"; fi
  local history remote="${2:-origin}" url parent said commit try
  history="$(cd "$1" && pwd)"
  url="$(git remote get-url --push -- "$remote" 2>/dev/null || echo "$remote")"
  if [[ -d "$url" ]]; then url="$(cd "$url" && pwd)"; fi
  store="$(mktemp -d)"
  trap 'rm -rf "$store"' EXIT
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  credentials "$url"
  git init --quiet --bare "$store"
  mine remote add origin "$url"
  for ((try = 1; try <= tries; try++)); do
    parent="$(mine ls-remote origin "refs/heads/$branch" | cut --fields 1)"
    if [[ -z "$parent" ]]; then begin "$history"; else
      mine fetch --quiet --no-tags --depth 1 --filter=blob:none origin "$parent" && mine read-tree "$parent"
    fi
    put "$history"
    if [[ "${#names[@]}" -eq 0 ]]; then say "$branch has all of it already" && return; fi
    commit="$(mine -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
      commit-tree "$(mine write-tree --missing-ok)" ${parent:+-p "$parent"} -m "data: add ${names[*]}")"
    if said="$(mine push --quiet origin "$commit:refs/heads/$branch" 2>&1)"; then say "pushed at try $try: ${names[*]}" && return; fi
    sleep "$((try / 4)).$((RANDOM % 900 + 100))"
  done
  say "gave up after $tries tries; git said: $said" && return 1
}

main "$@"
