//! The check of a server's response: wirebench's own client, through a port that the API server forwards to a pod.

use k8s_openapi::api::core::v1::Pod;
use kube::api::Api;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use wirebench_engine::measure::request::Request;

use crate::api::Cluster;

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
    /// Opens a port of 127.0.0.1 that leads to `port` of a pod.
    ///
    /// # Errors
    /// When no port can be opened.
    pub(crate) async fn open(cluster: &Cluster, pod: &str, port: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), &cluster.namespace);
        let pod = pod.to_owned();
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
