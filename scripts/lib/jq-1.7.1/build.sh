#!/usr/bin/env bash
# build.sh: build jq 1.7.1 for checking the filters on a second jq; its source comes whole inside PyPI's package "jq" 1.8.0.
#
# Usage: scripts/lib/jq-1.7.1/build.sh PROGRAM     (the path to write; needs python3 with pip, a C compiler and make)
set -euo pipefail

main() {
  local here program="$1"
  here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  PIP_CONSTRAINT="$here/build-requirements.txt" python3 -m pip download --quiet --disable-pip-version-check --no-deps \
    --no-binary jq --require-hashes --requirement "$here/requirements.txt" --dest "$work" >&2
  tar --extract --gzip --file "$work/jq-1.8.0.tar.gz" --directory "$work" --strip-components 2 jq-1.8.0/deps/jq-1.7.1.tar.gz
  tar --extract --gzip --file "$work/jq-1.7.1.tar.gz" --directory "$work"
  (cd "$work/jq-1.7.1" && ./configure --quiet --disable-docs --disable-shared --with-oniguruma=builtin CFLAGS='-O2 -w' \
    && make --silent --jobs=2) >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2 && return 1; }
  install -m 755 "$work/jq-1.7.1/jq" "$program"
}

main "$@"
