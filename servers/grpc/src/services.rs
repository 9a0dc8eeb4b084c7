//! All services: weather, users, metrics, health and reflection.

use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use contract::metrics_v1::metrics_service_server::{self, MetricsServiceServer};
use contract::reflection;
use contract::users_v1::users_service_server::{self, UsersServiceServer};
use contract::weather_v1::weather_service_server::{self, WeatherServiceServer};
use http::{Request, Response};
use tonic::body::Body;
use tonic::codec::CompressionEncoding;
use tonic::service::Routes;
use tower::Service;

use crate::metrics::BuiltInDocument;
use crate::users::BuiltInUsers;
use crate::weather::BuiltInWeather;

/// Everything the server answers. The services of the contract are found by their names at the beginning of a path; a router
/// in front of them would cost every call four allocations for parts of the path that nobody reads.
///
/// hyper clones its service for every call, so all of them are behind one counter.
#[derive(Clone, Debug)]
pub struct Services(Arc<All>);

#[derive(Debug)]
struct All {
    weather: WeatherServiceServer<BuiltInWeather>,
    users: UsersServiceServer<BuiltInUsers>,
    metrics: MetricsServiceServer<BuiltInDocument>,
    /// Health and reflection, behind tonic's router.
    others: Routes,
}

impl<B> Service<Request<B>> for Services
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    #[inline]
    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    #[inline]
    fn call(&mut self, request: Request<B>) -> Self::Future {
        let path = request.uri().path();
        match path.split('/').nth(1).unwrap_or_default() {
            weather_service_server::SERVICE_NAME => self.0.weather.clone().call(request),
            users_service_server::SERVICE_NAME => self.0.users.clone().call(request),
            metrics_service_server::SERVICE_NAME => self.0.metrics.clone().call(request),
            _ => Box::pin(self.0.others.clone().call(request)),
        }
    }
}

/// Weather, users and metrics, health (everything is serving) and reflection in both its versions. Messages of the first three
/// are compressed with `coding` for clients that accept it, and accepted so.
///
/// # Errors
/// When the contract's description cannot be read, which would be a mistake in the build.
pub async fn routes(coding: Option<CompressionEncoding>) -> Result<Services, tonic_reflection::server::Error> {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<WeatherServiceServer<BuiltInWeather>>().await;
    reporter.set_serving::<UsersServiceServer<BuiltInUsers>>().await;
    reporter.set_serving::<MetricsServiceServer<BuiltInDocument>>().await;
    let mut others = Routes::builder();
    others
        .add_service(health)
        .add_service(reflection().build_v1()?)
        // Many command-line clients still ask in the older version.
        .add_service(reflection().build_v1alpha()?);
    let mut weather = WeatherServiceServer::new(BuiltInWeather);
    let mut users = UsersServiceServer::new(BuiltInUsers);
    let mut metrics = MetricsServiceServer::new(BuiltInDocument);
    if let Some(coding) = coding {
        weather = weather.send_compressed(coding).accept_compressed(coding);
        users = users.send_compressed(coding).accept_compressed(coding);
        metrics = metrics.send_compressed(coding).accept_compressed(coding);
    }
    Ok(Services(Arc::new(All {
        weather,
        users,
        metrics,
        others: others.routes().prepare(),
    })))
}
