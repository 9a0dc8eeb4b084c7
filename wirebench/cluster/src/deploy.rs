//! Servers in a cluster: applies an overlay for one variant, and waits until its pods are ready.

use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};

use crate::api::Cluster;
use crate::names::Names;
use crate::overlay::{Adaptation, Address, Overlay};

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
    pods: usize,
}

impl Target {
    /// Creates the objects of an overlay: the Services first, because the others need their addresses.
    ///
    /// # Errors
    /// When the API refuses an object.
    pub(crate) async fn apply(cluster: &Cluster, overlay: &Overlay, adapt: &Adaptation<'_>) -> anyhow::Result<Self> {
        let mut addresses = Vec::new();
        let mut address = None;
        for (name, service) in overlay.services(adapt) {
            let made = cluster.create(&service).await?;
            let ip = made["spec"]["clusterIP"]
                .as_str()
                .context("a Service without an address")?;
            let port = made["spec"]["ports"][0]["port"]
                .as_u64()
                .context("a Service without a port")?;
            if name == overlay.front {
                address = Some(format!("{ip}:{port}"));
            }
            addresses.push(Address {
                service: name,
                ip: ip.to_owned(),
                port,
            });
        }
        for object in overlay.others(adapt, &addresses) {
            cluster.create(&object).await?;
        }
        Ok(Self {
            names: adapt.names.clone(),
            address: address.context("the front's Service was not made")?,
            front: overlay.front_pods(adapt.names).map_err(|why| anyhow!(why))?,
            pods: overlay.pods(adapt.replicas),
        })
    }

    /// Waits until every pod is ready.
    ///
    /// # Errors
    /// When a pod does not get ready in time, or cannot: with the reason, and the end of its log.
    pub(crate) async fn wait(&self, cluster: &Cluster) -> anyhow::Result<()> {
        wait(cluster, &self.names.selector(), self.pods).await.map(drop)
    }

    /// The names of the pods, all of which are ready.
    ///
    /// # Errors
    /// When a pod is not ready.
    pub(crate) async fn ready_pods(&self, cluster: &Cluster) -> anyhow::Result<Vec<String>> {
        let pods = cluster.pods(&self.names.selector()).await?;
        let ready: Vec<String> = pods.iter().filter(|pod| is_ready(pod)).map(name).collect();
        if ready.len() == self.pods {
            return Ok(ready);
        }
        Err(anyhow!(
            "{} of {} server pods are ready{}",
            ready.len(),
            self.pods,
            why(cluster, &pods).await
        ))
    }
}

/// Waits until `count` pods that match a selector are ready, and returns their names.
///
/// # Errors
/// When a pod does not get ready in time, or cannot.
pub(crate) async fn wait(cluster: &Cluster, selector: &str, count: usize) -> anyhow::Result<Vec<String>> {
    let deadline = Instant::now() + READY_TIMEOUT;
    loop {
        let pods = cluster.pods(selector).await?;
        let ready: Vec<String> = pods.iter().filter(|pod| is_ready(pod)).map(name).collect();
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
                why(cluster, &pods).await
            ));
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The reason why the first pod with a fault is not ready, with the end of its container's log.
async fn why(cluster: &Cluster, pods: &[Pod]) -> String {
    let Some((pod, fault)) = pods.iter().find_map(|pod| Some((pod, fault(pod)?))) else {
        return String::new();
    };
    let pod = name(pod);
    let words = match &fault.container {
        Some(container) => cluster.log_tail(&pod, container).await,
        None => String::new(),
    };
    let words = if words.is_empty() {
        String::new()
    } else {
        format!(": {words}")
    };
    format!("; pod {pod}: {}{words}", fault.what)
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
fn fault(pod: &Pod) -> Option<Fault> {
    let status = pod.status.as_ref()?;
    if status.phase.as_deref() == Some("Failed") {
        let reason = status.reason.clone().unwrap_or_else(|| "Failed".into());
        let message = status.message.clone().unwrap_or_default();
        return Some(Fault {
            what: format!("{reason} {message}").trim().to_owned(),
            container: containers(pod).next().map(|one| one.name.clone()),
            is_hopeless: false,
        });
    }
    if let Some(found) = containers(pod).find_map(waiting) {
        return Some(found);
    }
    let mut conditions = status.conditions.iter().flatten();
    let unscheduled = conditions.find(|condition| condition.reason.as_deref() == Some("Unschedulable"))?;
    Some(Fault {
        what: format!("Unschedulable: {}", unscheduled.message.clone().unwrap_or_default()),
        container: None,
        is_hopeless: false,
    })
}

fn waiting(container: &ContainerStatus) -> Option<Fault> {
    let waiting = container.state.as_ref()?.waiting.as_ref()?;
    let reason = waiting.reason.clone()?;
    let is_hopeless = HOPELESS.contains(&&*reason);
    (is_hopeless || reason.starts_with("Err")).then(|| Fault {
        what: format!(
            "{}: {reason}: {}",
            container.name,
            waiting.message.clone().unwrap_or_default()
        ),
        container: Some(container.name.clone()),
        is_hopeless,
    })
}

fn containers(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    let status = pod.status.as_ref();
    let init = status.and_then(|status| status.init_container_statuses.as_ref());
    let own = status.and_then(|status| status.container_statuses.as_ref());
    own.into_iter().flatten().chain(init.into_iter().flatten())
}

/// True if a pod runs, is not being deleted, and all its containers are ready.
fn is_ready(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let conditions = status.and_then(|status| status.conditions.as_ref());
    let ready = conditions.is_some_and(|list| list.iter().any(|one| one.type_ == "Ready" && one.status == "True"));
    ready && pod.metadata.deletion_timestamp.is_none()
}

/// A pod's name.
fn name(pod: &Pod) -> String {
    pod.metadata.name.clone().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(status: &serde_json::Value) -> Pod {
        serde_json::from_value(json!({"metadata": {"name": "p"}, "status": status})).unwrap()
    }

    fn with_state(state: &serde_json::Value) -> Pod {
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
