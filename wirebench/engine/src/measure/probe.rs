//! The probe: sends a target one request over HTTP, gRPC or gRPC-web, with TLS or without, before and after the load.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::measure::{tls, web};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::LOOPBACK;

/// How long a probe waits for its response.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest answer, before and after it is decompressed.
pub(crate) const MOST_ANSWER_BYTES: usize = 64 << 20;

/// A request that is ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireRequest {
    /// What is spoken; not `process`.
    pub protocol: Protocol,
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Header lines `name: value`.
    pub headers: Vec<String>,
    /// The body; for gRPC one length-prefixed frame.
    pub body: Vec<u8>,
    /// The file with the server's certificate; `None` without TLS.
    pub ca: Option<PathBuf>,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireAnswer {
    /// HTTP status.
    pub status: u16,
    /// The body; for gRPC the frames, of gRPC-web without the trailer frame.
    pub body: Vec<u8>,
    /// `grpc-status` and `grpc-message`, from the trailers, the trailer frame or the headers.
    pub grpc: Option<(String, String)>,
    /// Why the response is no valid gRPC-web; `None` if it is, and for other protocols.
    pub fault: Option<String>,
}

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
        /// What was spoken.
        protocol: Protocol,
        /// What went wrong.
        source: hyper::Error,
    },
    /// The body broke off or is too large.
    #[error("the answer's body: {0}")]
    Body(Box<dyn std::error::Error + Send + Sync>),
    /// No answer in time.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// No runtime for the request.
    #[error("cannot ask: {0}")]
    Runtime(std::io::Error),
}

/// The header lines of a gRPC-web request.
pub const WEB_HEADERS: [&str; 2] = ["content-type: application/grpc-web+proto", "x-grpc-web: 1"];

/// A unary gRPC call of `path` (`/package.Service/Method`) with one framed message, over `grpc`, `grpcs` or `grpc-web`.
#[must_use]
pub fn grpc_request(protocol: Protocol, path: &str, body: Vec<u8>, ca: &Path) -> WireRequest {
    let headers = match protocol {
        Protocol::GrpcWeb => WEB_HEADERS,
        _ => ["content-type: application/grpc", "te: trailers"],
    };
    WireRequest {
        protocol,
        method: "POST".into(),
        path: path.into(),
        headers: headers.map(str::to_owned).to_vec(),
        body,
        ca: protocol.has_tls().then(|| ca.to_path_buf()),
    }
}

/// Sends one request to `address` (`127.0.0.1:8080`) on a new connection.
///
/// # Errors
/// When no complete response arrives within `timeout`.
pub fn ask(address: &str, request: &WireRequest, timeout: Duration) -> Result<WireAnswer, ProbeError> {
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

async fn exchange(address: &str, request: &WireRequest) -> Result<WireAnswer, ProbeError> {
    let stream = TcpStream::connect(address).await.map_err(ProbeError::Connect)?;
    let _ = stream.set_nodelay(true);
    match &request.ca {
        None => speak(stream, address, request).await,
        Some(ca) => {
            let config = tls::client(ca, alpn(request.protocol)).map_err(ProbeError::Tls)?;
            let host = address.parse().map_or(LOOPBACK, |address: SocketAddr| address.ip());
            let name = ServerName::from(host);
            let connected = TlsConnector::from(config).connect(name, stream).await;
            speak(connected.map_err(ProbeError::Tls)?, address, request).await
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

async fn speak<S>(stream: S, address: &str, request: &WireRequest) -> Result<WireAnswer, ProbeError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let io = TokioIo::new(stream);
    let failed = |source| ProbeError::Protocol {
        protocol: request.protocol,
        source,
    };
    let body = Full::new(Bytes::from(request.body.clone()));
    let mut build = Request::builder().method(request.method.as_str());
    for (name, value) in request.headers.iter().filter_map(|line| line.split_once(": ")) {
        build = build.header(name, value);
    }
    let response = if is_http1(request.protocol) {
        let asked = build.uri(&request.path).header("host", address).body(body)?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.map_err(failed)?;
        tokio::spawn(connection);
        sender.send_request(asked).await.map_err(failed)?
    } else {
        let scheme = request.protocol.scheme();
        let asked = build.uri(format!("{scheme}://{address}{}", request.path)).body(body)?;
        let (mut sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io)
            .await
            .map_err(failed)?;
        tokio::spawn(connection);
        sender.send_request(asked).await.map_err(failed)?
    };
    let (head, body) = response.into_parts();
    let collected = Limited::new(body, MOST_ANSWER_BYTES)
        .collect()
        .await
        .map_err(ProbeError::Body)?;
    let text = |name: &str| {
        let from_trailers = collected.trailers().and_then(|trailers| trailers.get(name));
        let value = from_trailers.or_else(|| head.headers.get(name))?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let grpc = text("grpc-status").map(|status| (status, text("grpc-message").unwrap_or_default()));
    let kind = text("content-type").unwrap_or_default();
    let answer = WireAnswer {
        status: head.status.as_u16(),
        grpc,
        body: collected.to_bytes().to_vec(),
        fault: None,
    };
    Ok(if request.protocol == Protocol::GrpcWeb {
        web::opened(answer, &kind)
    } else {
        answer
    })
}
