//! Serves connections with hyper, as axum and tonic do, without features that no server here uses but every request would pay
//! for: upgrades, connection ages, trace spans, peer addresses.
//!
//! The HTTP version is detected with `peek` instead of a read: after a read of the first 24 bytes hyper doubles the read buffer of
//! the connection for its whole life.

use std::error::Error;
use std::io;
use std::pin::pin;

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming as Asked;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tower::Service;

use crate::Stop;
use crate::guard::Guarded;
use crate::incoming::Incoming;
use crate::wire::Wire;

/// The HTTP versions a server supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// Only HTTP/2.
    #[cfg(feature = "tonic")]
    Http2,
    /// HTTP/1.1 and HTTP/2, detected from the first bytes.
    Both,
}

/// Serves every connection with `service` until a stop is requested. Requests received before the stop still get their response.
///
/// # Errors
/// If the listener fails.
pub(crate) async fn serve<S, B>(mut incoming: Incoming, service: S, versions: Versions, stop: Stop) -> io::Result<()>
where
    S: Service<Request<Asked>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let (graceful, mut stopping) = (GracefulShutdown::new(), pin!(stop.clone().requested()));
    loop {
        let wire = tokio::select! {
            wire = incoming.next() => wire,
            () = &mut stopping => break,
        };
        tokio::spawn(answer(
            wire,
            service.clone(),
            versions,
            graceful.watcher(),
            stop.clone(),
        ));
    }
    // Frees the port while the last responses are sent.
    drop(incoming);
    graceful.shutdown().await;
    Ok(())
}

/// Serves one connection. Errors of a connection are dropped: they concern only its client.
async fn answer<S, B>(wire: Guarded<Wire>, service: S, versions: Versions, watcher: Watcher, stop: Stop)
where
    S: Service<Request<Asked>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let http2 = match versions {
        #[cfg(feature = "tonic")]
        Versions::Http2 => true,
        Versions::Both => tokio::select! {
            begins = wire.begins_http2() => begins,
            () = stop.requested() => return,
        },
    };
    let (io, service) = (TokioIo::new(wire), TowerToHyperService::new(service));
    if http2 {
        let connection = http2::Builder::new(TokioExecutor::new()).serve_connection(io, service);
        let _ = Box::pin(watcher.watch(connection)).await;
    } else {
        let _ = watcher.watch(http1::Builder::new().serve_connection(io, service)).await;
    }
}
