//! wirebench's own HTTP client: a connection over HTTP/1.1 or HTTP/2, and requests on it.

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::measure::wire::WireRequest;

/// The sending side of a connection.
pub(super) enum Connection {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// Opens a connection of HTTP over a stream.
    pub(super) async fn open<S>(stream: S, is_http1: bool) -> hyper::Result<Self>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let io = TokioIo::new(stream);
        if is_http1 {
            let (sender, connection) = http1::handshake(io).await?;
            tokio::spawn(connection);
            Ok(Self::Http1(sender))
        } else {
            let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
            tokio::spawn(connection);
            Ok(Self::Http2(sender))
        }
    }

    /// A request to `address` (`127.0.0.1:8080`) in the form that the connection's version of HTTP needs.
    pub(super) fn request(&self, address: &str, wire: &WireRequest) -> hyper::http::Result<Request<Full<Bytes>>> {
        let mut builder = Request::builder().method(&*wire.method);
        for (name, value) in wire.headers.iter().filter_map(|line| line.split_once(": ")) {
            builder = builder.header(name, value);
        }
        let builder = match self {
            Self::Http1(_) => builder.uri(&*wire.path).header("host", address),
            Self::Http2(_) => builder.uri(format!("{}://{address}{}", wire.protocol.scheme(), wire.path)),
        };
        builder.body(Full::new(wire.body.clone().into()))
    }

    /// Sends a request and returns the head of its response; the body is still to be read.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::Http2(sender) => sender.send_request(request).await,
        }
    }
}
