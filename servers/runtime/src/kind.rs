//! Rejects requests whose content type is not gRPC with status 415, as the protocol requires (PROTOCOL-HTTP2, "Requests").
//!
//! tonic does not check the content type, and decodes a form or a JSON body as if it were gRPC.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode};
use pin_project_lite::pin_project;
use tonic::body::Body;
use tower::{Layer, Service};

/// Prefix of the gRPC content types.
const GRPC: &[u8] = b"application/grpc";

/// Passes only gRPC requests to the wrapped service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnlyGrpc;

/// A service that gets only gRPC requests.
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
    /// The service's response, or status 415.
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
