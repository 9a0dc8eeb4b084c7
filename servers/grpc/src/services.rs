//! All services behind tonic's router: weather, health and reflection.

use contract::weather_v1::weather_service_server::WeatherServiceServer;
use tonic::service::Routes;
use tonic_reflection::server::{Builder, Error};

use crate::weather::BuiltInWeather;

/// The weather, health (everything is serving) and reflection in both its versions.
///
/// # Errors
/// When the contract's description cannot be read, which would be a mistake in the build.
pub async fn routes() -> Result<Routes, Error> {
    let (health_reporter, health) = tonic_health::server::health_reporter();
    health_reporter
        .set_serving::<WeatherServiceServer<BuiltInWeather>>()
        .await;
    let mut services = Routes::builder();
    services
        .add_service(WeatherServiceServer::new(BuiltInWeather))
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
