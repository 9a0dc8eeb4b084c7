//! The probe: sends a target one request over HTTP, gRPC or gRPC-web, with TLS or without, before and after the load.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::measure::grpc::frame::MAX_RESPONSE_BYTES;
use crate::measure::grpc::web;
use crate::measure::http_client::{Connection, Message};
use crate::measure::tls;
use crate::measure::wire::{WireRequest, WireResponse};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::LOOPBACK;

/// How long a probe waits for its response.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The connection was refused.
    #[error("no connection: {0}")]
    Connect(std::io::Error),
    /// The server's certificate is not the expected one, or the server does not speak TLS.
    #[error(
        "TLS: {0}; the server must show the certificate and use the key that it is given as {{tls_cert}} and {{tls_key}}, or declare its own as ca"
    )]
    Tls(std::io::Error),
    /// The request is no valid HTTP.
    #[error("not a valid request: {0}")]
    Request(#[from] hyper::http::Error),
    /// The connection broke, or the server speaks another protocol.
    #[error("{} failed: {source}", protocol.label())]
    Protocol {
        /// The protocol of the request.
        protocol: Protocol,
        /// What went wrong.
        source: hyper::Error,
    },
    /// The body broke off or is too large.
    #[error("the answer's body: {0}")]
    Body(Box<dyn std::error::Error + Send + Sync>),
    /// No response in time.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// No runtime for the request.
    #[error("cannot ask: {0}")]
    Runtime(std::io::Error),
}

/// Sends one request to `address` (`127.0.0.1:8080`) on a new connection.
///
/// # Errors
/// When no complete response arrives within `timeout`.
pub fn send(address: &str, request: &WireRequest, timeout: Duration) -> Result<WireResponse, ProbeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ProbeError::Runtime)?;
    runtime.block_on(async {
        tokio::time::timeout(timeout, exchange(address, request))
            .await
            .unwrap_or(Err(ProbeError::Timeout(timeout)))
    })
}

async fn exchange(address: &str, request: &WireRequest) -> Result<WireResponse, ProbeError> {
    let stream = TcpStream::connect(address).await.map_err(ProbeError::Connect)?;
    let _ = stream.set_nodelay(true);
    match &request.ca {
        None => exchange_over(stream, address, request).await,
        Some(ca) => {
            let config = tls::client(ca, alpn(request.protocol)).map_err(ProbeError::Tls)?;
            let host = address.parse().map_or(LOOPBACK, |address: SocketAddr| address.ip());
            let name = ServerName::from(host);
            let connected = TlsConnector::from(config).connect(name, stream).await;
            exchange_over(connected.map_err(ProbeError::Tls)?, address, request).await
        }
    }
}

/// The protocol's name for ALPN.
fn alpn(protocol: Protocol) -> &'static str {
    if is_http1(protocol) { "http/1.1" } else { "h2" }
}

fn is_http1(protocol: Protocol) -> bool {
    matches!(protocol, Protocol::Http | Protocol::Https | Protocol::GrpcWeb)
}

async fn exchange_over<S>(stream: S, address: &str, request: &WireRequest) -> Result<WireResponse, ProbeError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let protocol_error = |source| ProbeError::Protocol {
        protocol: request.protocol,
        source,
    };
    let message = Message {
        scheme: request.protocol.scheme(),
        address,
        method: &request.method,
        path: &request.path,
        headers: request.headers.iter().map(String::as_str).collect(),
        body: Bytes::from(request.body.clone()),
    };
    let connection = Connection::open(stream, is_http1(request.protocol)).await;
    let mut connection = connection.map_err(protocol_error)?;
    let http_request = connection.request(message)?;
    let response = connection.send(http_request).await.map_err(protocol_error)?;
    let (head, body) = response.into_parts();
    let collected = Limited::new(body, MAX_RESPONSE_BYTES)
        .collect()
        .await
        .map_err(ProbeError::Body)?;
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
        web::without_trailers(response, &content_type)
    } else {
        response
    })
}
