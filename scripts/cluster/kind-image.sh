#!/usr/bin/env bash
# kind-image.sh: makes an image of a folder, and loads it into the cluster of kind.
#
# Usage: scripts/cluster/kind-image.sh NAME:TAG ROOTFS 'JSON'
# JSON is the `config` object of an OCI image; of it User and the variables of Env are used.
set -euo pipefail

main() {
  local changes=()
  if [ $# != 3 ]; then
    sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
  fi
  mapfile -t changes < <(jq --raw-output '"--change=USER \(.User)", ((.Env // [])[] | "--change=ENV \(.)")' <<<"$3")
  tar --create --owner=0 --group=0 --directory "$2" . | docker import "${changes[@]}" - "$1" >/dev/null
  kind load docker-image "$1" --name wirebench
}

main "$@"
