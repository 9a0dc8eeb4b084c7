//! A response body that records its end and its status.

use std::pin::Pin;
use std::task::{Context, Poll};

use http::HeaderMap;
use http::response::Parts;
use http_body::{Body, Frame, SizeHint};

use super::timer::RequestTimer;

/// The gRPC status of a call that the client cancelled: CANCELLED.
const CANCELLED: u32 = 1;

/// A body that counts its request when it is dropped.
#[derive(Debug)]
pub(crate) struct Measured<B> {
    inner: Pin<Box<B>>,
    timer: RequestTimer,
    status: u32,
}

impl<B> Measured<B> {
    pub(super) fn new(inner: B, timer: RequestTimer, head: &Parts) -> Self {
        let status = if timer.protocol == "http" {
            head.status.as_u16().into()
        } else {
            grpc_status(&head.headers).unwrap_or(CANCELLED)
        };
        Self {
            inner: Box::pin(inner),
            timer,
            status,
        }
    }
}

fn grpc_status(headers: &HeaderMap) -> Option<u32> {
    headers.get("grpc-status")?.to_str().ok()?.parse().ok()
}

impl<B: Body> Body for Measured<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let frame = self.inner.as_mut().poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(status) = frame.trailers_ref().and_then(grpc_status)
        {
            self.status = status;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl<B> Drop for Measured<B> {
    fn drop(&mut self) {
        self.timer.finish(self.status);
    }
}
