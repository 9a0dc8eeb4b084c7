#!/usr/bin/env bash
# images.sh: makes the images that scripts/cluster/test.sh needs, without a container engine and without a registry.
#
# Usage: scripts/cluster/images.sh IMPORT
# IMPORT NAME:TAG ROOTFS 'JSON' is a program that makes an image of a folder, and imports it into the cluster.
#   localhost/wirebench-servers:local   our servers; :slow wastes CPU time in each request, :crash ends at once
#   localhost/wirebench-load:local      a shell and the load generators found on this machine
# WIREBENCH_SERVERS names a folder with the programs of the servers; without it they are built.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
tools="${WIREBENCH_TOOLS:-$root/.tools}"
# CPU time that the slow servers waste in each request, ns, in each of three tiers: about a fifth of what a request costs them.
burn="${WIREBENCH_BURN_NS:-8000}"
user='{"User":"65532:65532","Env":["PATH=/bin:/usr/bin"]}'

# add ROOTFS PROGRAM… → the programs in ROOTFS/bin, with the shared libraries they need at their places
add() {
  local rootfs=$1 program library
  shift
  mkdir -p "$rootfs/bin" "$rootfs/tmp"
  chmod 1777 "$rootfs/tmp"
  for program in "$@"; do
    install --mode=755 "$program" "$rootfs/bin/"
    while read -r library; do
      install -D --mode=755 "$library" "$rootfs$library"
    done < <(ldd "$program" 2>/dev/null | grep --only-matching --extended-regexp '/[^ ]+' || true)
  done
}

# shell ROOTFS → a shell, with the commands that scripts in pods use. busybox's date knows no nanoseconds, and its shell runs its own.
shell() {
  local name
  add "$1" "$(command -v busybox)" "$(command -v date)" "$(command -v dash)"
  ln -sf dash "$1/bin/sh"
  for name in cat sleep grep rm wc touch tail env uname mkdir dirname; do
    ln -sf busybox "$1/bin/$name"
  done
}

servers() {
  if [ -n "${WIREBENCH_SERVERS:-}" ]; then
    echo "$WIREBENCH_SERVERS"
    return
  fi
  cargo build --quiet --release --locked --package gateway --manifest-path "$root/Cargo.toml" >&2
  echo "$root/target/release"
}

# variant ROOTFS NAME SCRIPT → the servers again, with a script in front of them
variant() {
  cp -r "$work/servers" "$work/$1"
  shell "$work/$1"
  mv "$work/$1/bin/gateway" "$work/$1/bin/gateway-itself"
  printf '#!/bin/sh\n%s\n' "$2" >"$work/$1/bin/gateway"
  chmod +x "$work/$1/bin/gateway"
  "$import" "localhost/wirebench-servers:$1" "$work/$1" "$user"
}

load_image() {
  local name found
  shell "$work/load"
  for name in hey ghz oha h2load k6; do
    found="$(PATH="$tools/bin:$PATH" command -v "$name" || true)"
    if [ -n "$found" ]; then add "$work/load" "$found"; else echo "load image: no $name on this machine" >&2; fi
  done
  "$import" localhost/wirebench-load:local "$work/load" "$user"
}

main() {
  if [ $# != 1 ]; then
    sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
  fi
  import=$1
  work="$(mktemp --directory)"
  trap 'rm -rf "$work"' EXIT
  add "$work/servers" "$(servers)/gateway"
  "$import" localhost/wirebench-servers:local "$work/servers" "$user"
  variant slow "exec /bin/gateway-itself --burn-ns $burn \"\$@\""
  variant crash 'echo "cannot start: this image crashes on purpose" >&2; exit 7'
  load_image
}

main "$@"
