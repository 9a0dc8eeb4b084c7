#!/usr/bin/env bash
# release.sh: make the files of a release for this machine: an archive with wirebench, hey and ghz, its checksum, and a bill of materials.
#
# Usage: scripts/release.sh VERSION OUT [--wirebench FILE]
#   VERSION           such as v0.1.0; must be the version in Cargo.toml
#   OUT               the folder that takes the files; made when missing
#   --wirebench FILE  pack this one instead of building it, without a bill of materials; to try things out
# CHANGELOG.md must have a section of that version.
# Writes wirebench-VERSION-TARGET.tar.gz with bin/ and the licences, its .sha256, and wirebench-VERSION-TARGET.cdx.json (CycloneDX: the crates).
# The archive's bytes depend on its content and the commit's time alone.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cyclonedx=0.5.9

fail() { echo "release.sh: $1" >&2 && exit "${2:-1}"; }

# programs FILE INTO → wirebench, built where FILE is empty, and hey and ghz as their go.mod pins them
programs() {
  local file="${1:-${CARGO_TARGET_DIR:-target}/dist/wirebench}" module
  # `wirebench --version` says the commit, and `wirebench init` writes it.
  [[ -n "$1" ]] || WIREBENCH_COMMIT="$(git rev-parse HEAD)" cargo build --locked --profile dist --package wirebench >&2
  install -m 755 "$file" "$2/wirebench"
  for module in hey ghz; do
    (cd "drivers/$module" && GOBIN="$2" CGO_ENABLED=0 go install -trimpath tool >&2)
  done
}

# materials FILE → what wirebench is made of
materials() {
  local tools="${WIREBENCH_TOOLS:-$root/.tools}"
  [[ -x "$tools/bin/cargo-cyclonedx" ]] || cargo install --quiet --locked --root "$tools" "cargo-cyclonedx@$cyclonedx"
  "$tools/bin/cargo-cyclonedx" cyclonedx --manifest-path wirebench/cli/Cargo.toml --format json --override-filename materials --quiet
  mv wirebench/materials.json "$1"
  find . -name materials.json -not -path './target/*' -delete
}

main() {
  [[ "${1:-}" != --help ]] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; }
  [[ $# -ge 2 ]] || fail "expected VERSION and OUT; see --help" 2
  local version="$1" out file="" target name time
  if [[ "${3:-}" == --wirebench ]]; then file="$(realpath "${4:?--wirebench needs a file}")"; fi
  mkdir -p "$2" && out="$(cd "$2" && pwd)"
  cd "$root"
  [[ "$version" == "v$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)" ]] || fail "$version is not the version in Cargo.toml; set it there, and tag that commit" 2
  scripts/lib/changelog.sh "$version" >/dev/null || fail "CHANGELOG.md has no section \"## $version\"; add one that lists the changes" 2
  target="$(uname -m)-unknown-linux-gnu"
  name="wirebench-$version-$target"
  time="$(git log -1 --format=%ct)"
  rm -rf "${out:?}/$name" && mkdir -p "$out/$name/bin"
  programs "$file" "$out/$name/bin"
  cp LICENSE-APACHE LICENSE-MIT CHANGELOG.md "$out/$name/"
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" --directory "$out" "$name" | gzip --no-name >"$out/$name.tar.gz"
  rm -rf "${out:?}/$name"
  (cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
  if [[ -z "$file" ]]; then materials "$out/$name.cdx.json"; fi
  ls -l "$out"
}

main "$@"
