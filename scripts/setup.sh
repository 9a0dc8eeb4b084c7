#!/usr/bin/env bash
# setup.sh: install what wirebench needs and this machine lacks; running it again changes nothing.
#
# Usage: scripts/setup.sh [--check] [--dev] [--drivers] [--peers] [--dependencies] [--only NAME]
#   --check  install nothing: say what is missing and how to get it; exit 1 when something is
#   --only   nothing but this one, as --check names it, if it is missing
#   --drivers  also the load generators that only some profiles use: ab, wrk, autocannon, k6, oha (of these --dev takes the first three)
#   --peers  also the servers of the profile peers that are packages: nginx
#   --dependencies  also what scripts/dependencies.sh uses: cargo-deny
#   --dev    also what the tests use: shellcheck, actionlint, zizmor, a second jq for the filters; for the dashboard Chromium, a font
#            and the packages of site/package-lock.json
# Packages come from apt (Debian, Ubuntu; as root or by sudo). Load generators written in Go are pinned by
# drivers/*/go.mod and go to .tools/bin, or to $WIREBENCH_TOOLS/bin (an absolute path). Rust, Go and Node.js themselves are never installed.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tools="${WIREBENCH_TOOLS:-$root/.tools}"
# shellcheck source=scripts/lib/packages.sh
source "$root/scripts/lib/packages.sh"

# install_one KIND NAME → a tool of our own folder
install_one() {
  case "$1" in
    go) (cd "$root/$2" && GOBIN="$tools/bin" CGO_ENABLED=0 go install -trimpath tool) ;;
    pip) python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
      --requirement "$root/scripts/lib/${2%-*}/requirements.txt" --target "$tools/$2" && ln -sf "../$2/bin/${2%-*}" "$tools/bin/${2%-*}" ;;
    # Unoptimised: it runs for a second, and its own release profile builds for many minutes.
    cargo) CARGO_PROFILE_RELEASE_LTO=false CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_DEBUG=false \
      cargo install --quiet --locked --no-default-features --force --root "$tools" "$2" ;;
    # Optimised, because it is what measures; its own profile's link-time optimisation would build for many minutes more.
    cargo-slow) CARGO_PROFILE_RELEASE_LTO=false CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=false \
      cargo install --quiet --locked --force --root "$tools" "$2" ;;
    tool)
      mkdir -p "$tools/$2" && cp "$root/drivers/${2%-*}"/package*.json "$tools/$2/" &&
        (cd "$tools/$2" && npm ci --ignore-scripts --no-audit --no-fund) &&
        ln -sf "../$2/node_modules/.bin/${2%-*}" "$tools/bin/${2%-*}"
      ;;
    build) "$root/scripts/lib/$2/build.sh" "$tools/bin/$2" ;;
    # The time of the stamp says that it is done, also when npm had nothing to change.
    npm) (cd "$root/$2" && npm ci --ignore-scripts --no-audit --no-fund && touch node_modules/.package-lock.json) ;;
  esac
}

# install_all LINES → every line is tried whatever became of the one before: what is still missing at the end says which failed
install_all() {
  local kind name packages=()
  mkdir -p "$tools/bin"
  while IFS=$'\t' read -r kind name _; do
    if [[ "$kind" == package ]]; then packages+=("$name"); fi
  done <<<"$1"
  if [[ ${#packages[@]} -gt 0 ]]; then install_packages "${packages[@]}" || true; fi
  while IFS=$'\t' read -r kind name _; do
    case "$kind" in
      go | cargo | cargo-slow | build | pip | npm | tool)
        echo "installing $name"
        install_one "$kind" "$name" || true
        ;;
    esac
  done <<<"$1"
}

# lacking → what is missing of what was asked for; reads `more` and `only`
lacking() { "$root/scripts/lib/missing.sh" ${more[@]+"${more[@]}"} | awk -F '\t' -v only="$only" 'only == "" || $2 == only'; }

main() {
  local check=false more=() only="" missing
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --check) check=true ;;
      --dev | --drivers | --peers | --dependencies) more+=("$1") ;;
      --only) only="${2:?--only needs a name}" && shift ;;
      --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return ;;
      *) echo "setup.sh: unknown argument $1; see --help" >&2 && return 2 ;;
    esac
    shift
  done
  missing="$(lacking)"
  if ! "$check" && [[ -n "$missing" ]]; then
    install_all "$missing" >&2
    missing="$(lacking)"
  fi
  if [[ -z "$missing" ]]; then echo "nothing is missing" && return; fi
  echo "missing:" && cut -f 2- <<<"$missing" | sed $'s/\t/: /'
  return 1
}

main "$@"
