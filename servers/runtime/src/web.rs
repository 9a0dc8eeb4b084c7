//! Answering connections with axum.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;

use axum::extract::Request;
use axum::response::Response;
use axum::serve::Listener;
use axum::{Router, ServiceExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tower::{Layer, Service};

use crate::guard::Guarded;
use crate::incoming::{Incoming, Plain, Secure};
use crate::serving::Serving;

/// Answers HTTP/1.1 and HTTP/2 alike until a stop is requested, with what `serving` asks for in every request.
///
/// # Errors
/// Those of the listener.
pub async fn serve(incoming: Incoming, router: Router, serving: Serving) -> io::Result<()> {
    match incoming {
        Incoming::Plain(listener) => serve_from(listener, router, serving).await,
        Incoming::Secure(listener) => serve_from(listener, router, serving).await,
    }
}

async fn serve_from<L: Listener<Addr = SocketAddr>>(listener: L, router: Router, serving: Serving) -> io::Result<()> {
    let Some(waste) = serving.waste else {
        let served = axum::serve(listener, router);
        return served.with_graceful_shutdown(serving.stop.requested()).await;
    };
    // As `axum::serve` does with a router alone: its handlers are made once, not in every request.
    let router = router.with_state::<()>(());
    serve_service(listener, waste.layer().layer(router), serving).await
}

async fn serve_service<L, S>(listener: L, service: S, serving: Serving) -> io::Result<()>
where
    L: Listener<Addr = SocketAddr>,
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let served = axum::serve(listener, ServiceExt::<Request>::into_make_service(service));
    served.with_graceful_shutdown(serving.stop.requested()).await
}

impl Listener for Plain {
    type Io = Guarded<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        (Guarded::new(stream, self.patience), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Listener for Secure {
    type Io = Guarded<TlsStream<TcpStream>>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        match self.done.recv().await {
            Some(accepted) => accepted,
            // Whoever accepts ends only with the runtime.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
