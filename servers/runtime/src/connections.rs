//! Answering connections with hyper: what axum and tonic do at this place, less what nothing here asks for (upgrades, the ages
//! of connections, trace spans, a request's peer), which every request would pay.

use std::error::Error;
use std::io;
use std::pin::pin;

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming as Asked;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tower::Service;

use crate::Stop;
use crate::incoming::Incoming;

/// Which versions of HTTP a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// HTTP/2 alone.
    Http2,
    /// HTTP/1.1 and HTTP/2, told apart by the first bytes.
    Both,
}

/// Answers every connection with `service` until a stop is requested, and then until what was asked before is answered.
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
    let builder = Builder::new(TokioExecutor::new());
    let builder = match versions {
        Versions::Http2 => builder.http2_only(),
        Versions::Both => builder,
    };
    let (graceful, mut stop) = (GracefulShutdown::new(), pin!(stop.requested()));
    loop {
        let wire = tokio::select! {
            wire = incoming.next() => wire,
            () = &mut stop => break,
        };
        let service = TowerToHyperService::new(service.clone());
        let connection = builder.serve_connection(TokioIo::new(wire), service).into_owned();
        // A client that fails is nobody's loss but its own.
        tokio::spawn(graceful.watch(connection));
    }
    // The port is free while the last answers are on their way.
    drop(incoming);
    graceful.shutdown().await;
    Ok(())
}
