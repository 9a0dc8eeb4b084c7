//! Answering connections with tonic.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_stream::Stream;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::{Connected, TcpConnectInfo};
use tonic_web::GrpcWebLayer;

use crate::guard::Guarded;
use crate::incoming::{Incoming, Plain, Secure};
use crate::serving::Serving;

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
    match incoming {
        Incoming::Plain(listener) => serve_from(listener, routes, clients, serving).await,
        Incoming::Secure(listener) => serve_from(listener, routes, clients, serving).await,
    }
}

async fn serve_from<I, T>(incoming: I, routes: Routes, clients: Clients, serving: Serving) -> io::Result<()>
where
    I: Stream<Item = io::Result<T>>,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Connected + Unpin + Send + 'static,
{
    let Serving { stop, waste } = serving;
    let stop = stop.requested();
    let served = match (clients, waste) {
        (Clients::Grpc, None) => {
            let server = Server::builder().add_routes(routes);
            server.serve_with_incoming_shutdown(incoming, stop).await
        }
        (Clients::Grpc, Some(waste)) => {
            let server = Server::builder().layer(waste.layer()).add_routes(routes);
            server.serve_with_incoming_shutdown(incoming, stop).await
        }
        (Clients::GrpcAndWeb, None) => {
            let mut server = Server::builder().accept_http1(true).layer(GrpcWebLayer::new());
            let server = server.add_routes(routes);
            server.serve_with_incoming_shutdown(incoming, stop).await
        }
        (Clients::GrpcAndWeb, Some(waste)) => {
            let server = Server::builder().accept_http1(true).layer(waste.layer());
            let mut server = server.layer(GrpcWebLayer::new());
            let server = server.add_routes(routes);
            server.serve_with_incoming_shutdown(incoming, stop).await
        }
    };
    served.map_err(io::Error::other)
}

impl Stream for Plain {
    type Item = io::Result<Guarded<TcpStream>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let accepted = self.listener.poll_accept(context);
        accepted.map(|accepted| Some(accepted.map(|(stream, _)| Guarded::new(stream, self.patience))))
    }
}

impl Stream for Secure {
    type Item = io::Result<Guarded<TlsStream<TcpStream>>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let done = self.done.poll_recv(context);
        done.map(|done| done.map(|(stream, _)| Ok(stream)))
    }
}

impl Connected for Guarded<TcpStream> {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.inner().connect_info()
    }
}

impl Connected for Guarded<TlsStream<TcpStream>> {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.inner().get_ref().0.connect_info()
    }
}
