//! All services behind tonic's router: weather, users, metrics, health and reflection.

use contract::metrics_v1::metrics_service_server::MetricsServiceServer;
use contract::users_v1::users_service_server::UsersServiceServer;
use contract::weather_v1::weather_service_server::WeatherServiceServer;
use tonic::service::Routes;
use tonic_reflection::server::{Builder, Error};

use crate::metrics::BuiltInDocument;
use crate::users::BuiltInUsers;
use crate::weather::BuiltInWeather;

/// Weather, users and metrics, health (everything is serving) and reflection in both its versions.
///
/// # Errors
/// When the contract's description cannot be read, which would be a mistake in the build.
pub async fn routes() -> Result<Routes, Error> {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<WeatherServiceServer<BuiltInWeather>>().await;
    reporter.set_serving::<UsersServiceServer<BuiltInUsers>>().await;
    reporter.set_serving::<MetricsServiceServer<BuiltInDocument>>().await;
    let mut services = Routes::builder();
    services
        .add_service(WeatherServiceServer::new(BuiltInWeather))
        .add_service(UsersServiceServer::new(BuiltInUsers))
        .add_service(MetricsServiceServer::new(BuiltInDocument))
        .add_service(health)
        .add_service(described().build_v1()?)
        // Many command-line clients still ask in the older version.
        .add_service(described().build_v1alpha()?);
    Ok(services.routes().prepare())
}

fn described() -> Builder<'static> {
    Builder::configure()
        .register_encoded_file_descriptor_set(contract::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}
