#!/usr/bin/env bash
# credentials.sh: how git gets the token of a workflow; read by scripts that speak with a remote, with `source`.

# credentials URL → hands GITHUB_TOKEN to git by the environment, for that server alone: no argument and no file holds it
credentials() {
  local server="${GITHUB_SERVER_URL:-https://github.com}/" n="${GIT_CONFIG_COUNT:-0}"
  export GIT_TERMINAL_PROMPT=0
  if [[ -z "${GITHUB_TOKEN:-}" || "$1" != "$server"* ]]; then return 0; fi
  export "GIT_CONFIG_KEY_$n=http.$server.extraheader" GIT_CONFIG_COUNT="$((n + 1))"
  export "GIT_CONFIG_VALUE_$n=AUTHORIZATION: basic $(printf 'x-access-token:%s' "$GITHUB_TOKEN" | base64 | tr -d '\n')"
}
