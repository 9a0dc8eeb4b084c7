//! Metrics around a service: the time from a request's head to the end of its response.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use http::header::CONTENT_TYPE;
use http::{Request, Response};
use tower::{Layer, Service};

use super::Metrics;
use super::body::Measured;

/// Marks a request as gRPC-web, which inner layers can no longer detect.
#[derive(Clone, Copy, Debug)]
struct CameAsWeb;

/// Measures each request of the wrapped service.
#[derive(Clone, Debug)]
pub(crate) struct Watch(pub(crate) Metrics);

/// A service whose requests are measured.
#[derive(Clone, Debug)]
pub(crate) struct Watched<S> {
    metrics: Metrics,
    inner: S,
}

/// Marks gRPC-web requests before they are translated.
#[cfg(feature = "tonic")]
pub(crate) fn mark_web<B>(mut request: Request<B>) -> Request<B> {
    if kind(&request).starts_with(b"application/grpc-web") {
        request.extensions_mut().insert(CameAsWeb);
    }
    request
}

fn kind<B>(request: &Request<B>) -> &[u8] {
    request.headers().get(CONTENT_TYPE).map_or(&[], |kind| kind.as_bytes())
}

fn protocol<B>(request: &Request<B>) -> &'static str {
    if request.extensions().get::<CameAsWeb>().is_some() {
        "grpc-web"
    } else if kind(request).starts_with(b"application/grpc") {
        "grpc"
    } else {
        "http"
    }
}

impl<S> Layer<S> for Watch {
    type Service = Watched<S>;

    fn layer(&self, inner: S) -> Watched<S> {
        Watched {
            metrics: self.0.clone(),
            inner,
        }
    }
}

impl<S, Q, B> Service<Request<Q>> for Watched<S>
where
    S: Service<Request<Q>, Response = Response<B>>,
{
    type Response = Response<Measured<B>>;
    type Error = S::Error;
    type Future = Answering<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let begun = Begun {
            metrics: self.metrics.clone(),
            protocol: protocol(&request),
            at: Instant::now(),
        };
        Answering {
            begun: Some(begun),
            inner: Box::pin(self.inner.call(request)),
        }
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct Begun {
    metrics: Metrics,
    pub(super) protocol: &'static str,
    at: Instant,
}

impl Begun {
    pub(super) fn answered(&self, status: u32) {
        self.metrics.answered(self.protocol, status, self.at.elapsed());
    }
}

/// A request whose response has not begun.
#[derive(Debug)]
pub(crate) struct Answering<F> {
    begun: Option<Begun>,
    inner: Pin<Box<F>>,
}

impl<F, B, E> Future for Answering<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<Measured<B>>, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = ready!(self.inner.as_mut().poll(context))?;
        let begun = self.begun.take().expect("a future is not polled after its end");
        let (head, body) = answer.into_parts();
        let measured = Measured::new(body, begun, &head);
        Poll::Ready(Ok(Response::from_parts(head, measured)))
    }
}
