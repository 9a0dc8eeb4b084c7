//! Serves connections with axum.

use std::io;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use tower::util::{MapRequestLayer, MapResponseLayer, option_layer};
use tower::{Layer, Service};

use crate::Waste;
use crate::connections::{self, Versions};
use crate::incoming::Incoming;
use crate::metrics::Watch;
use crate::serving::Serving;

/// Serves HTTP/1.1 and HTTP/2 until a stop is requested, and applies `serving` to every request.
///
/// # Errors
/// If the listener fails.
pub async fn serve(incoming: Incoming, router: Router, serving: Serving) -> io::Result<()> {
    let Serving { stop, waste, metrics } = serving;
    // Builds the handlers once, instead of once for every connection or request.
    let router = router.with_state::<()>(());
    if waste.is_none() && metrics.is_none() {
        return connections::serve(incoming, router, Versions::Both, stop).await;
    }
    let Some(metrics) = metrics else {
        let service = of_axum(waste.unwrap_or_default().layer().layer(router));
        return connections::serve(incoming, service, Versions::Both, stop).await;
    };
    let service = option_layer(waste.map(Waste::layer)).layer(router);
    let service = MapResponseLayer::new(IntoResponse::into_response).layer(Watch(metrics).layer(service));
    connections::serve(incoming, of_axum(service), Versions::Both, stop).await
}

/// Adapts a service with axum's request bodies to connections, whose bodies are hyper's.
fn of_axum<S>(
    service: S,
) -> impl Service<http::Request<hyper::body::Incoming>, Response = Response, Error = S::Error, Future = S::Future> + Clone
where
    S: Service<Request, Response = Response> + Clone,
{
    MapRequestLayer::new(|request: http::Request<hyper::body::Incoming>| request.map(Body::new)).layer(service)
}
