//! The check of a server's response: wirebench's own client, through a port that the API server forwards to a pod.

use anyhow::Context as _;

use wirebench_engine::measure::request::Request;

use crate::deploy::Target;
use crate::kubectl::{Cluster, ForwardedPort};

/// A port of this machine that leads to a front pod; closed when dropped.
pub(crate) struct Forward(ForwardedPort);

impl Forward {
    /// Opens a port of 127.0.0.1 that leads to the port of a front pod of a target, whose ready pods are given.
    ///
    /// # Errors
    /// When no front pod is ready, or no port can be opened.
    pub(crate) fn open(cluster: &Cluster, target: &Target, ready: &[String]) -> anyhow::Result<Self> {
        let (deployment, port) = (&target.front.0, target.front.1);
        let front = ready.iter().find(|pod| pod.starts_with(deployment));
        let pod = front.context("no front pod is ready")?;
        cluster.forward(pod, port).map(Self)
    }

    /// Sends the server one request and checks the response; returns the bytes of its body or message.
    ///
    /// # Errors
    /// When there is no response, or a wrong one.
    pub(crate) fn check(&self, request: &Request) -> anyhow::Result<u64> {
        let answer = request.check(&self.0.address)?;
        Ok(request.payload_bytes(&answer))
    }
}
