//! The metrics page: `GET /metrics` on a separate listener.
//!
//! Written by hand, so that the server's own use of its framework is the only one in the program: a second one changes what
//! the compiler makes of the first, and every request would cost something else.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Metrics;
use crate::error::ServerError;

/// Time limit for reading the request and for writing the response.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest request that is read, bytes.
const LONGEST_HEAD: usize = 16 * 1024;

/// The page, until the first serving thread takes it over.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    metrics: Metrics,
    listener: Arc<Mutex<Option<TcpListener>>>,
}

impl Page {
    /// Opens the page at `address` and prints the address on standard error.
    pub(crate) fn open(address: SocketAddr, name: &str) -> Result<Self, ServerError> {
        let listener = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            eprintln!("{name}: metrics at http://{}/metrics", listener.local_addr()?);
            Ok(listener)
        });
        let listener = listener.map_err(|source| ServerError::Metrics { address, source })?;
        Ok(Self {
            metrics: Metrics::new(),
            listener: Arc::new(Mutex::new(Some(listener))),
        })
    }

    /// Starts serving on the runtime of the first caller; returns the metrics that the page shows.
    pub(crate) fn begin(&self) -> Metrics {
        let listener = self.listener.lock().ok().and_then(|mut listener| listener.take());
        if let Some(listener) = listener {
            tokio::spawn(answer_all(listener, self.metrics.clone()));
        }
        self.metrics.clone()
    }
}

async fn answer_all(listener: TcpListener, metrics: Metrics) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(timeout(PATIENCE, answer(stream, metrics.clone())));
    }
}

/// Responds to one request and closes the connection.
async fn answer(mut stream: TcpStream, metrics: Metrics) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < LONGEST_HEAD {
        if stream.read_buf(&mut head).await? == 0 {
            break;
        }
    }
    let (status, kind, text) = if head.starts_with(b"GET /metrics ") {
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        ("200 OK", kind, metrics.text())
    } else {
        (
            "404 Not Found",
            "text/plain; charset=utf-8",
            "ask for /metrics\n".to_owned(),
        )
    };
    let length = text.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all((head + &text).as_bytes()).await?;
    stream.shutdown().await
}
