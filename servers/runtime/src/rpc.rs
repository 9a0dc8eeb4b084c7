//! Serves connections with tonic.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use hyper::body::Incoming as Asked;
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::{Connected, TcpConnectInfo};
use tonic_web::GrpcWebLayer;
use tower::util::{MapRequestLayer, MapResponseLayer, option_layer};
use tower::{Layer, Service};

use crate::Waste;
use crate::connections::{self, Versions};
use crate::guard::Guarded;
use crate::incoming::{Incoming, Source};
use crate::kind::OnlyGrpc;
use crate::metrics::{Measured, Watch, mark_web};
use crate::serving::Serving;
use crate::wire::Wire;

/// The clients that a gRPC server supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clients {
    /// gRPC over HTTP/2.
    Grpc,
    /// That, and gRPC-web over HTTP/1.1 and HTTP/2.
    GrpcAndWeb,
}

/// Serves gRPC with tonic's own server, which enforces the deadlines that clients send: for services that wait for an upstream.
///
/// # Errors
/// Those of the transport.
pub async fn serve(incoming: Incoming, routes: Routes, serving: Serving) -> io::Result<()> {
    let Serving { stop, waste, metrics } = serving;
    let stop = stop.requested();
    let server = Server::builder().layer(option_layer(waste.map(Waste::layer)));
    let served = if let Some(metrics) = metrics {
        let server = server.layer(MapResponseLayer::new(boxed)).layer(Watch(metrics));
        let server = server.layer(OnlyGrpc).add_routes(routes);
        server.serve_with_incoming_shutdown(incoming, stop).await
    } else {
        let server = server.layer(OnlyGrpc).add_routes(routes);
        server.serve_with_incoming_shutdown(incoming, stop).await
    };
    served.map_err(io::Error::other)
}

/// Serves `clients` with `services`, which tonic generated, directly on hyper: for services that respond at once, so that no
/// deadline can expire.
///
/// # Errors
/// If the listener fails.
pub async fn serve_at_once<S>(incoming: Incoming, services: S, clients: Clients, serving: Serving) -> io::Result<()>
where
    S: Answers<Asked> + Answers<Body> + Clone + Send + 'static,
    <S as Service<Request<Asked>>>::Future: Send,
    <S as Service<Request<Body>>>::Future: Send,
{
    let Serving { stop, waste, metrics } = serving;
    let web = (clients == Clients::GrpcAndWeb).then(GrpcWebLayer::new);
    let versions = if web.is_some() { Versions::Both } else { Versions::Http2 };
    let grpc = OnlyGrpc.layer(services);
    if let Some(metrics) = metrics {
        let measured = MapResponseLayer::new(boxed).layer(Watch(metrics).layer(grpc));
        let marked = MapRequestLayer::new(mark_web).layer(option_layer(web).layer(measured));
        let service = option_layer(waste.map(Waste::layer)).layer(marked);
        connections::serve(incoming, service, versions, stop).await
    } else if waste.is_none() && web.is_none() {
        connections::serve(incoming, grpc, versions, stop).await
    } else {
        let service = option_layer(waste.map(Waste::layer)).layer(option_layer(web).layer(grpc));
        connections::serve(incoming, service, versions, stop).await
    }
}

/// Services for requests with bodies of type `B`.
pub trait Answers<B>: Service<Request<B>, Response = Response<Body>, Error = Infallible> {}

impl<S, B> Answers<B> for S where S: Service<Request<B>, Response = Response<Body>, Error = Infallible> {}

/// Converts a measured response back to the services' body type.
fn boxed(answer: Response<Measured<Body>>) -> Response<Body> {
    answer.map(Body::new)
}

impl Stream for Incoming {
    type Item = io::Result<Guarded<Wire>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let wire = match &mut self.source {
            Source::Plain(listener) => ready!(listener.poll_accept(context)).map(|(stream, _)| Wire::Plain(stream)),
            Source::Secure(done) => match ready!(done.poll_recv(context)) {
                Some((stream, _)) => Ok(Wire::Secure(stream)),
                None => return Poll::Ready(None),
            },
        };
        Poll::Ready(Some(wire.map(|wire| self.guarded(wire))))
    }
}

impl Connected for Guarded<Wire> {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.inner().tcp().connect_info()
    }
}
