#!/usr/bin/env bash
# needs.sh: how missing.sh finds out whether something is installed; read with `source`.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
bin="${WIREBENCH_TOOLS:-$root/.tools}/bin"

# lack KIND NAME HOW → one line
lack() { printf '%s\t%s\t%s\n' "$@"; }

# need PROGRAM APT → a line when the program is not on the path
need() { command -v "$1" >/dev/null || lack package "$2" "apt-get install $2"; }

# need_file GLOB APT → a line when no file of this machine matches
need_file() { compgen -G "$1" >/dev/null || lack package "$2" "apt-get install $2"; }

# need_version KIND PROGRAM VERSION HOW → a line when our own program is not of this version
need_version() { [[ "$("$bin/$2" --version 2>/dev/null)" == "$2 $3" ]] || lack "$1" "$2@$3" "$4"; }

# need_go FOLDER → a line when the tool of the go.mod there is not installed in the version it pins
need_go() {
  local tool installed
  tool="$(sed -n 's/^tool //p' "$root/$1/go.mod")"
  installed="$(go version -m "$bin/${tool##*/}" 2>/dev/null | awk '$1 == "mod" { print $2, $3 }')" || true
  if [[ -z "$installed" ]] || ! grep -qF "$installed " <(sed 's/$/ /' "$root/$1/go.mod"); then
    lack go "$1" "scripts/setup.sh, once Go is there: $1/go.mod pins it"
  fi
}

# need_tool FOLDER → a line when the program that the package.json there names is not installed in the version it pins
need_tool() {
  local program="${1##*/}" version
  version="$(sed -n "s/.*\"$program\": \"\([0-9.]*\)\".*/\1/p" "$root/$1/package.json")"
  if [[ ! -e "$bin/../$program-$version/node_modules/.package-lock.json" || ! -e "$bin/$program" ]]; then
    lack tool "$program-$version" "scripts/setup.sh --drivers, once Node.js and npm are there"
  fi
}

# need_packages FOLDER → a line when the packages of its package-lock.json are not installed, or are older
need_packages() {
  if [[ ! "$root/$1/node_modules/.package-lock.json" -nt "$root/$1/package-lock.json" ]]; then
    lack npm "$1" "scripts/setup.sh --dev, or: cd $1 && npm ci"
  fi
}
