#!/usr/bin/env bash
# install.sh: put wirebench, and the load generators that belong to it, into a folder: from a release, checked, or built here.
#
# Usage: scripts/install.sh [--version VERSION] [--to DIR] [--released]     prints the folder with the programs, for PATH
#   --version VERSION  a release such as v0.1.0, `source` for this checkout, or `built` for what DIR holds already, which an artifact of the same
#                      workflow run was unpacked into; without it, the release that this checkout is of
#   --to DIR           .tools/install in this checkout
#   --released         a release whose attestation is verified, or `built`, or nothing: never built here. For every job whose token may write
# The archive comes from the releases of the repository $WIREBENCH_REPOSITORY (wirebench/wirebench) on $GITHUB_SERVER_URL (https://github.com).
# With $WIREBENCH_RELEASES, the URL of a mirror, it comes from $WIREBENCH_RELEASES/VERSION/ instead. It must match its .sha256 file, which is fetched too.
# If gh has `attestation verify` and GH_TOKEN is set, gh verifies the attestation: release.yml of that repository built the archive from the
# tag VERSION, on a runner of GitHub's.
# Downloads are made by TLS alone; a mirror may also be a folder (file://) or a server on this machine.
# Without --version, if the release cannot be fetched, the programs are built here: that needs Rust and Go, and takes some minutes.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck source=scripts/lib/stranger.sh
source "$root/scripts/lib/stranger.sh"
# shellcheck source=scripts/lib/taken.sh
source "$root/scripts/lib/taken.sh"

fail() { echo "install.sh: $1" >&2 && exit "${2:-1}"; }

# fetched URL FILE → downloads it, by no other protocol than TLS unless the URL is of this machine
fetched() {
  local protocol="=https"
  if [[ "$1" =~ ^http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?/ ]]; then protocol="=http"; fi
  if [[ "$1" == file:///* ]]; then protocol="=file"; fi
  curl --proto "$protocol" --tlsv1.2 --fail --silent --show-error --location --retry 3 --max-time 120 --output "$2" -- "$1"
}

# summed ARCHIVE → succeeds when ARCHIVE.sha256 is one line with the archive's checksum and name
summed() {
  local sum
  sum="$(sha256sum <"$1")" && [[ "$(cat "$1.sha256")" == "${sum%% *}  ${1##*/}" ]]
}

# verifies → whether gh can verify an attestation: the gh of Debian 12 and of Ubuntu 24.04 has no such command yet
verifies() { [[ -n "${GH_TOKEN:-}" && "$(gh attestation verify --help 2>/dev/null)" == *--source-ref* ]]; }

# attested ARCHIVE VERSION RELEASED → nothing, or the end when it was not built by release.yml from that tag, or (RELEASED) when nobody can say
attested() {
  local repository="${WIREBENCH_REPOSITORY:-wirebench/wirebench}"
  if verifies; then
    gh attestation verify "$1" --repo "$repository" --signer-workflow "$repository/.github/workflows/release.yml" \
      --source-ref "refs/tags/$2" --deny-self-hosted-runners >&2 || fail "${1##*/} was not attested by release.yml of $repository for $2: it was not installed"
  elif "$3"; then
    fail "--released: an attestation is verified by a gh that has \`attestation verify --source-ref\`, with GH_TOKEN, and one of them is not there; nothing was installed"
  else
    echo "install.sh: the attestation of ${1##*/} was not verified: that takes a newer gh, or GH_TOKEN" >&2
  fi
}

# release VERSION TO RELEASED → the programs of a release, or failure when it cannot be had; what is not as its release made it ends everything
release() {
  local archive from got
  archive="wirebench-$1-$(uname -m)-unknown-linux-gnu.tar.gz"
  from="${WIREBENCH_RELEASES:-${GITHUB_SERVER_URL:-https://github.com}/${WIREBENCH_REPOSITORY:-wirebench/wirebench}/releases/download}/$1"
  [[ "$(uname)" == Linux ]] || return 1
  got="$(mktemp -d)"
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$got'" EXIT
  fetched "$from/$archive" "$got/$archive" && fetched "$from/$archive.sha256" "$got/$archive.sha256" || return 1
  summed "$got/$archive" || fail "$from/$archive does not have the checksum that its release names: it was not installed"
  attested "$got/$archive" "$1" "$3"
  mkdir -p "$2"
  tar --extract --gzip --file "$got/$archive" --directory "$2" --strip-components 1 --no-same-owner || fail "$archive cannot be unpacked"
}

# built TO → the same programs, made of this checkout
built() {
  local module
  mkdir -p "$1/bin"
  (cd "$root" && stranger cargo build --locked --package wirebench >&2)
  install -m 755 "${CARGO_TARGET_DIR:-$root/target}/debug/wirebench" "$1/bin/wirebench"
  for module in hey ghz; do
    (cd "$root/drivers/$module" && GOBIN="$1/bin" CGO_ENABLED=0 stranger go install -trimpath tool >&2)
  done
}

main() {
  local version="" to="$root/.tools/install" wanted released=false
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --version) version="${2-}" && shift ;;
      --to) to="${2:?--to needs a folder}" && shift ;;
      --released) released=true ;;
      --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return ;;
      *) fail "unknown argument $1; see --help" 2 ;;
    esac
    shift
  done
  mkdir -p "$to" && to="$(cd "$to" && pwd)"
  wanted="${version:-v$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml")}"
  [[ "$wanted" == source || "$wanted" == built || "$wanted" =~ ^v[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.]+)?$ ]] || fail "--version $wanted: expected a release such as v0.1.0, or source" 2
  if "$released" && [[ "$wanted" == source ]]; then fail "--released: nothing is built here; name a release" 2; fi
  if [[ "$wanted" == built ]]; then
    taken "$to" || fail "--version built: there is no wirebench in $to/bin; see the job that builds it"
  elif [[ "$wanted" == source ]]; then
    # In a workflow of this repository: the checkout, whose files are as new as now, so that nothing older in a cached target folder passes for them.
    if [[ -f "${GITHUB_WORKSPACE:-}/wirebench/cli/Cargo.toml" ]]; then root="$GITHUB_WORKSPACE"; fi
    built "$to"
  elif ! release "$wanted" "$to" "$released"; then
    if "$released"; then fail "there is no release $wanted for this machine, and in this job nothing is built; name one that there is"; fi
    [[ -z "$version" ]] || fail "there is no release $wanted for this machine; see the releases of wirebench, or take source"
    echo "install.sh: there is no release $wanted for this machine; building it" >&2
    built "$to"
  fi
  echo "$to/bin"
}

main "$@"
