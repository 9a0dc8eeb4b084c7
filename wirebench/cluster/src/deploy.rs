//! Servers in a cluster: applies an overlay for one variant, and waits until its pods are ready.

use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use serde_json::Value;

use crate::kubectl::{Cluster, ForwardedPort, pod_name};
use crate::names::Names;
use crate::overlay::{Adaptation, Overlay, service_variables};

/// How long pods may take to get ready.
const READY_TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(300);
/// Reasons why a container waits that do not go away by waiting longer.
const HOPELESS: [&str; 7] = [
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "CreateContainerError",
    "ErrImageNeverPull",
    "ImagePullBackOff",
    "InvalidImageName",
    "RunContainerError",
];

/// The servers of an overlay in one variant.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) names: Names,
    /// The front's address in the cluster, `IP:port`.
    pub(crate) address: String,
    /// The name of the front's Deployment, and its container's port.
    pub(crate) front: (String, u16),
    pub(crate) pods: usize,
}

impl Target {
    /// Creates the objects of an overlay: the Services first, because the others need their addresses.
    ///
    /// # Errors
    /// When the API refuses an object.
    pub(crate) fn apply(cluster: &Cluster, overlay: &Overlay, adapt: &Adaptation<'_>) -> anyhow::Result<Self> {
        let (mut variables, mut address) = (Vec::new(), None);
        for (name, service) in overlay.services(adapt) {
            let made = cluster.create(&service)?;
            let ip = made["spec"]["clusterIP"]
                .as_str()
                .context("a Service without an address")?;
            let port = made["spec"]["ports"][0]["port"]
                .as_u64()
                .context("a Service without a port")?;
            if name == overlay.front {
                address = Some(format!("{ip}:{port}"));
            }
            variables.extend(service_variables(&name, ip, port));
        }
        for object in overlay.others(adapt, &variables) {
            cluster.create(&object)?;
        }
        Ok(Self {
            names: adapt.names.clone(),
            address: address.context("the front's Service was not made")?,
            front: overlay.front_pods(adapt.names).map_err(|why| anyhow!(why))?,
            pods: overlay.pods(adapt.replicas),
        })
    }

    /// Opens a port of 127.0.0.1 that leads to a front pod; the pods given are ready.
    ///
    /// # Errors
    /// When no front pod is among them, or no port can be opened.
    pub(crate) fn forward(&self, cluster: &Cluster, ready: &[String]) -> anyhow::Result<ForwardedPort> {
        let (deployment, port) = &self.front;
        let front = ready.iter().find(|pod| pod.starts_with(deployment));
        cluster.forward(front.context("no front pod is ready")?, *port)
    }

    /// The names of the pods, all of which are ready.
    ///
    /// # Errors
    /// When a pod is not ready.
    pub(crate) fn ready_pods(&self, cluster: &Cluster) -> anyhow::Result<Vec<String>> {
        let pods = cluster.pods(&self.names.selector())?;
        let ready: Vec<String> = pods.iter().filter(|pod| is_ready(pod)).map(pod_name).collect();
        if ready.len() == self.pods {
            return Ok(ready);
        }
        Err(anyhow!(
            "{} of {} server pods are ready{}",
            ready.len(),
            self.pods,
            why(cluster, &pods)
        ))
    }
}

/// Waits until `count` pods that match a selector are ready, and returns their names.
///
/// # Errors
/// When a pod does not get ready in time, or cannot: with the reason, and the end of its log.
pub(crate) fn wait(cluster: &Cluster, selector: &str, count: usize) -> anyhow::Result<Vec<String>> {
    let deadline = Instant::now() + READY_TIMEOUT;
    loop {
        let pods = cluster.pods(selector)?;
        let ready: Vec<String> = pods.iter().filter(|pod| is_ready(pod)).map(pod_name).collect();
        if ready.len() == count {
            return Ok(ready);
        }
        let hopeless = pods.iter().any(|pod| fault(pod).is_some_and(|fault| fault.is_hopeless));
        if hopeless || Instant::now() > deadline {
            let after = if hopeless {
                String::new()
            } else {
                format!(" after {READY_TIMEOUT:?}")
            };
            return Err(anyhow!(
                "{} of {count} pods are ready{after}{}",
                ready.len(),
                why(cluster, &pods)
            ));
        }
        std::thread::sleep(POLL);
    }
}

