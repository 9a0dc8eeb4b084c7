#!/usr/bin/env bash
# beside.sh: installing, which mostly waits, goes on while a build has the processors; read with `source`.

# build_beside_setup FLAGS COMMAND… → setup.sh with these flags (words of one string) while the command builds; what setup.sh said comes
# after it. A build that fails is tried once more when all is installed: a fresh machine may have had no C compiler.
build_beside_setup() {
  local flags log installing status=0
  read -ra flags <<<"$1" && shift
  log="$(mktemp)"
  "${root:?}/scripts/setup.sh" ${flags[@]+"${flags[@]}"} >"$log" 2>&1 &
  installing=$!
  # shellcheck disable=SC2064
  trap "kill $installing 2>/dev/null; rm -f '$log'" EXIT
  "$@" || status=$?
  wait "$installing" || { cat "$log" >&2 && return 1; }
  cat "$log"
  rm -f "$log" && trap - EXIT
  if [[ "$status" -ne 0 ]]; then "$@"; fi
}
