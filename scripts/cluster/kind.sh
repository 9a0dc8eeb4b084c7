#!/usr/bin/env bash
# kind.sh: scripts/cluster/test.sh on a cluster of one node that kind makes for it, and removes.
#
# Usage: scripts/cluster/kind.sh
# It needs kind, kubectl and docker, as GitHub's runners have them, and the tools of scripts/setup.sh --drivers.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

main() {
  if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && return; fi
  cargo build --locked --package wirebench --manifest-path "$root/Cargo.toml"
  trap 'kind delete cluster --name wirebench' EXIT
  kind create cluster --name wirebench --wait 120s
  "$root/scripts/cluster/images.sh" "$root/scripts/cluster/kind-image.sh"
  "$root/scripts/cluster/test.sh"
}

main "$@"
