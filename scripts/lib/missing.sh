#!/usr/bin/env bash
# missing.sh: list what wirebench needs and this machine lacks, one line each: kind, name, how to get it (tab-separated).
#
# Usage: scripts/lib/missing.sh [--dev] [--drivers] [--peers] [--dependencies]
#   --dev      also what the tests use       --drivers  also the load generators of the profile comparisons
#   --peers    also the servers of the profile peers that are packages       --dependencies  also what checks the crates
# Kinds: by-hand, package, go, cargo, cargo-slow, build, pip, npm, tool (a program of npm's, from drivers/NAME/package-lock.json).
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
bin="${WIREBENCH_TOOLS:-$root/.tools}/bin"
cargo_deny=0.20.2
oha=1.16.0
zizmor="$(sed -n 's/^zizmor==\([0-9.]*\).*/\1/p' "$root/scripts/lib/zizmor/requirements.txt")"

# lack KIND NAME HOW → one line
lack() { printf '%s\t%s\t%s\n' "$@"; }

# need PROGRAM APT BREW → a line when the program is not on the path
need() {
  command -v "$1" >/dev/null && return
  if [[ "$(uname)" == Darwin ]]; then lack package "$3" "brew install $3"; else lack package "$2" "apt-get install $2"; fi
}

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

# need_drivers ALL → a line for each load generator of the profile comparisons, or (all = false) for those that take seconds
need_drivers() {
  need ab apache2-utils httpd
  need wrk wrk wrk
  need_tool drivers/autocannon
  "$1" || return 0
  need_go drivers/k6
  if [[ "$("$bin/oha" --version 2>/dev/null)" != "oha $oha" ]]; then
    lack cargo-slow "oha@$oha" "scripts/setup.sh --drivers: a build of some minutes"
  fi
}

# need_packages FOLDER → a line when the packages of its package-lock.json are not installed, or are older
need_packages() {
  if [[ ! "$root/$1/node_modules/.package-lock.json" -nt "$root/$1/package-lock.json" ]]; then
    lack npm "$1" "scripts/setup.sh --dev, or: cd $1 && npm ci"
  fi
}

# need_browser → a line for each part of what the browser tests take
need_browser() {
  local major
  major="$(node --version 2>/dev/null | sed 's/^v//; s/\..*//')" || true
  if [[ "${major:-0}" -lt 20 ]]; then lack by-hand "Node.js 20 or newer, with npm" "https://nodejs.org, apt-get install npm, or brew install node"; fi
  # Hosted runners have Chrome; any Chromium does. Playwright's own download is never used.
  [[ -n "${CHROME:-}" ]] || command -v google-chrome >/dev/null || need chromium chromium chromium
  # Pictures are compared, so their letters have to be the same.
  if [[ "$(uname)" == Linux && ! -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ]]; then
    lack package fonts-dejavu-core "apt-get install fonts-dejavu-core"
  fi
  need_packages site
}

main() {
  local module dev=false drivers=false peers=false dependencies=false flag
  for flag in "$@"; do
    case "$flag" in
      --dev) dev=true ;;
      --drivers) drivers=true ;;
      --peers) peers=true ;;
      --dependencies) dependencies=true ;;
      *) echo "missing.sh: unknown argument $flag" >&2 && return 2 ;;
    esac
  done
  command -v cargo >/dev/null || lack by-hand Rust "install rustup (https://rustup.rs); it reads rust-toolchain.toml"
  command -v go >/dev/null || lack by-hand "Go 1.24 or newer" "https://go.dev/dl, or brew install go"
  need jq jq jq
  need gnuplot gnuplot-nox gnuplot
  need hyperfine hyperfine hyperfine
  need h2load nghttp2-client nghttp2
  # What counting takes; there is neither for macOS.
  if [[ "$(uname)" == Linux ]]; then
    need valgrind valgrind valgrind
    need strace strace strace
  fi
  for module in hey ghz; do need_go "drivers/$module"; done
  if "$peers"; then need nginx nginx-light nginx; fi
  if "$dev" || "$drivers"; then need_drivers "$drivers"; fi
  if "$dependencies" && [[ "$("$bin/cargo-deny" --version 2>/dev/null)" != "cargo-deny $cargo_deny" ]]; then
    lack cargo "cargo-deny@$cargo_deny" "scripts/setup.sh --dependencies: a build of some minutes"
  fi
  "$dev" || return 0
  need shellcheck shellcheck shellcheck
  # The tier of a test.
  if [[ "$(uname)" == Linux ]] && ! compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null; then
    lack package postgresql "apt-get install postgresql"
  fi
  # The other host of a test.
  if [[ "$(uname)" == Linux && ! -e /usr/sbin/sshd ]]; then
    lack package openssh-server "apt-get install openssh-server"
  fi
  need_go scripts/lib/actionlint
  # The object storage of a test.
  need_go scripts/lib/gofakes3
  if [[ ! -d "$bin/../zizmor-$zizmor" ]]; then lack pip "zizmor-$zizmor" "scripts/setup.sh --dev, with python3's pip"; fi
  # Runs the workflows on this machine; only where a folder of actions is at hand.
  if [[ -n "${WIREBENCH_ACTIONS:-}" ]]; then need_go scripts/lib/act; fi
  need_browser
  need_packages servers/gateway-node
  if [[ ! -x "$bin/jq-1.7.1" ]]; then
    lack build jq-1.7.1 "scripts/setup.sh --dev: a build of a minute, with python3's pip, a C compiler and make"
  fi
}

main "$@"
