#!/usr/bin/env bash
# test.sh: the end-to-end test of `wirebench run --cluster`, on the cluster that KUBECONFIG names. The cluster must be one to throw
# away: the namespace wirebench is made and removed.
#
# Usage: scripts/cluster/test.sh [--short | TEST…]
#   --short  only the tests that take no comparison, some three minutes
# It needs kubectl, administrator's rights, the images of scripts/cluster/images.sh, and a built target/debug/wirebench.
# WIREBENCH_IMAGES is the begin of the images' names (localhost/wirebench), WIREBENCH_TAG the tag of the good ones (local).
# WIREBENCH_REPEAT says how often the two comparisons are repeated (1), WIREBENCH_BUDGET how long one may measure (10m).
set -euo pipefail

# shellcheck source=scripts/cluster/functions.sh
source "$(dirname "${BASH_SOURCE[0]}")/functions.sh"

images="${WIREBENCH_IMAGES:-localhost/wirebench}"
tag="${WIREBENCH_TAG:-local}"
repeat="${WIREBENCH_REPEAT:-1}"
budget="${WIREBENCH_BUDGET:-10m}"
good="$images-servers:$tag"
passed=0
failed=0
short=(
  a_cluster_that_cannot_be_found_is_told
  the_overlays_are_rendered_as_they_are_committed
  every_manifest_passes_the_api_server_s_strict_validation
  an_image_that_does_not_exist_is_a_recorded_failure
  after_kill_9_nothing_is_left_a_minute_later
  without_rights_there_is_a_clear_error
)

# refused WORDS ARGUMENT… → a run with the kubeconfig $work/nowhere.conf ends at once, says so, and leaves no folder
refused() {
  local words=$1 status=0
  shift
  KUBECONFIG="$work/nowhere.conf" timeout 60 "${short_run[@]}" --overlay http "$@" >"$work/said" 2>&1 || status=$?
  [ "$status" = 1 ]
  said "$words"
  [ ! -e "$work/out" ]
}

test_a_cluster_that_cannot_be_found_is_told() {
  rm -rf "$work/out" "$work/nowhere.conf"
  refused 'no cluster: neither KUBECONFIG nor ~/.kube/config names one; set KUBECONFIG'
  refused '--context here: cannot be used; .*get-contexts' --context here
  kubectl --kubeconfig "$work/nowhere.conf" config set-cluster c --server http://127.0.0.1:1 >/dev/null
  kubectl --kubeconfig "$work/nowhere.conf" config set-context here --cluster c >/dev/null
  kubectl --kubeconfig "$work/nowhere.conf" config use-context here >/dev/null
  refused 'the Kubernetes API at http://127.0.0.1:1 does not answer: .*refused'
  refused '--context elsewhere: cannot be used; .*get-contexts' --context elsewhere
}

test_the_overlays_are_rendered_as_they_are_committed() {
  local overlay
  for overlay in http grpc; do
    kubectl kustomize "$deploy/overlays/$overlay" | diff - <(tail -n +2 "$deploy/rendered/$overlay.yaml")
  done
}

# The options are applied to the base: an overlay that uses them differs by names only. ServiceMonitor is a kind of the Prometheus operator.
test_every_manifest_passes_the_api_server_s_strict_validation() {
  local overlay options
  options="$(mktemp --directory --tmpdir="$deploy")"
  for overlay in http grpc both; do
    kubectl kustomize "$deploy/overlays/$overlay" | kubectl apply --namespace "$namespace" --dry-run=server --validate=strict --filename - >/dev/null
  done
  printf 'resources: [../base]\ncomponents: [../components/autoscaling, ../components/monitoring]\n' >"$options/kustomization.yaml"
  kubectl kustomize "$options" >"$work/options.yaml" || { rm -rf "$options"; return 1; }
  rm -rf "$options"
  kubectl get customresourcedefinition servicemonitors.monitoring.coreos.com >/dev/null 2>&1 ||
    sed --in-place '/^apiVersion: monitoring.coreos.com/,$d' "$work/options.yaml"
  kubectl apply --namespace "$namespace" --dry-run=server --validate=strict --filename "$work/options.yaml" >/dev/null
  kubectl apply --dry-run=server --validate=strict --filename "$deploy/rbac.yaml" >/dev/null
  # The check itself can fail: an unknown field is refused.
  if kubectl kustomize "$deploy/overlays/http" | sed 's/replicas:/replica:/' |
    kubectl apply --namespace "$namespace" --dry-run=server --validate=strict --filename - >/dev/null 2>&1; then
    say "an unknown field was accepted"
    return 1
  fi
}

