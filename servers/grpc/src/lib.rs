//! The weather over gRPC: `WeatherService`, the standard health service, and server reflection.

pub mod contract;
mod weather;

use std::io;

use server_runtime::Stop;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::service::Routes;
use tonic::transport::Server;

use contract::weather_service_server::WeatherServiceServer;
use weather::BuiltInWeather;

/// All services, as in-process tests use them.
///
/// # Errors
/// When the contract's description cannot be read, which would be a mistake in the build.
pub async fn routes() -> Result<Routes, tonic_reflection::server::Error> {
    let (health_reporter, health) = tonic_health::server::health_reporter();
    health_reporter
        .set_serving::<WeatherServiceServer<BuiltInWeather>>()
        .await;
    let mut routes = Routes::builder();
    routes
        .add_service(WeatherServiceServer::new(BuiltInWeather))
        .add_service(health)
        .add_service(described().build_v1()?)
        // Most command-line clients still ask the older version first.
        .add_service(described().build_v1alpha()?);
    Ok(routes.routes())
}

fn described() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(contract::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}

/// Answers the connections of `listener` until a stop is requested.
///
/// # Errors
/// Those of the transport.
pub async fn serve(listener: TcpListener, stop: Stop) -> io::Result<()> {
    let routes = routes().await.map_err(io::Error::other)?;
    Server::builder()
        .add_routes(routes)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), stop.requested())
        .await
        .map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use tonic::service::Routes;
    use tonic::{Code, Status};

    use super::contract::weather_service_client::WeatherServiceClient;
    use super::contract::{GetCurrentWeatherRequest, GetCurrentWeatherResponse};

    /// Asks the routes in process.
    async fn ask(city: &str) -> Result<GetCurrentWeatherResponse, Status> {
        let routes: Routes = super::routes().await.unwrap().prepare();
        let request = GetCurrentWeatherRequest {
            city: city.to_owned(),
        };
        let answer = WeatherServiceClient::new(routes)
            .get_current_weather(request)
            .await?;
        Ok(answer.into_inner())
    }

    #[tokio::test]
    async fn a_known_city_is_answered() {
        let expected = GetCurrentWeatherResponse {
            city: "Kyiv".to_owned(),
            temperature_c: 21.5,
            humidity: 60,
            condition: "Cloudy".to_owned(),
        };
        assert_eq!(ask("kyiv").await.unwrap(), expected);
    }

    #[tokio::test]
    async fn an_unknown_city_is_not_found() {
        let status = ask("Atlantis").await.unwrap_err();
        assert_eq!(status.code(), Code::NotFound);
        let text = status.message();
        assert!(
            text.contains(r#"no weather for "Atlantis": known cities are Kyiv"#),
            "{text}"
        );
    }

    #[tokio::test]
    async fn a_missing_or_blank_city_is_an_invalid_argument() {
        for city in ["", " "] {
            let status = ask(city).await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument);
            assert!(
                status.message().contains(r#"{"city":"Kyiv"}"#),
                "{}",
                status.message()
            );
        }
    }
}
