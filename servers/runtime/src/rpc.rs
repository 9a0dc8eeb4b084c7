//! Answering connections with tonic.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::{Connected, TcpConnectInfo};
use tonic_web::GrpcWebLayer;
use tower::util::{MapRequestLayer, MapResponseLayer, option_layer};

use crate::Waste;
use crate::guard::Guarded;
use crate::incoming::{Incoming, Source};
use crate::kind::OnlyGrpc;
use crate::metrics::{Measured, Watch, mark_web};
use crate::serving::Serving;
use crate::wire::Wire;

/// Which clients a gRPC server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clients {
    /// gRPC over HTTP/2.
    Grpc,
    /// That, and gRPC-web over HTTP/1.1 and HTTP/2.
    GrpcAndWeb,
}

/// Answers `clients` until a stop is requested, with what `serving` asks for in every request.
///
/// # Errors
/// Those of the transport.
pub async fn serve(incoming: Incoming, routes: Routes, clients: Clients, serving: Serving) -> io::Result<()> {
    let Serving { stop, waste, metrics } = serving;
    let stop = stop.requested();
    let web = (clients == Clients::GrpcAndWeb).then(GrpcWebLayer::new);
    let served = if let Some(metrics) = metrics {
        let server = Server::builder().accept_http1(web.is_some());
        let server = server.layer(option_layer(waste.map(Waste::layer)));
        let server = server.layer(MapRequestLayer::new(mark_web)).layer(option_layer(web));
        let server = server
            .layer(MapResponseLayer::new(boxed))
            .layer(Watch(metrics))
            .layer(OnlyGrpc)
            .add_routes(routes);
        server.serve_with_incoming_shutdown(incoming, stop).await
    } else if waste.is_none() && web.is_none() {
        let server = Server::builder().layer(OnlyGrpc).add_routes(routes);
        server.serve_with_incoming_shutdown(incoming, stop).await
    } else {
        let server = Server::builder().accept_http1(web.is_some());
        let server = server.layer(option_layer(waste.map(Waste::layer)));
        let server = server.layer(option_layer(web)).layer(OnlyGrpc).add_routes(routes);
        server.serve_with_incoming_shutdown(incoming, stop).await
    };
    served.map_err(io::Error::other)
}

/// A measured answer as the services make them.
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
