#!/usr/bin/env bash
# install.sh: put wirebench, and the load generators that belong to it, into a folder: from a release, its checksum checked, or built here.
#
# Usage: scripts/install.sh [--version VERSION] [--to DIR]     prints the folder with the programs, for PATH
#   --version VERSION  a release such as v0.1.0, or `source` for this checkout; without it, the release that this checkout is of
#   --to DIR           .tools/install in this checkout
# A release is fetched from $GITHUB_SERVER_URL/$WIREBENCH_REPOSITORY (https://github.com, wirebench/wirebench), or from a mirror's
# $WIREBENCH_RELEASES/VERSION/. Without --version, and where the release cannot be had, it is built here: Rust and Go are needed then, and some minutes.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

fail() { echo "install.sh: $1" >&2 && exit "${2:-1}"; }

# release VERSION TO → the programs of a release, or failure when it cannot be had; a wrong checksum ends everything
release() {
  local archive from got
  archive="wirebench-$1-$(uname -m)-unknown-linux-gnu.tar.gz"
  from="${WIREBENCH_RELEASES:-${GITHUB_SERVER_URL:-https://github.com}/${WIREBENCH_REPOSITORY:-wirebench/wirebench}/releases/download}/$1"
  [[ "$(uname)" == Linux ]] || return 1
  got="$(mktemp -d)"
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$got'" EXIT
  curl --fail --silent --show-error --location --retry 3 --max-time 120 --output "$got/$archive" "$from/$archive" || return 1
  curl --fail --silent --show-error --location --retry 3 --max-time 60 --output "$got/$archive.sha256" "$from/$archive.sha256" || return 1
  (cd "$got" && sha256sum --check --status "$archive.sha256") || fail "$from/$archive does not have the checksum that its release names: it was not installed"
  mkdir -p "$2"
  tar --extract --gzip --file "$got/$archive" --directory "$2" --strip-components 1 --no-same-owner
}

# built TO → the same programs, made of this checkout
built() {
  local module
  mkdir -p "$1/bin"
  (cd "$root" && cargo build --locked --package wirebench >&2)
  install -m 755 "${CARGO_TARGET_DIR:-$root/target}/debug/wirebench" "$1/bin/wirebench"
  for module in "$root"/drivers/*/go.mod; do
    (cd "$(dirname "$module")" && GOBIN="$1/bin" CGO_ENABLED=0 go install -trimpath tool >&2)
  done
}

main() {
  local version="" to="$root/.tools/install" wanted
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --version) version="${2-}" && shift ;;
      --to) to="${2:?--to needs a folder}" && shift ;;
      --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return ;;
      *) fail "unknown argument $1; see --help" 2 ;;
    esac
    shift
  done
  mkdir -p "$to" && to="$(cd "$to" && pwd)"
  wanted="${version:-v$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml")}"
  [[ "$wanted" == source || "$wanted" =~ ^v[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.]+)?$ ]] || fail "--version $wanted: expected a release such as v0.1.0, or source" 2
  if [[ "$wanted" == source ]]; then
    # In a workflow of this repository: the checkout, whose files are as new as now, so that nothing older in a cached target folder passes for them.
    if [[ -f "${GITHUB_WORKSPACE:-}/wirebench/Cargo.toml" ]]; then root="$GITHUB_WORKSPACE"; fi
    built "$to"
  elif ! release "$wanted" "$to"; then
    [[ -z "$version" ]] || fail "there is no release $wanted for this machine; see the releases of wirebench, or take source"
    echo "install.sh: there is no release $wanted for this machine; building it" >&2
    built "$to"
  fi
  echo "$to/bin"
}

main "$@"
