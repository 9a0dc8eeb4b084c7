//! One request, one answer: asks a target over HTTP/1.1, h2c or gRPC before and after load.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;

use crate::declare::protocol::Protocol;

/// How long a probe waits for its answer.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
const MOST_ANSWER_BYTES: usize = 64 << 20;

/// A request ready for the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireRequest {
    /// What is spoken: `http`, `h2c` or `grpc`.
    pub protocol: Protocol,
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Header lines `name: value`.
    pub headers: Vec<String>,
    /// The body; for gRPC one length-prefixed frame.
    pub body: Vec<u8>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireAnswer {
    /// HTTP status.
    pub status: u16,
    /// The body; for gRPC the frames.
    pub body: Vec<u8>,
    /// `grpc-status` and `grpc-message`, from the trailers or the headers.
    pub grpc: Option<(String, String)>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Nobody listens.
    #[error("no connection: {0}")]
    Connect(std::io::Error),
    /// The request cannot be written down as HTTP.
    #[error("not a valid request: {0}")]
    Request(#[from] hyper::http::Error),
    /// The connection broke or spoke something else.
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

/// A unary gRPC call of `path` (`/package.Service/Method`) with one framed message.
#[must_use]
pub fn grpc_request(path: &str, body: Vec<u8>) -> WireRequest {
    let headers = ["content-type: application/grpc", "te: trailers"]
        .map(str::to_owned)
        .to_vec();
    WireRequest {
        protocol: Protocol::Grpc,
        method: "POST".into(),
        path: path.into(),
        headers,
        body,
    }
}

/// Asks `address` (`127.0.0.1:8080`) once, on a connection of its own.
///
/// # Errors
/// When no whole answer comes back within `timeout`.
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
    let response = if request.protocol == Protocol::Http {
        let asked = build.uri(&request.path).header("host", address).body(body)?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.map_err(failed)?;
        tokio::spawn(connection);
        sender.send_request(asked).await.map_err(failed)?
    } else {
        let asked = build.uri(format!("http://{address}{}", request.path)).body(body)?;
        let (mut sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io)
            .await
            .map_err(failed)?;
        tokio::spawn(connection);
        sender.send_request(asked).await.map_err(failed)?
    };
    collect(response).await
}

async fn collect(response: Response<Incoming>) -> Result<WireAnswer, ProbeError> {
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
    Ok(WireAnswer {
        status: head.status.as_u16(),
        grpc,
        body: collected.to_bytes().to_vec(),
    })
}
