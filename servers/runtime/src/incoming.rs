//! Where connections come from: a listener, with TLS or without.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::guard::Guarded;

/// Connections whose handshake is done and that nobody has taken yet.
const WAITING_AT_MOST: usize = 64;

/// What a server gets its connections from.
#[derive(Debug)]
pub enum Incoming {
    /// A listener without TLS.
    Plain(Plain),
    /// A listener with TLS.
    Secure(Secure),
}

/// Connections without TLS.
#[derive(Debug)]
pub struct Plain {
    pub(crate) listener: TcpListener,
    pub(crate) patience: Duration,
}

/// Connections with TLS. Handshakes are done beside each other: a slow one holds up nobody.
#[derive(Debug)]
pub struct Secure {
    pub(crate) done: mpsc::Receiver<(Guarded<TlsStream<TcpStream>>, SocketAddr)>,
    pub(crate) address: SocketAddr,
}

impl Incoming {
    /// Takes connections from `listener`; each client has `patience` for its handshake and for the head of each request.
    pub(crate) fn new(listener: TcpListener, tls: Option<TlsAcceptor>, patience: Duration) -> io::Result<Self> {
        let Some(tls) = tls else {
            return Ok(Self::Plain(Plain { listener, patience }));
        };
        let address = listener.local_addr()?;
        let (ready, done) = mpsc::channel(WAITING_AT_MOST);
        tokio::spawn(accept_all(listener, tls, patience, ready));
        Ok(Self::Secure(Secure { done, address }))
    }
}

/// Accepts connections until nobody takes them any more.
async fn accept_all(
    listener: TcpListener,
    tls: TlsAcceptor,
    patience: Duration,
    ready: mpsc::Sender<(Guarded<TlsStream<TcpStream>>, SocketAddr)>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ready.closed() => return,
        };
        let Ok((stream, address)) = accepted else {
            // Most likely there is no file descriptor left: some must be given back first.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (tls, ready) = (tls.clone(), ready.clone());
        tokio::spawn(async move {
            // A client that fails, or says nothing, is nobody's loss but its own.
            if let Ok(Ok(stream)) = timeout(patience, tls.accept(stream)).await {
                let _ = ready.send((Guarded::new(stream, patience), address)).await;
            }
        });
    }
}
