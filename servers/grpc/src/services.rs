//! All services behind one door: the weather directly, health and reflection through tonic's router.

use std::convert::Infallible;
use std::task::{Context, Poll};

use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::codegen::{BoxFuture, Service};
use tonic::service::Routes;
use tonic_reflection::server::{Builder, Error};

use crate::contract;
use crate::contract::weather_service_server::{SERVICE_NAME, WeatherServiceServer};
use crate::weather::BuiltInWeather;

/// All services of the server.
///
/// tonic's router is made for any number of services and costs a tenth of a small call; the one service that is measured
/// does not pass through it.
#[derive(Clone, Debug)]
pub struct Services {
    weather: WeatherServiceServer<BuiltInWeather>,
    others: Routes,
}

impl Services {
    /// The weather, health (everything is serving) and reflection in both its versions.
    ///
    /// # Errors
    /// When the contract's description cannot be read, which would be a mistake in the build.
    pub async fn new() -> Result<Self, Error> {
        let (health_reporter, health) = tonic_health::server::health_reporter();
        health_reporter
            .set_serving::<WeatherServiceServer<BuiltInWeather>>()
            .await;
        let mut others = Routes::builder();
        others
            .add_service(health)
            .add_service(described().build_v1()?)
            // Many command-line clients still ask in the older version.
            .add_service(described().build_v1alpha()?);
        Ok(Self {
            weather: WeatherServiceServer::new(BuiltInWeather),
            others: others.routes().prepare(),
        })
    }
}

fn described() -> Builder<'static> {
    Builder::configure()
        .register_encoded_file_descriptor_set(contract::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}

impl Service<Request<Body>> for Services {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if service_of(request.uri().path()) == Some(SERVICE_NAME) {
            self.weather.call(request)
        } else {
            Box::pin(self.others.call(request))
        }
    }
}

/// The service that a gRPC path, `/package.Service/Method`, asks for.
fn service_of(path: &str) -> Option<&str> {
    let (service, _method) = path.strip_prefix('/')?.split_once('/')?;
    Some(service)
}

#[cfg(test)]
mod tests {
    use super::service_of;

    #[test]
    fn a_path_names_its_service() {
        assert_eq!(service_of("/a.v1.Weather/Get"), Some("a.v1.Weather"));
        for path in ["", "/", "/a.v1.Weather", "a.v1.Weather/Get"] {
            assert_eq!(service_of(path), None);
        }
    }
}
