//! Questions that do not say they are gRPC are told so: status 415, as the protocol asks (PROTOCOL-HTTP2, "Requests").
//!
//! tonic leaves that out, and answers a form or a JSON body as if it were gRPC.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode};
use pin_project_lite::pin_project;
use tonic::body::Body;
use tower::{Layer, Service};

/// How the content types of gRPC begin.
const GRPC: &[u8] = b"application/grpc";

/// Lets gRPC through to the service it is put around, and nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnlyGrpc;

/// A service that only gRPC comes through to.
#[derive(Clone, Debug)]
pub(crate) struct Only<S>(S);

impl<S> Layer<S> for OnlyGrpc {
    type Service = Only<S>;

    fn layer(&self, inner: S) -> Only<S> {
        Only(inner)
    }
}

impl<S, Q> Service<Request<Q>> for Only<S>
where
    S: Service<Request<Q>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Answer<S::Future>;

    #[inline]
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    #[inline]
    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let kind = request.headers().get(CONTENT_TYPE);
        let inner = kind
            .is_some_and(|kind| kind.as_bytes().starts_with(GRPC))
            .then(|| self.0.call(request));
        Answer { inner }
    }
}

pin_project! {
    /// The service's answer, or a refusal where it is not asked.
    #[derive(Debug)]
    pub(crate) struct Answer<F> {
        #[pin]
        inner: Option<F>,
    }
}

impl<F, E> Future for Answer<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = Result<Response<Body>, E>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().inner.as_pin_mut() {
            Some(inner) => Poll::Ready(ready!(inner.poll(context))),
            None => {
                let mut refusal = Response::new(Body::empty());
                *refusal.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                Poll::Ready(Ok(refusal))
            }
        }
    }
}
