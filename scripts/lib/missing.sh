#!/usr/bin/env bash
# missing.sh: list what wirebench needs and this machine lacks, one line each: kind, name, how to get it (tab-separated).
#
# Usage: scripts/lib/missing.sh [--dev] [--drivers] [--peers] [--dependencies]
#   --dev      also what the tests use       --drivers  also the load generators that only some profiles use
#   --peers    also the servers of the profile peers that are packages       --dependencies  also what checks the crates
# Kinds: by-hand, package, go, cargo, cargo-slow, build, pip, npm, tool (a program of npm's, from drivers/NAME/package-lock.json).
set -euo pipefail

# shellcheck source=scripts/lib/needs.sh
source "$(dirname "${BASH_SOURCE[0]}")/needs.sh"

cargo_deny=0.20.2
oha=1.16.0
zizmor="$(sed -n 's/^zizmor==\([0-9.]*\).*/\1/p' "$root/scripts/lib/zizmor/requirements.txt")"

# need_drivers ALL → a line for each load generator that only some profiles use, or (all = false) for those that take seconds
need_drivers() {
  need ab apache2-utils
  need wrk wrk
  need_tool drivers/autocannon
  "$1" || return 0
  need_go drivers/k6
  need_version cargo-slow oha "$oha" "scripts/setup.sh --drivers: a build of some minutes"
}

# need_browser → a line for each part of what the browser tests take
need_browser() {
  local major
  major="$(node --version 2>/dev/null | sed 's/^v//; s/\..*//')" || true
  if [[ "${major:-0}" -lt 20 ]]; then lack by-hand "Node.js 20 or newer, with npm" "https://nodejs.org, or apt-get install npm"; fi
  # Hosted runners have Chrome; any Chromium does. Playwright's own download is never used.
  [[ -n "${CHROME:-}" ]] || command -v google-chrome >/dev/null || need chromium-headless-shell chromium-headless-shell
  # Pictures are compared, so their letters have to be the same.
  need_file /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf fonts-dejavu-core
  need_packages site
}

# need_for_tests → a line for each program that only the tests use
need_for_tests() {
  need shellcheck shellcheck
  # Samples functions. Ubuntu has no such package: its perf belongs to the kernel that runs.
  need perf "$(if grep -q '^ID=ubuntu' /etc/os-release; then echo "linux-tools-$(uname -r)"; else echo linux-perf; fi)"
  # The tier of a test.
  need_file '/usr/lib/postgresql/*/bin/postgres' postgresql
  # The other host of a test.
  need_file /usr/sbin/sshd openssh-server
  need_go scripts/lib/actionlint
  if [[ ! -d "$bin/../zizmor-$zizmor" ]]; then lack pip "zizmor-$zizmor" "scripts/setup.sh --dev, with python3's pip"; fi
  # Runs the workflows on this machine; only where a folder of actions is at hand.
  if [[ -n "${WIREBENCH_ACTIONS:-}" ]]; then need_go scripts/lib/act; fi
  need_browser
  if [[ ! -x "$bin/jq-1.7.1" ]]; then
    lack build jq-1.7.1 "scripts/setup.sh --dev: a build of a minute, with python3's pip, a C compiler and make"
  fi
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
  command -v go >/dev/null || lack by-hand "Go 1.24 or newer" "https://go.dev/dl"
  need jq jq
  need gnuplot gnuplot-nox
  need hyperfine hyperfine
  need h2load nghttp2-client
  # What counting takes.
  need valgrind valgrind
  need strace strace
  for module in hey ghz; do need_go "drivers/$module"; done
  if "$peers"; then need nginx nginx-light; fi
  if "$dev" || "$drivers"; then need_drivers "$drivers"; fi
  if "$dependencies"; then need_version cargo cargo-deny "$cargo_deny" "scripts/setup.sh --dependencies: a build of some minutes"; fi
  if "$dev"; then need_for_tests; fi
}

main "$@"
