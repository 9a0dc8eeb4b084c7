//! Load pods: a Job whose pods wait for commands, and the command that each one runs in a round.
//!
//! Splits a load over several pods, so that their parts add up to it exactly.

use serde_json::{Value, json};

use crate::names::RUN;
use crate::overlay::sleeping;
use crate::run_spec::{INPUTS, LoadPods, OUTPUTS};
use wirebench_declare::args::expand;
use wirebench_declare::load::{LoadStage, Rate};
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::scenario::{Amount, Load};
use wirebench_engine::measure::remote;
use wirebench_engine::measure::slot::files;
use wirebench_engine::measure::values::{self, Captured, Locations};

/// The container of a load pod.
pub(crate) const CONTAINER: &str = "load";
/// The label of load pods.
pub(crate) const ROLE: &str = "wirebench.dev/role";
/// Pods that may end early and be replaced, over the whole run.
const REPLACEMENTS: u32 = 6;

/// The Job of the load pods of the run with this key, which the owner owns; `inputs` is the volume with the inputs. They wait for
/// commands, so that all begin to load at the same time.
pub(crate) fn job(load: &LoadPods, key: &str, owner: &Value, inputs: &Value) -> Value {
    let labels = json!({RUN: key, ROLE: CONTAINER});
    let resources = json!({"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "2Gi"}});
    let mut container = sleeping(CONTAINER, &load.image, &resources);
    container["volumeMounts"] = json!([
        {"name": "inputs", "mountPath": INPUTS, "readOnly": true},
        {"name": "outputs", "mountPath": OUTPUTS},
    ]);
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": format!("wb-{key}-load"), "labels": labels, "ownerReferences": [owner]},
        "spec": {
            "parallelism": load.pods,
            "completions": load.pods,
            "backoffLimit": REPLACEMENTS,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": false,
                    "enableServiceLinks": false,
                    "terminationGracePeriodSeconds": 1,
                    "securityContext": {
                        "runAsNonRoot": true,
                        "runAsUser": 65532,
                        "runAsGroup": 65532,
                        "fsGroup": 65532,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [container],
                    "volumes": [inputs, {"name": "outputs", "emptyDir": {"sizeLimit": "2Gi"}}],
                },
            },
        },
    })
}

/// Where a series' body is, below the inputs.
pub(crate) fn body(series: usize) -> String {
    format!("bodies/{series}")
}

/// The driver's command in a pod as a line for a shell, with its environment.
///
/// # Errors
/// When an argument has no value.
fn line(series: &PlannedSeries, number: usize, address: &str) -> anyhow::Result<String> {
    let places = Locations {
        address,
        raw: &format!("{OUTPUTS}/{}", files::RAW),
        body_file: &format!("{INPUTS}/{}", body(number)),
        protoset: None,
        driver_folder: &format!("{INPUTS}/drivers/{}", series.driver.name),
        project: &format!("{INPUTS}/project"),
        ca: "",
    };
    let mut values = values::of(series, &places);
    values::fill_request(&mut values, series, &Captured::new());
    let env = values::environment(series, &values);
    let env = env.iter().map(|(name, value)| format!("{name}={value}"));
    let words = std::iter::once("env".to_owned())
        .chain(env)
        .chain(std::iter::once(series.driver.tool.program.clone()))
        .chain(expand(&series.mode.args, &values).map_err(anyhow::Error::msg)?);
    Ok(shell_words::join(words))
}

/// The command that warms a server up; `None` without a warm-up.
///
/// # Errors
/// When an argument has no value.
pub(crate) fn warm_up(series: &PlannedSeries, number: usize, address: &str) -> anyhow::Result<Option<String>> {
    let Some(warmup) = series.load.warmup else {
        return Ok(None);
    };
    let load = Load {
        amount: Amount::Duration(warmup),
        ..series.load.clone()
    };
    let line = line(&series.with_load(load), number, address)?;
    Ok(Some(format!(
        "cd {OUTPUTS} && rm -f {} && {line} >/dev/null",
        files::RAW
    )))
}

/// The command that loads a server: waits until `start` by the pod's own clock, loads, and prints when it began, the exit code,
/// and the bytes of its output files.
///
/// # Errors
/// When an argument has no value.
pub(crate) fn load(series: &PlannedSeries, number: usize, address: &str, start: i64) -> anyhow::Result<String> {
    let line = line(series, number, address)?;
    let (raw, stdout, stderr) = (files::RAW, files::STDOUT, files::STDERR);
    Ok(format!(
        "cd {OUTPUTS} && rm -f {raw} {stdout} {stderr}; while [ $(date +%s%N) -lt {start} ]; do sleep 0.01; done; \
         date +%s%N; {line} >{stdout} 2>{stderr}; echo $?; wc -c <{stdout}; [ ! -e {raw} ] || wc -c <{raw}"
    ))
}

/// The output of the load command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    /// When the driver was started, by the pod's clock, ns since 1970.
    pub(crate) began: i64,
    pub(crate) code: i32,
    pub(crate) stdout_bytes: u64,
    /// `None` if the driver wrote no file.
    pub(crate) raw_bytes: Option<u64>,
}

