#!/usr/bin/env bash
# stranger.sh: how a workflow starts programs that may be untrusted: builds, servers, drivers; read by scripts with `source`.

# stranger COMMAND… → runs the command without the workflow's tokens and command files (such as GITHUB_ENV)
stranger() {
  local name kept=(-u GITHUB_TOKEN -u GH_TOKEN -u GITHUB_ENV -u GITHUB_PATH -u GITHUB_OUTPUT -u GITHUB_STATE -u GITHUB_STEP_SUMMARY)
  for name in "${!ACTIONS_@}"; do kept+=(-u "$name"); done
  env "${kept[@]}" "$@"
}
