#!/usr/bin/env bash
# stranger.sh: how a workflow starts what may be a stranger's: builds, servers, drivers; read by scripts with `source`.

# stranger COMMAND… → the command without what belongs to the workflow: tokens, and the files by which a step speaks to later ones
stranger() {
  local name kept=(-u GITHUB_TOKEN -u GH_TOKEN -u GITHUB_ENV -u GITHUB_PATH -u GITHUB_OUTPUT -u GITHUB_STATE -u GITHUB_STEP_SUMMARY)
  for name in "${!ACTIONS_@}"; do kept+=(-u "$name"); done
  env "${kept[@]}" "$@"
}