/// The reason why the first pod with a fault is not ready, with the end of its container's log.
fn why(cluster: &Cluster, pods: &[Value]) -> String {
    let Some((pod, fault)) = pods.iter().find_map(|pod| Some((pod, fault(pod)?))) else {
        return String::new();
    };
    let pod = pod_name(pod);
    let log = fault.container.map(|container| cluster.log_tail(&pod, &container));
    let log = log.filter(|log| !log.is_empty());
    let log = log.map_or_else(String::new, |log| format!(": {log}"));
    format!("; pod {pod}: {}{log}", fault.what)
}

/// The reason why a pod is not ready.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    what: String,
    container: Option<String>,
    /// True if waiting does not help.
    is_hopeless: bool,
}

/// The reason why a pod is not ready; `None` if it is unknown.
fn fault(pod: &Value) -> Option<Fault> {
    let status = &pod["status"];
    if status["phase"] == "Failed" {
        let reason = status["reason"].as_str().unwrap_or("Failed");
        let message = status["message"].as_str().unwrap_or_default();
        return Some(Fault {
            what: format!("{reason} {message}").trim().to_owned(),
            container: containers(pod).find_map(|one| Some(one["name"].as_str()?.to_owned())),
            is_hopeless: false,
        });
    }
    if let Some(found) = containers(pod).find_map(waiting) {
        return Some(found);
    }
    let unscheduled = list(&status["conditions"]).find(|condition| condition["reason"] == "Unschedulable")?;
    let message = unscheduled["message"].as_str().unwrap_or_default();
    Some(Fault {
        what: format!("Unschedulable: {message}"),
        container: None,
        is_hopeless: false,
    })
}

/// The fault of a container, by its status.
fn waiting(container: &Value) -> Option<Fault> {
    let waiting = &container["state"]["waiting"];
    let (name, reason) = (container["name"].as_str()?, waiting["reason"].as_str()?);
    let message = waiting["message"].as_str().unwrap_or_default();
    let is_hopeless = HOPELESS.contains(&reason);
    (is_hopeless || reason.starts_with("Err")).then(|| Fault {
        what: format!("{name}: {reason}: {message}"),
        container: Some(name.to_owned()),
        is_hopeless,
    })
}

/// The statuses of a pod's containers.
fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    let status = &pod["status"];
    list(&status["containerStatuses"]).chain(list(&status["initContainerStatuses"]))
}

/// True if a pod runs, is not being deleted, and all its containers are ready.
fn is_ready(pod: &Value) -> bool {
    let mut conditions = list(&pod["status"]["conditions"]);
    conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
        && pod["metadata"]["deletionTimestamp"].is_null()
}

/// The items of a JSON array; no item for any other value.
fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(status: &Value) -> Value {
        json!({"metadata": {"name": "p"}, "status": status})
    }

    fn with_state(state: &Value) -> Value {
        let container =
            json!({"name": "server", "image": "a", "imageID": "", "ready": false, "restartCount": 0, "state": state});
        pod(&json!({"phase": "Pending", "containerStatuses": [container]}))
    }

    #[test]
    fn an_image_that_cannot_be_had_and_a_crash_are_hopeless() {
        for reason in ["ImagePullBackOff", "CrashLoopBackOff", "ErrImageNeverPull"] {
            let found = fault(&with_state(&json!({"waiting": {"reason": reason, "message": "no"}}))).unwrap();
            assert!(found.is_hopeless, "{reason}");
            assert_eq!(found.what, format!("server: {reason}: no"));
        }
        // A first failed pull is tried again.
        assert!(
            !fault(&with_state(&json!({"waiting": {"reason": "ErrImagePull"}})))
                .unwrap()
                .is_hopeless
        );
        assert_eq!(
            fault(&with_state(&json!({"waiting": {"reason": "ContainerCreating"}}))),
            None
        );
    }

    #[test]
    fn an_evicted_pod_says_so() {
        let evicted = pod(&json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory"}));
        assert_eq!(fault(&evicted).unwrap().what, "Evicted The node was low on memory");
    }
}
