//! The page that shows the metrics: `GET /metrics` on a listener of its own.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};

use super::Metrics;
use crate::error::ServerError;

/// The page, until the first thread that serves requests takes it upon itself.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    metrics: Metrics,
    listener: Arc<Mutex<Option<TcpListener>>>,
}

impl Page {
    /// A page at `address`; says on standard error where that is.
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

    /// Begins to answer, on the runtime of whoever calls this first; gives what the page shows.
    pub(crate) fn begin(&self) -> Metrics {
        let listener = self.listener.lock().ok().and_then(|mut listener| listener.take());
        if let Some(listener) = listener {
            tokio::spawn(answer_all(listener, self.metrics.clone()));
        }
        self.metrics.clone()
    }
}

async fn answer_all(listener: TcpListener, metrics: Metrics) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let metrics = metrics.clone();
        let answer = service_fn(move |request| {
            let answer = page(&metrics, &request);
            async move { Ok::<_, Infallible>(answer) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), answer);
        tokio::spawn(connection);
    }
}

fn page(metrics: &Metrics, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    if request.uri().path() != "/metrics" {
        let mut answer = Response::new(Full::from("ask for /metrics\n"));
        *answer.status_mut() = StatusCode::NOT_FOUND;
        return answer;
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let mut answer = Response::new(Full::from(metrics.text()));
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, http::HeaderValue::from_static(kind));
    answer
}
