//! The probe: sends a target one request over HTTP, gRPC or gRPC-web, with TLS or without, before and after the load.
//!
//! wirebench's own HTTP client: a connection over HTTP/1.1 or HTTP/2, and requests on it.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::measure::grpc::frame::{MAX_RESPONSE_BYTES, without_trailers};
use crate::measure::tls;
use crate::measure::wire::{WireRequest, WireResponse};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::LOOPBACK;

/// How long a probe waits for its response.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// The error of a TLS handshake.
fn tls_failed(error: &std::io::Error) -> String {
    format!(
        "TLS: {error}; the server must show the certificate and use the key that it is given as {{tls_cert}} and {{tls_key}}, or declare its own as ca"
    )
}

/// The error of a step, with what the step is for in front of it.
fn because<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> String {
    move |error| format!("{what}: {error}")
}

/// Sends one request to `address` (`127.0.0.1:8080`) on a new connection.
///
/// # Errors
/// When no complete response arrives within `timeout`; why, in words.
pub fn send(address: &str, request: &WireRequest, timeout: Duration) -> Result<WireResponse, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(because("cannot ask"))?;
    runtime.block_on(async {
        tokio::time::timeout(timeout, exchange(address, request))
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {timeout:?}")))
    })
}

async fn exchange(address: &str, request: &WireRequest) -> Result<WireResponse, String> {
    let stream = TcpStream::connect(address).await.map_err(because("no connection"))?;
    let _ = stream.set_nodelay(true);
    match &request.ca {
        None => exchange_over(stream, address, request).await,
        Some(ca) => {
            let alpn = if is_http1(request.protocol) { "http/1.1" } else { "h2" };
            let config = tls::client(ca, alpn).map_err(|error| tls_failed(&error))?;
            let host = address.parse().map_or(LOOPBACK, |address: SocketAddr| address.ip());
            let name = ServerName::from(host);
            let connected = TlsConnector::from(config).connect(name, stream).await;
            let connected = connected.map_err(|error| tls_failed(&error))?;
            exchange_over(connected, address, request).await
        }
    }
}

fn is_http1(protocol: Protocol) -> bool {
    matches!(protocol, Protocol::Http | Protocol::Https | Protocol::GrpcWeb)
}

async fn exchange_over<S>(stream: S, address: &str, request: &WireRequest) -> Result<WireResponse, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let failed = format!("{} failed", request.protocol.label());
    let connection = Connection::open(stream, is_http1(request.protocol)).await;
    let mut connection = connection.map_err(because(&failed))?;
    let http_request = connection
        .request(address, request)
        .map_err(because("not a valid request"))?;
    let response = connection.send(http_request).await.map_err(because(&failed))?;
    let (head, body) = response.into_parts();
    let collected = Limited::new(body, MAX_RESPONSE_BYTES)
        .collect()
        .await
        .map_err(because("the answer's body"))?;
    let header = |name: &str| {
        let from_trailers = collected.trailers().and_then(|trailers| trailers.get(name));
        let value = from_trailers.or_else(|| head.headers.get(name))?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let grpc = header("grpc-status").map(|status| (status, header("grpc-message").unwrap_or_default()));
    let content_type = header("content-type").unwrap_or_default();
    let response = WireResponse {
        status: head.status.as_u16(),
        grpc,
        body: collected.to_bytes().to_vec(),
        fault: None,
    };
    Ok(if request.protocol == Protocol::GrpcWeb {
        without_trailers(response, &content_type)
    } else {
        response
    })
}

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
