#!/usr/bin/env bash
# publish.sh: put the runs of a history onto the branch `data`, which many jobs push to at once.
#
# Usage: scripts/publish.sh HISTORY [REMOTE]     (origin)
# Every file below HISTORY/runs/ is added as it is. Nothing is pushed when one of them is not a run (runs/YYYY/MM/NAME.json, at most 8 MiB),
# or when the branch has it with other content. A missing branch is created. A push that came first is never overwritten: this one fetches, commits on top and pushes again.
# No checkout is touched. git's own credentials are used, and GITHUB_TOKEN for GitHub's server where it is set.
set -euo pipefail

# shellcheck source=scripts/lib/credentials.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/credentials.sh"

branch=data
tries=60
largest=$((8 * 1024 * 1024)) # bytes of a file
names=() # of the files that are added

say() { echo "publish.sh: $*" >&2; }
mine() { git -C "$store" --literal-pathspecs "$@"; }

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

# admit HISTORY → nothing, or failure when it holds something else than runs, or more than runs have
admit() {
  local size kind file refused=0
  while IFS=' ' read -r -d '' size kind file; do
    if [[ "$kind" != f || ! "$file" =~ ^(history|runs/[0-9]{4}/[0-9]{2}/[0-9A-Za-z][0-9A-Za-z._-]{0,199})\.json$ ]]; then
      say "$(printf '%q' "$file"): is no run; nothing was pushed" && refused=1
    elif [[ "$size" -gt "$largest" ]]; then
      say "$file: $size bytes, of $largest at most; nothing was pushed" && refused=1
    fi
  done < <(cd "$1" && find . \( -path './runs/*' -o -path ./history.json \) ! -type d -printf '%s %y %P\0')
  return "$refused"
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
  admit "$history"
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
