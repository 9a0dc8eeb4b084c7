//! The probe: sends a target one request over HTTP, gRPC or gRPC-web, with TLS or without, before and after the load.

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::measure::grpc::frame::MAX_RESPONSE_BYTES;
use crate::measure::grpc::web;
use crate::measure::http_client::Connection;
use crate::measure::tls;
use crate::measure::wire::{WireRequest, WireResponse};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::LOOPBACK;

/// How long a probe waits for its response.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a probe has no response.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The TLS handshake failed.
    #[error(
        "TLS: {0}; the server must show the certificate and use the key that it is given as {{tls_cert}} and {{tls_key}}, or declare its own as ca"
    )]
    Tls(std::io::Error),
    /// Any other reason.
    #[error("{0}")]
    Other(String),
}

/// The error of a step, with what the step is for in front of it.
fn because<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> ProbeError {
    move |error| ProbeError::Other(format!("{what}: {error}"))
}

/// Sends one request to `address` (`127.0.0.1:8080`) on a new connection.
///
/// # Errors
/// When no complete response arrives within `timeout`.
pub fn send(address: &str, request: &WireRequest, timeout: Duration) -> Result<WireResponse, ProbeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(because("cannot ask"))?;
    runtime.block_on(async {
        tokio::time::timeout(timeout, exchange(address, request))
            .await
            .unwrap_or_else(|_| Err(ProbeError::Other(format!("no answer within {timeout:?}"))))
    })
}

async fn exchange(address: &str, request: &WireRequest) -> Result<WireResponse, ProbeError> {
    let stream = TcpStream::connect(address).await.map_err(because("no connection"))?;
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
        web::without_trailers(response, &content_type)
    } else {
        response
    })
}
