//! Accepts connections from a listener, with or without TLS.

use std::future::pending;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::guard::Guarded;
use crate::metrics::Metrics;
use crate::wire::Wire;

/// Maximum number of connections that have finished their handshake and wait to be served.
const WAITING_AT_MOST: usize = 64;

/// The source of a server's connections. TLS handshakes run concurrently, so that a slow one does not delay the others.
#[derive(Debug)]
pub struct Incoming {
    pub(crate) source: Source,
    patience: Duration,
    metrics: Option<Metrics>,
}

#[derive(Debug)]
pub(crate) enum Source {
    /// Connections without TLS.
    Plain(TcpListener),
    /// Connections whose handshake is done.
    Secure(mpsc::Receiver<Handshaken>),
}

/// A connection after its handshake, with the client's address.
type Handshaken = (Box<TlsStream<TcpStream>>, SocketAddr);

impl Incoming {
    /// Accepts connections from `listener`. `patience` limits the time for the handshake and for each request head; `metrics` counts the connections.
    pub(crate) fn new(
        listener: TcpListener,
        tls: Option<TlsAcceptor>,
        patience: Duration,
        metrics: Option<Metrics>,
    ) -> Self {
        let source = match tls {
            None => Source::Plain(listener),
            Some(tls) => {
                let (ready, done) = mpsc::channel(WAITING_AT_MOST);
                tokio::spawn(accept_all(listener, tls, patience, ready));
                Source::Secure(done)
            }
        };
        Self {
            source,
            patience,
            metrics,
        }
    }

    /// The next connection. If accepting fails, for example because no file descriptor is left, it retries after a pause.
    pub(crate) async fn next(&mut self) -> Guarded<Wire> {
        let wire = match &mut self.source {
            Source::Plain(listener) => Wire::Plain(accepted(listener).await.0),
            Source::Secure(done) => match done.recv().await {
                Some((stream, _)) => Wire::Secure(stream),
                // The task that does the handshakes runs as long as the runtime.
                None => pending().await,
            },
        };
        self.guarded(wire)
    }

    /// A connection with the timeout for request heads.
    pub(crate) fn guarded(&self, wire: Wire) -> Guarded<Wire> {
        Guarded::new(wire, self.patience, self.metrics.as_ref().map(Metrics::open))
    }
}

async fn accepted(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Accepts connections until the receiver is dropped.
async fn accept_all(listener: TcpListener, tls: TlsAcceptor, patience: Duration, ready: mpsc::Sender<Handshaken>) {
    loop {
        let (stream, address) = tokio::select! {
            accepted = accepted(&listener) => accepted,
            () = ready.closed() => return,
        };
        let (tls, ready) = (tls.clone(), ready.clone());
        tokio::spawn(async move {
            // A failed or timed-out handshake concerns only its client.
            if let Ok(Ok(stream)) = timeout(patience, tls.accept(stream)).await {
                let _ = ready.send((Box::new(stream), address)).await;
            }
        });
    }
}
