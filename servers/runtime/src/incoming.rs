//! Where connections come from: a listener, with TLS or without.

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

/// Connections whose handshake is done and that nobody has taken yet.
const WAITING_AT_MOST: usize = 64;

/// What a server gets its connections from. With TLS, handshakes are done beside each other: a slow one holds up nobody.
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

/// A connection after its handshake, and who opened it.
type Handshaken = (Box<TlsStream<TcpStream>>, SocketAddr);

impl Incoming {
    /// Takes connections from `listener`; each client has `patience` for its handshake and for the head of each request, and is counted by `metrics`.
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

    /// The next connection. Where none can be accepted, which is when there is no file descriptor left, it waits for some to
    /// be given back.
    pub(crate) async fn next(&mut self) -> Guarded<Wire> {
        let wire = match &mut self.source {
            Source::Plain(listener) => Wire::Plain(accepted(listener).await.0),
            Source::Secure(done) => match done.recv().await {
                Some((stream, _)) => Wire::Secure(stream),
                // Whoever does the handshakes ends only with the runtime.
                None => pending().await,
            },
        };
        self.guarded(wire)
    }

    /// A connection whose client is watched.
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

/// Accepts connections until nobody takes them any more.
async fn accept_all(listener: TcpListener, tls: TlsAcceptor, patience: Duration, ready: mpsc::Sender<Handshaken>) {
    loop {
        let (stream, address) = tokio::select! {
            accepted = accepted(&listener) => accepted,
            () = ready.closed() => return,
        };
        let (tls, ready) = (tls.clone(), ready.clone());
        tokio::spawn(async move {
            // A client that fails, or says nothing, is nobody's loss but its own.
            if let Ok(Ok(stream)) = timeout(patience, tls.accept(stream)).await {
                let _ = ready.send((Box::new(stream), address)).await;
            }
        });
    }
}