test_two_overlays_and_two_drivers_in_three_rounds_under_the_role() {
  local began=$SECONDS
  bench --overlay http,grpc --candidate "$good" --driver hey --driver k6 --rounds 3 --load-pods 2
  say "took $((SECONDS - began)) s"
  [ $((SECONDS - began)) -le 360 ]
  record '.status == "complete" and (.series | length) == 4'
  # On a busy machine a round may fail a check; none may fail to be measured.
  record '[.series[].rounds[]] | length == 12 and all(.status != "failed" and (.load_pods | length) == 2)'
  record '.series | all(.rounds | any(.status == "ok"))'
  record '[.series[].rounds[]] | all(.ok_count == ([.load_pods[].ok_count] | add) and .failed_count == ([.load_pods[].failed_count] | add))'
  record '[.series[].rounds[]] | all((.processes | length) == 3 and .server_cpu_ns.user > 0 and .server_peak_rss_bytes > 0)'
  "$wirebench" --root "$root" report "$run" >/dev/null
  none_left 5
}

# compared IMAGE WORDS → compares the image with the good one as often as asked, says each verdict; $regressed counts
compared() {
  local turn verdict
  regressed=0
  for ((turn = 1; turn <= repeat; turn++)); do
    bench --overlay http --baseline "$good" --candidate "$1" --driver hey --rounds 8 --replicas 1 --budget "$budget" || true
    verdict="$(jq --raw-output .verdict "$run/comparison.json")"
    say "$2, $turn of $repeat: $verdict, $(jq --raw-output '[.series[].metrics[] | select(.metric == "server_cpu") | .effect_percent] | map(. * 10 | round / 10) | join(" ")' "$run/comparison.json") % CPU per request, after $SECONDS s"
    if [ "$verdict" = regressed ]; then
      regressed=$((regressed + 1))
      status=0 && "$wirebench" --root "$root" gate "$run" >/dev/null || status=$?
      [ "$status" = 3 ]
    fi
  done
}

test_equal_images_are_not_regressed() {
  compared "$good" "equal images"
  [ "$regressed" = 0 ]
  none_left 5
}

test_a_seeded_slowdown_is_regressed() {
  compared "$images-servers:slow" "slower image"
  [ "$regressed" = "$repeat" ]
  none_left 5
}

test_an_image_that_does_not_exist_is_a_recorded_failure() {
  if bench --overlay http --candidate "$images-servers:missing" --driver hey --rounds 1 --replicas 1; then return 1; fi
  record '.status == "failed" and (.series[0].reason | test("ErrImagePull|ImagePullBackOff|ErrImageNeverPull"))'
  none_left 5
}

test_a_server_that_crashes_is_a_recorded_failure() {
  if bench --overlay http --candidate "$images-servers:crash" --driver hey --rounds 1 --replicas 1; then return 1; fi
  record '.status == "failed" and (.series[0].reason | test("CrashLoopBackOff.*crashes on purpose"))'
  none_left 5
}

