//! The Job that owns every object of a run, and that is deleted when wirebench stops extending its deadline.
//!
//! It has no pods. While the run lasts, heartbeats extend its deadline. When wirebench ends, for any reason, the Job fails at its
//! deadline, and Kubernetes deletes it (`ttlSecondsAfterFinished: 0`) with all objects that it owns.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use wirebench_engine::measure::interrupt::Interrupt;

use crate::kubectl::{Cluster, pod_name};
use crate::names::{self, RUN};

/// How long the owner lives after the last heartbeat; then Kubernetes begins to remove the run's objects.
const LIFETIME: Duration = Duration::from_secs(25);
/// The time between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long a clean-up may take before it is reported as unfinished.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(250);

/// The owner of a run's objects.
pub(crate) struct Owner {
    cluster: Cluster,
    name: String,
    key: String,
    /// Its reference in the objects that it owns.
    pub(crate) reference: Value,
    heartbeat: JoinHandle<()>,
    /// Ends the heartbeats when it is dropped.
    stop: Sender<()>,
}

/// The Job, for the run with this key. The image is never run.
fn job(name: &str, key: &str, image: &str) -> Value {
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": {RUN: key, "app.kubernetes.io/managed-by": "wirebench"}},
        "spec": {
            "parallelism": 0,
            "completions": 1,
            "activeDeadlineSeconds": LIFETIME.as_secs(),
            "ttlSecondsAfterFinished": 0,
            "template": {
                "metadata": {"labels": {RUN: key}},
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": false,
                    "containers": [{"name": "never", "image": image}],
                },
            },
        },
    })
}

/// The deadline, in seconds after the Job's start, for a heartbeat at that time after its creation.
fn deadline(since: Duration) -> u64 {
    since.as_secs() + LIFETIME.as_secs()
}

impl Owner {
    /// Creates the owner of the run with this key, and extends its deadline until [`Owner::remove`], or until this process ends.
    ///
    /// # Errors
    /// When the API refuses it.
    pub(crate) fn make(cluster: &Cluster, key: &str, image: &str) -> anyhow::Result<Self> {
        let name = format!("wirebench-{key}");
        let made = cluster.create(&job(&name, key, image))?;
        let since = Instant::now();
        let uid = made["metadata"]["uid"]
            .as_str()
            .context("the API stored a Job without uid")?;
        let reference = json!({"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid});
        let mut cluster = cluster.clone();
        // Its calls go on after Ctrl-C.
        cluster.interrupt = Interrupt::default();
        let (stop, stopped) = mpsc::channel();
        let heartbeat = {
            let (cluster, name) = (cluster.clone(), name.clone());
            thread::spawn(move || keep_alive(&cluster, &name, since, &stopped))
        };
        Ok(Self {
            cluster,
            name,
            key: key.to_owned(),
            reference,
            heartbeat,
            stop,
        })
    }

    /// Deletes the owner with all that it owns, and waits until the run has no pods left.
    ///
    /// # Errors
    /// When it cannot be deleted, or pods remain; Kubernetes then still removes them after the deadline.
    pub(crate) fn remove(self) -> anyhow::Result<()> {
        drop(self.stop);
        let _ = self.heartbeat.join();
        let name = self.name.as_str();
        // Kubernetes then deletes the objects that the Job owns.
        let options = ["--cascade=background", "--ignore-not-found", "--wait=false"];
        let deleted = self
            .cluster
            .text(&[&["delete", "job", name][..], &options].concat(), None);
        deleted.map_err(|error| {
            anyhow!(
                "Job {name} cannot be deleted: {error:#}; Kubernetes removes it and what it owns within {LIFETIME:?}"
            )
        })?;
        let deadline = Instant::now() + CLEANUP_TIMEOUT;
        loop {
            let left = self.cluster.pods(&names::selector(&self.key))?;
            if left.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                let names: Vec<String> = left.iter().map(pod_name).collect();
                return Err(anyhow!(
                    "pods remain {CLEANUP_TIMEOUT:?} after the clean-up: {}",
                    names.join(", ")
                ));
            }
            thread::sleep(POLL);
        }
    }
}

fn keep_alive(cluster: &Cluster, name: &str, since: Instant, stopped: &Receiver<()>) {
    while stopped.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
        let patch = json!({"spec": {"activeDeadlineSeconds": deadline(since.elapsed())}});
        let patch = format!("--patch={patch}");
        if let Err(error) = cluster.text(&["patch", "job", name, "--type=merge", &patch], None) {
            log::warn!("the run's owner, Job {name}, could not be kept alive this time: {error:#}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_runs_nothing_and_goes_by_itself() {
        let job = job("wirebench-1", "1", "load:1");
        let spec = &job["spec"];
        assert_eq!(
            (&spec["parallelism"], &spec["ttlSecondsAfterFinished"]),
            (&json!(0), &json!(0))
        );
    }

    #[test]
    fn a_sign_of_life_moves_the_deadline_to_the_same_distance() {
        let at = |seconds| deadline(Duration::from_secs(seconds));
        assert_eq!((at(0), at(600)), (25, 625));
        // Missed by one beat or two, the owner still lives.
        assert!(LIFETIME >= HEARTBEAT * 4);
        // The rest of a minute is for Kubernetes, and for pods to stop.
        assert!(LIFETIME + Duration::from_secs(30) <= Duration::from_secs(60));
    }
}
