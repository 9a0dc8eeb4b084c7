#!/usr/bin/env bash
# functions.sh: functions of test.sh that start runs on a cluster and list the objects they leave there; read with `source`.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
wirebench="${WIREBENCH:-$root/target/debug/wirebench}"
namespace=wirebench
deploy="$root/deploy/kubernetes"

# begin LOAD_IMAGE → the namespace with its Role, a folder $work, and $short_run, the command of a short run; all is removed at the end
begin() {
  work="$(mktemp --directory)"
  trap clean EXIT
  kubectl apply --filename "$deploy/rbac.yaml" >/dev/null
  role="$(account wirebench)"
  short_run=("$wirebench" --root "$root" run --cluster --load-image "$1" --out "$work/out" --profile quick --scenario weather-fixed-duration)
}

clean() {
  kubectl delete namespace "$namespace" --ignore-not-found --wait=false >/dev/null 2>&1 || true
  rm -rf "$work"
}

say() { printf '%s\n' "$*"; }

# account NAME → a kubeconfig that works as this ServiceAccount of the namespace
account() {
  local file="$work/$1.conf" token server
  token="$(kubectl create token "$1" --namespace "$namespace" --duration 2h)"
  kubectl config view --raw --minify --flatten >"$file"
  server="$(kubectl config view --raw --minify --output 'jsonpath={.clusters[0].name}')"
  kubectl config --kubeconfig "$file" set-credentials account --token "$token" >/dev/null
  kubectl config --kubeconfig "$file" set-context account --cluster "$server" --user account --namespace "$namespace" >/dev/null
  kubectl config --kubeconfig "$file" use-context account >/dev/null
  say "$file"
}

# bench ARGUMENT… → makes a short run under the Role; its folder is in $run, its output in $work/said
bench() {
  local status=0
  rm -rf "$work/out"
  KUBECONFIG="$role" timeout 900 "${short_run[@]}" "$@" >"$work/said" 2>&1 || status=$?
  run="$(compgen -G "$work/out/*" | head -n 1 || true)"
  return "$status"
}

# left → what a run left in the namespace
left() {
  kubectl get jobs,pods,services,deployments,configmaps,poddisruptionbudgets --namespace "$namespace" \
    --selector wirebench.dev/run --output name
}

# none_left SECONDS → fails if after that time something is left
none_left() {
  local until=$((SECONDS + $1))
  while [ -n "$(left)" ]; do
    if [ "$SECONDS" -ge "$until" ]; then
      say "left behind:" && left
      return 1
    fi
    sleep 1
  done
}

record() { jq --exit-status "$1" "$run/run.json" >/dev/null || { jq --compact-output '[.status, .reason, (.series[] | .id, .reason)]' "$run/run.json"; return 1; }; }

said() { grep --quiet --extended-regexp --regexp "$1" "$work/said" || { say "expected to be said: $1"; return 1; }; }
