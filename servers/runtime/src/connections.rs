//! Answering connections with hyper: what axum and tonic do at this place, less what nothing here asks for (upgrades, the ages
//! of connections, trace spans, a request's peer), which every request would pay.
//!
//! The version of HTTP is looked for without reading: the 24 bytes that are otherwise read first make hyper double the room it
//! reads requests into, for as long as the connection lives.

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

/// Which versions of HTTP a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// HTTP/2 alone.
    Http2,
    /// HTTP/1.1 and HTTP/2, told apart by the first bytes.
    Both,
}

/// Serves every connection with `service` until a stop is requested; requests received before are still answered.
///
/// # Errors
/// When there is no more listener to accept from.
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
    // The port is free while the last answers are on their way.
    drop(incoming);
    graceful.shutdown().await;
    Ok(())
}

/// Answers one connection. A client that fails is nobody's loss but its own.
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
