//! Answering connections with axum.

use std::future::pending;
use std::io;
use std::net::SocketAddr;

use axum::extract::Request;
use axum::response::IntoResponse;
use axum::serve::Listener;
use axum::{Router, ServiceExt};
use tower::Layer;
use tower::util::{MapResponseLayer, option_layer};

use crate::Waste;
use crate::guard::Guarded;
use crate::incoming::{Incoming, Source};
use crate::metrics::Watch;
use crate::serving::Serving;
use crate::wire::Wire;

/// Answers HTTP/1.1 and HTTP/2 alike until a stop is requested, with what `serving` asks for in every request.
///
/// # Errors
/// Those of the listener.
pub async fn serve(incoming: Incoming, router: Router, serving: Serving) -> io::Result<()> {
    let Serving { stop, waste, metrics } = serving;
    let stop = stop.requested();
    // The handlers are made once: not in every request, nor, as `axum::serve` does with a router alone, for every connection,
    // each of which would keep them.
    let router = router.with_state::<()>(());
    if waste.is_none() && metrics.is_none() {
        let service = router.into_make_service();
        return axum::serve(incoming, service).with_graceful_shutdown(stop).await;
    }
    let Some(metrics) = metrics else {
        let service = waste.unwrap_or_default().layer().layer(router);
        let service = ServiceExt::<Request>::into_make_service(service);
        return axum::serve(incoming, service).with_graceful_shutdown(stop).await;
    };
    let service = option_layer(waste.map(Waste::layer)).layer(router);
    let service = MapResponseLayer::new(IntoResponse::into_response).layer(Watch(metrics).layer(service));
    let service = ServiceExt::<Request>::into_make_service(service);
    axum::serve(incoming, service).with_graceful_shutdown(stop).await
}

impl Listener for Incoming {
    type Io = Guarded<Wire>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        let (wire, address) = match &mut self.source {
            Source::Plain(listener) => {
                let (stream, address) = Listener::accept(listener).await;
                (Wire::Plain(stream), address)
            }
            Source::Secure(done) => match done.recv().await {
                Some((stream, address)) => (Wire::Secure(stream), address),
                // Whoever does the handshakes ends only with the runtime.
                None => pending().await,
            },
        };
        (self.guarded(wire), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
