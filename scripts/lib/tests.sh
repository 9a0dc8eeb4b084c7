#!/usr/bin/env bash
# tests.sh: what the scripts that run tests share; read with `source`.

# build_servers_fast → from here on, release builds are hardly optimised and take less than half the time: tests ask whether the servers are
# right, not how fast they are. Scripts that build with the same settings find what another one built.
build_servers_fast() {
  export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1
}

# totals FILE… → one line: how many tests passed and failed in the output of cargo and of node
totals() {
  awk '/^test result:/ { passed += $4; failed += $6 } /^ℹ pass / { passed += $3 } /^ℹ (fail|cancelled) / { failed += $3 }
    END { print passed + 0 " passed, " failed + 0 " failed" }' "$@"
}
