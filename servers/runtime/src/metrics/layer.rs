//! A layer that measures each request of a service.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::header::CONTENT_TYPE;
use http::{Request, Response};
use tower::{Layer, Service};

use super::Metrics;
use super::body::Measured;
use super::timer::RequestTimer;

/// Marks a request as gRPC-web, which inner layers can no longer detect.
#[derive(Clone, Copy, Debug)]
struct IsGrpcWeb;

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
    if content_type(&request).starts_with(b"application/grpc-web") {
        request.extensions_mut().insert(IsGrpcWeb);
    }
    request
}

fn content_type<B>(request: &Request<B>) -> &[u8] {
    request
        .headers()
        .get(CONTENT_TYPE)
        .map_or(&[], |value| value.as_bytes())
}

fn protocol<B>(request: &Request<B>) -> &'static str {
    if request.extensions().get::<IsGrpcWeb>().is_some() {
        "grpc-web"
    } else if content_type(request).starts_with(b"application/grpc") {
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
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        ResponseFuture {
            timer: Some(RequestTimer::start(self.metrics.clone(), protocol(&request))),
            inner: Box::pin(self.inner.call(request)),
        }
    }
}

/// A request whose response has not begun.
#[derive(Debug)]
pub(crate) struct ResponseFuture<F> {
    timer: Option<RequestTimer>,
    inner: Pin<Box<F>>,
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<Measured<B>>, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.inner.as_mut().poll(context))?;
        let timer = self.timer.take().expect("a future is not polled after its end");
        let (head, body) = response.into_parts();
        let measured = Measured::new(body, timer, &head);
        Poll::Ready(Ok(Response::from_parts(head, measured)))
    }
}
