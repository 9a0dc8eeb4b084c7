#!/usr/bin/env bash
# fuzz.sh: run the fuzz targets, each for some time; ends at the first that crashes, whose input is then in wirebench/fuzz/artifacts.
#
# Usage: scripts/fuzz.sh [SECONDS [TARGET…]]     (60 seconds for each of all targets)
# Starts from the committed corpus in wirebench/fuzz/corpus/TARGET; new inputs are written to wirebench/fuzz/grown/TARGET.
# Takes rustup. The nightly toolchain and cargo-fuzz are pinned here; cargo-fuzz goes to .tools/bin, or to $WIREBENCH_TOOLS/bin.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tools="${WIREBENCH_TOOLS:-$root/.tools}"
nightly="${WIREBENCH_NIGHTLY:-nightly-2026-05-20}"
cargo_fuzz=0.13.2

install_tools() {
  rustup run "$nightly" rustc --version >/dev/null 2>&1 || rustup toolchain install --profile minimal --no-self-update "$nightly"
  if [[ "$("$tools/bin/cargo-fuzz" --version 2>/dev/null)" != "cargo-fuzz $cargo_fuzz" ]]; then
    cargo install --quiet --locked --force --root "$tools" "cargo-fuzz@$cargo_fuzz"
  fi
}

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  local seconds="${1:-60}" target targets=("${@:2}")
  install_tools >&2
  cd "$root/wirebench"
  if [[ ${#targets[@]} -eq 0 ]]; then mapfile -t targets < <(cd fuzz/fuzz_targets && printf '%s\n' *.rs | sed 's/\.rs$//'); fi
  for target in "${targets[@]}"; do
    printf '\n== %s\n' "$target"
    mkdir -p "fuzz/grown/$target"
    rustup run "$nightly" "$tools/bin/cargo-fuzz" run "$target" "fuzz/grown/$target" "fuzz/corpus/$target" -- \
      -max_total_time="$seconds" -timeout=30 -rss_limit_mb=4096
  done
}

main "$@"
