#!/usr/bin/env bash
# missing.sh: list what wirebench needs and this machine lacks, one line each: kind, name, how to get it (tab-separated).
#
# Usage: scripts/lib/missing.sh [--dev]     (kinds: by-hand, package, go, cargo, build, pip, npm; --dev adds what the tests use)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
bin="${WIREBENCH_TOOLS:-$root/.tools}/bin"
cargo_deny=0.20.2
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
  if [[ ! "$root/site/node_modules/.package-lock.json" -nt "$root/site/package-lock.json" ]]; then
    lack npm site "scripts/setup.sh --dev, or: cd site && npm ci"
  fi
}

main() {
  local module
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
  for module in "$root"/drivers/*/go.mod; do need_go "drivers/$(basename "$(dirname "$module")")"; done
  [[ "${1:-}" == --dev ]] || return 0
  need shellcheck shellcheck shellcheck
  need_go scripts/lib/actionlint
  if [[ ! -d "$bin/../zizmor-$zizmor" ]]; then lack pip "zizmor-$zizmor" "scripts/setup.sh --dev, with python3's pip"; fi
  # Runs the workflows on this machine; only where a folder of actions is at hand.
  if [[ -n "${WIREBENCH_ACTIONS:-}" ]]; then need_go scripts/lib/act; fi
  need_browser
  if [[ "$("$bin/cargo-deny" --version 2>/dev/null)" != "cargo-deny $cargo_deny" ]]; then
    lack cargo "cargo-deny@$cargo_deny" "scripts/setup.sh --dev: a build of some minutes"
  fi
  if [[ ! -x "$bin/jq-1.7.1" ]]; then
    lack build jq-1.7.1 "scripts/setup.sh --dev: a build of a minute, with python3's pip, a C compiler and make"
  fi
}

main "$@"
