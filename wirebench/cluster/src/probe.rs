//! The check of a server's response: wirebench's own client, through a port that the API server forwards to a pod.

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Pod;
use kube::api::Api;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use wirebench_engine::measure::request::Request;

use crate::api::Cluster;
use crate::deploy::Target;

/// A port of this machine that leads to a port of a pod; closed when dropped.
pub(crate) struct Forward {
    address: String,
    accepting: JoinHandle<()>,
}

impl Drop for Forward {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Forward {
    /// Opens a port of 127.0.0.1 that leads to the port of a front pod of a target, whose ready pods are given.
    ///
    /// # Errors
    /// When no front pod is ready, or no port can be opened.
    pub(crate) async fn open(cluster: &Cluster, target: &Target, ready: &[String]) -> anyhow::Result<Self> {
        let (deployment, port) = (&target.front.0, target.front.1);
        let front = ready.iter().find(|pod| pod.starts_with(deployment));
        let pod = front.context("no front pod is ready")?.clone();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), &cluster.namespace);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(relay(pods.clone(), pod.clone(), port, stream));
            }
        });
        Ok(Self { address, accepting })
    }

    /// Sends the server one request and checks the response; returns the bytes of its body or message.
    ///
    /// # Errors
    /// When there is no response, or a wrong one.
    pub(crate) fn check(&self, request: &Request) -> Result<u64, String> {
        // The client has a runtime of its own, and runtimes cannot be nested in one thread.
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                request
                    .check(&self.address)
                    .map(|answer| request.payload_bytes(&answer))
            });
            let answered = asking
                .join()
                .map_err(|_| "the check of the response ended by force".to_owned())?;
            answered.map_err(|error| error.to_string())
        })
    }
}

async fn relay(pods: Api<Pod>, pod: String, port: u16, mut stream: TcpStream) {
    let forwarded = pods.portforward(&pod, &[port]).await;
    let mut forwarder = match forwarded {
        Ok(forwarder) => forwarder,
        Err(error) => {
            log::warn!("port {port} of pod {pod} cannot be forwarded: {error}");
            return;
        }
    };
    if let Some(mut upstream) = forwarder.take_stream(port) {
        // Either side may close first; the check of the response says what was wrong.
        let _ = tokio::io::copy_bidirectional(&mut stream, &mut upstream).await;
    }
    forwarder.abort();
}