impl Done {
    /// Parses the output of the load command; `None` if it is something else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        Some(Self {
            began: lines.first()?.parse().ok()?,
            code: lines.get(1)?.parse().ok()?,
            stdout_bytes: lines.get(2)?.parse().ok()?,
            raw_bytes: lines.get(3).and_then(|line| line.parse().ok()),
        })
    }
}

/// The load of pod `index` of `pods`. Numbers of requests follow the connections.
pub(crate) fn share_of(load: &Load, pods: u32, index: u32) -> Load {
    // As equal as can be: the first pods get one more.
    let share = |whole: u32| whole / pods + u32::from(index < whole % pods);
    let connections = share(load.connections);
    let amount = match &load.amount {
        Amount::Requests(requests) => {
            let workers = u64::from(load.workers());
            let each = requests / workers;
            let rest = if index == 0 { requests % workers } else { 0 };
            Amount::Requests(each * u64::from(connections) * u64::from(load.streams) + rest)
        }
        Amount::Stages(stages) => Amount::Stages(
            stages
                .iter()
                .map(|stage| LoadStage {
                    connections: share(stage.connections),
                    ..*stage
                })
                .collect(),
        ),
        other => other.clone(),
    };
    Load {
        connections,
        amount,
        rate: load.rate.map(|rate| match rate {
            Rate::PerSecond(rate) => Rate::PerSecond(share(rate)),
            share @ Rate::OfCapacity(_) => share,
        }),
        ..load.clone()
    }
}

/// True if a series can be measured on a cluster by that many load pods: it loads a server without TLS, at no rate or at a known one,
/// and every pod gets at least one connection and one request per second.
pub fn fits(series: &PlannedSeries, pods: u32) -> bool {
    let load = &series.load;
    let rate = match load.rate {
        None => true,
        Some(Rate::PerSecond(rate)) => rate >= pods,
        Some(Rate::OfCapacity(_)) => false,
    };
    remote::fits(series) && rate && load.search.is_none() && load.connections >= pods
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_load_is_read() {
        let done = Done {
            began: 1_700_000_000_000_000_001,
            code: 0,
            stdout_bytes: 12,
            raw_bytes: Some(9),
        };
        assert_eq!(Done::parse("1700000000000000001\n0\n12\n  9\n"), Some(done));
        let without = Done {
            raw_bytes: None,
            ..done
        };
        assert_eq!(Done::parse("1700000000000000001\n0\n12\n"), Some(without));
        assert_eq!(Done::parse("sh: hey: not found\n"), None);
    }

    #[test]
    fn a_load_job_has_its_pods_and_no_account() {
        let load = LoadPods {
            pods: 3,
            image: "load:1".into(),
        };
        let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "o", "uid": "u"});
        let inputs = json!({"name": "inputs", "configMap": {"name": "wb-in", "items": []}});
        let made = job(&load, "01234567", &owner, &inputs);
        assert_eq!(made["spec"]["parallelism"], 3);
        assert_eq!(made["spec"]["template"]["spec"]["automountServiceAccountToken"], false);
    }
}

#[cfg(test)]
mod share_tests {
    use super::*;
    use proptest::prelude::*;
    use wirebench_declare::span::Span;

    proptest! {
        #[test]
        fn parts_add_up_and_differ_by_one_connection_at_most(
            connections in 1u32..2_000, streams in 1u32..5, each in 1u64..500, rate in 1u32..20_000, pods in 1u32..101, more in 0u64..7
        ) {
            prop_assume!(connections >= pods);
            let requests = each * u64::from(connections) * u64::from(streams) + more;
            let load = Load {
                streams,
                rate: Some(Rate::PerSecond(rate)),
                ..Load::closed(connections, Amount::Requests(requests))
            };
            let parts: Vec<Load> = (0..pods).map(|index| share_of(&load, pods, index)).collect();
            let sum = |what: fn(&Load) -> u64| parts.iter().map(what).sum::<u64>();
            prop_assert_eq!(sum(|one| u64::from(one.connections)), u64::from(connections));
            prop_assert_eq!(sum(|one| match one.amount { Amount::Requests(requests) => requests, _ => 0 }), requests);
            prop_assert_eq!(sum(|one| match one.rate { Some(Rate::PerSecond(rate)) => u64::from(rate), _ => 0 }), u64::from(rate));
            let most = parts.iter().map(|one| one.connections).max().unwrap();
            let least = parts.iter().map(|one| one.connections).min().unwrap();
            prop_assert!(most - least <= 1);
        }
    }

    #[test]
    fn stages_are_shared_one_by_one_and_durations_are_not() {
        let seconds = |count| Span(std::time::Duration::from_secs(count));
        let stage = |connections| LoadStage {
            connections,
            duration: seconds(1),
        };
        let load = Load::closed(7, Amount::Stages(vec![stage(7), stage(0)]));
        let second = share_of(&load, 2, 1);
        assert_eq!(second.connections, 3);
        assert_eq!(second.amount, Amount::Stages(vec![stage(3), stage(0)]));
        let timed = Load::closed(7, Amount::Duration(seconds(2)));
        assert_eq!(share_of(&timed, 2, 0).amount, Amount::Duration(seconds(2)));
    }
}