test_an_evicted_load_pod_fails_its_round_and_no_other() {
  local pod=
  rm -rf "$work/out"
  bench --overlay http --candidate "$good" --driver hey --rounds 4 --replicas 1 &
  local runner=$!
  until [ -n "$pod" ] && grep --quiet 'round 1' "$work/said"; do
    pod="$(kubectl get pods --namespace "$namespace" --selector wirebench.dev/role=load --output name | head -n 1)"
    sleep 0.2
  done
  pod="${pod#pod/}"
  # Between two rounds nothing fails: the next one waits for another pod.
  until kubectl exec --namespace "$namespace" "$pod" -- sh -c 'grep -qx hey /proc/[0-9]*/comm'; do kill -0 "$runner"; done
  printf '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s","namespace":"%s"},"deleteOptions":{"gracePeriodSeconds":0}}' "$pod" "$namespace" |
    kubectl create --raw "/api/v1/namespaces/$namespace/pods/$pod/eviction" --filename - >/dev/null
  wait "$runner" || true
  run="$(compgen -G "$work/out/*" | head -n 1)"
  record '[.series[0].rounds[].status] | (map(select(. == "failed")) | length) == 1 and (map(select(. == "ok")) | length) >= 2'
  record '[.series[0].rounds[].reason | strings] | any(test("evicted|ended while|load pod|command can be run|Failed"))'
  none_left 5
}

test_ctrl_c_leaves_a_record_and_nothing_else() {
  in_background
  kill -INT "$runner"
  wait "$runner" || true
  run="$(compgen -G "$work/out/*" | head -n 1)"
  record '.status == "incomplete" and .reason == "interrupted"'
  none_left 5
}

test_after_kill_9_nothing_is_left_a_minute_later() {
  local began
  in_background
  kill -KILL "$runner"
  began=$SECONDS
  none_left 60
  say "gone after $((SECONDS - began)) s"
}

# in_background → $runner is the process of a run whose servers are starting
in_background() {
  rm -rf "$work/out"
  KUBECONFIG="$role" "${short_run[@]}" --overlay http --candidate "$good" --driver hey --rounds 50 >"$work/said" 2>&1 &
  runner=$!
  until grep --quiet 'round 1' "$work/said"; do sleep 0.2; done
}

test_without_rights_there_is_a_clear_error() {
  kubectl create serviceaccount nobody --namespace "$namespace" >/dev/null
  local role
  role="$(account nobody)"
  if bench --overlay http --driver hey --rounds 1; then return 1; fi
  said 'Job wirebench-[0-9a-f]+ cannot be made in namespace wirebench: .*forbidden.*deploy/kubernetes/rbac.yaml'
  [ -z "$run" ] || { say "a folder was left: $run"; return 1; }
  none_left 5
}

# attempt TEST: its output is shown if it fails, and lines that tell figures always
attempt() {
  local began=$SECONDS status=0
  # In the background, because within a condition the shell would not stop at the first failure.
  (set -euo pipefail && "$1") >"$work/output" 2>&1 &
  wait "$!" || status=$?
  if [ "$status" = 0 ]; then
    passed=$((passed + 1))
    printf 'ok      %3d s  %s\n' $((SECONDS - began)) "${1#test_}"
    grep --extended-regexp '^(took|gone|equal|slower)' "$work/output" | sed 's/^/                 /' || true
  else
    failed=$((failed + 1))
    printf 'FAILED  %3d s  %s\n' $((SECONDS - began)) "${1#test_}"
    cat "$work/output"
    tail -n 20 "$work/said" || true
  fi
}

main() {
  local tests test
  case ${1-} in
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; return ;;
  esac
  [ -x "$wirebench" ] || { say "$wirebench: no such program; run: cargo build --package wirebench" >&2; exit 2; }
  begin "$images-load:$tag"
  mapfile -t tests < <(grep --only-matching --extended-regexp '^test_[a-z0-9_]+' "${BASH_SOURCE[0]}")
  case ${1-} in
    '') ;;
    --short) tests=("${short[@]/#/test_}") ;;
    *) tests=("${@/#/test_}") ;;
  esac
  for test in "${tests[@]}"; do attempt "$test"; done
  printf 'cluster: %d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" = 0 ]
}

main "$@"
