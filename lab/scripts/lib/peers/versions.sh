#!/usr/bin/env bash
# versions.sh: print {program: version} of what the peers are made of.
#
# Usage: lab/scripts/lib/peers/versions.sh
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../../../.."

# one NAME VERSION → {NAME: VERSION}
one() { jq -n --arg name "$1" --arg version "$2" '{($name): $version}'; }

# locked FILE CRATE → its version in that lock file
locked() { grep -A1 "^name = \"$2\"" "$1" | sed -n 's/^version = "\(.*\)"/\1/p'; }

main() {
  local crate
  {
    for crate in hyper h2 axum tonic actix-web tokio; do one "$crate" "$(locked servers/peers/rust/Cargo.lock "$crate")"; done
    for crate in mimalloc tikv-jemallocator; do one "$crate" "$(locked servers/peers/ours/Cargo.lock "$crate")"; done
    one glibc "$(getconf GNU_LIBC_VERSION | sed 's/^glibc //')"
    one Go "$(go version | awk '{ print substr($3, 3) }')"
    one grpc-go "$(sed -n 's/.*google.golang.org\/grpc v//p' servers/peers/go/go.mod | head -1)"
    one connect-go "$(sed -n 's/.*connectrpc.com\/connect v//p' servers/peers/go/go.mod | head -1)"
    one Node.js "$(node --version | sed 's/^v//')"
    jq '.dependencies | { fastify, "grpc-js": ."@grpc/grpc-js" }' servers/peers/node/package.json
    one nginx "$(nginx -v 2>&1 | sed 's/.*\///')"
    one JDK "$(java --version | awk 'NR == 1 { print $2 }')"
    one Vert.x "$(sed -n '/vertx-core/{n;s/.*<version>\(.*\)<.*/\1/p;}' servers/peers/java/pom.xml)"
    one h2load "$(h2load --version | sed 's/.*\///')"
  } | jq -s add
}

main "$@"
