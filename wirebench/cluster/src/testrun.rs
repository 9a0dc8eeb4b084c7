//! k6-operator's TestRun: one for each round of a k6 series. The operator starts the runners together and splits their load.

use serde_json::{Value, json};

use wirebench_declare::args::{MissingValue, Values, expand};
use wirebench_declare::plan::PlannedSeries;
use wirebench_engine::measure::slot::files;
use wirebench_engine::measure::values;

use crate::load::{Spec, mounts, volumes};
use crate::names::{RUN, key};
use crate::run_spec::OUTPUTS;

/// The container of a runner pod that keeps k6's output until it is collected.
pub(crate) const HOLD: &str = "hold";
/// The container that k6-operator runs k6 in.
pub(crate) const K6: &str = "k6";
/// The program that k6-operator runs.
pub(crate) const PROGRAM: &str = "k6";
/// The file that ends the container that holds the output.
pub(crate) const TAKEN: &str = "/wirebench/taken";
/// Waits until the output was collected, but at most ten seconds after SIGTERM.
const HOLD_SCRIPT: &str = "trap 'told=1' TERM; n=0; while [ ! -e /wirebench/taken ] && [ $n -lt 50 ]; do sleep 0.2; \
    [ -z \"$told\" ] || n=$((n+1)); done";

/// The selector of a TestRun's runner pods.
pub(crate) fn selector(name: &str) -> String {
    format!("k6_cr={name},runner=true")
}

/// The TestRun for the whole load of a series.
///
/// # Errors
/// When an argument of the driver has no value.
pub(crate) fn object(
    spec: &Spec,
    (inputs, script): (&str, &str),
    series: &PlannedSeries,
    values: &Values,
) -> Result<Value, MissingValue> {
    let env: Vec<Value> = values::environment(series, values)
        .into_iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    let args = arguments(expand(&series.mode.args, values)?);
    let labels = json!({"labels": {RUN: key(spec.run)}});
    let pod = json!({
        "image": spec.image,
        "imagePullPolicy": "IfNotPresent",
        "metadata": labels,
        "automountServiceAccountToken": "false",
        "env": env,
        "volumes": volumes(spec.inputs),
        "volumeMounts": mounts(),
        "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532},
        "containerSecurityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
    });
    let mut runner = pod.clone();
    runner["initContainers"] = json!([{
        "name": HOLD,
        "image": spec.image,
        "command": ["sh", "-c", HOLD_SCRIPT],
        "restartPolicy": "Always",
        "volumeMounts": mounts(),
    }]);
    Ok(json!({
        "apiVersion": "k6.io/v1alpha1",
        "kind": "TestRun",
        "metadata": {"name": spec.name, "labels": {RUN: key(spec.run)}, "ownerReferences": [spec.owner]},
        "spec": {
            "parallelism": spec.pods,
            "script": {"configMap": {"name": inputs, "file": script}},
            "arguments": args.join(" "),
            "initializer": pod,
            "runner": runner,
            "starter": {"image": spec.image, "imagePullPolicy": "IfNotPresent", "metadata": labels, "automountServiceAccountToken": "false"},
        },
    }))
}

/// The driver's arguments without those that k6-operator adds itself: the verb, the address to listen on, and the script.
fn arguments(mut args: Vec<String>) -> Vec<String> {
    args.pop();
    let mut rest = args.into_iter().filter(|arg| arg != "run" && arg != "--quiet");
    let mut kept = Vec::new();
    while let Some(arg) = rest.next() {
        if arg == "--address" {
            rest.next();
        } else {
            kept.push(arg);
        }
    }
    kept
}

/// The script that prints the bytes of k6's output.
pub(crate) fn size() -> String {
    format!("wc -c <{OUTPUTS}/{}", files::RAW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_s_own_arguments_are_left_out() {
        let args = [
            "run",
            "--quiet",
            "--no-thresholds",
            "--address",
            "",
            "--out",
            "csv=/wirebench/raw",
            "/in/script.js",
        ];
        let kept = arguments(args.map(str::to_owned).to_vec());
        assert_eq!(kept, ["--no-thresholds", "--out", "csv=/wirebench/raw"]);
    }
}
