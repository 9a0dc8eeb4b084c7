#!/usr/bin/env bash
# toolchains.sh: find which versions of toolchains a repository names, and the lock files whose downloads can be kept.
#
# Usage: .github/actions/toolchains/toolchains.sh     (in a checkout)
# Environment: TOOLCHAINS (LANGUAGE:FOLDER, separated by blanks). A file is looked for in FOLDER and in the folders above it. Of a language that is
# named twice, the first counts. Writes to $GITHUB_OUTPUT, of each language: LANGUAGE-file (names the version) or LANGUAGE-version, LANGUAGE-lock,
# and LANGUAGE-cache (the package manager); of Rust, whose version rustup reads, its folder.
set -euo pipefail

fail() { echo "::error::toolchains: $1" >&2 && exit 2; }

# above FOLDER NAME… → the first of these files in the folder or in one above it; fails if there is none
above() {
  local folder name
  for name in "${@:2}"; do
    folder="$1"
    until [[ -f "$folder/$name" || "$folder" == . ]]; do folder="$(dirname "$folder")"; done
    if [[ "$folder" == . ]]; then folder=""; else folder+=/; fi
    if [[ -f "$folder$name" ]]; then echo "$folder$name" && return; fi
  done
  return 1
}

# number PATTERN FILE → the number that ends the pattern's first match in the file; empty without a match
number() { grep -oE "$1" "$2" | head -n 1 | grep -oE '[0-9.]+$' || true; }

find_go() {
  file="$(above "$1" go.mod)" || fail "go:$1 has no go.mod"
  lock="${file%go.mod}go.sum"
  if [[ ! -f "$lock" ]]; then lock=""; fi
}

find_node() {
  local package manager name
  package="$(above "$1" package.json)" || package=/dev/null
  file="$(above "$1" .nvmrc .node-version)" || file=""
  if [[ -z "$file" ]] && jq --exit-status '.engines.node | strings' "$package" >/dev/null; then file="$package"; fi
  if [[ -z "$file" ]]; then version='lts/*'; fi
  for name in pnpm:pnpm-lock.yaml yarn:yarn.lock npm:package-lock.json; do
    manager="${name%%:*}"
    if lock="$(above "$1" "${name#*:}")"; then cache="$manager" && break; fi
  done
  # It comes with Node.js, and setup-node asks it for its folder.
  if [[ "$cache" == pnpm ]]; then corepack enable pnpm; fi
}

find_python() {
  file="$(above "$1" .python-version)" || file=""
  if [[ -z "$file" ]] && file="$(above "$1" pyproject.toml)" && ! grep -q requires-python "$file"; then file=""; fi
  if [[ -z "$file" ]]; then version=3.x; fi
  if lock="$(above "$1" requirements.txt pyproject.toml)"; then cache=pip; fi
}

find_java() {
  lock="$(above "$1" pom.xml build.gradle build.gradle.kts)" || fail "java:$1 has no pom.xml or build.gradle"
  file="$(above "$1" .java-version)" || file=""
  if [[ -z "$file" ]]; then
    version="$(number '(<(java\.version|maven\.compiler\.(release|target)|release)>|(JavaLanguageVersion\.of|jvmToolchain)\()[0-9]+' "$lock")"
    version="${version:-21}"
  fi
  case "$lock" in *pom.xml) cache=maven ;; *) cache=gradle ;; esac
}

find_dotnet() {
  local project
  file="$(above "$1" global.json)" || file=""
  if [[ -z "$file" ]]; then
    project="$(find "$1" -name '*.csproj' -print -quit)"
    version="$(number '<TargetFrameworks?>net[0-9]+\.[0-9]+' "${project:-/dev/null}")"
    version="${version:-10.0}.x"
  fi
  lock="$(above "$1" packages.lock.json)" || lock=""
}

main() {
  local entry entries=() language folder file version lock cache known=""
  read -ra entries <<<"${TOOLCHAINS:-}" || true
  for entry in ${entries[@]+"${entries[@]}"}; do
    language="${entry%%:*}" folder="${entry#*:}" file="" version="" lock="" cache=""
    folder="${folder%/}"
    if [[ "$entry" != *:* || ! "$language" =~ ^(rust|go|node|python|java|dotnet)$ ]]; then
      fail "\"$entry\" is not LANGUAGE:FOLDER with rust, go, node, python, java or dotnet"
    fi
    if [[ "$folder" == [-/]* || "/$folder/" == */../* || ! -d "$folder" ]]; then fail "\"$entry\" names no folder of the repository"; fi
    if [[ " $known " == *" $language "* ]]; then echo "toolchains: $entry: $language is set up already" && continue; fi
    known+=" $language"
    if [[ "$language" == rust ]]; then echo "rust=$folder" >>"$GITHUB_OUTPUT" && continue; fi
    "find_$language" "$folder"
    echo "toolchains: $language${version:+ $version}${file:+ as $file says}${lock:+, downloads kept by $lock}"
    printf '%s\n' "$language-file=$file" "$language-version=$version" "$language-lock=$lock" "$language-cache=$cache" >>"$GITHUB_OUTPUT"
  done
}

main "$@"
