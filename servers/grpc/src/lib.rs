//! The weather over gRPC: `WeatherService`, the standard health service, and server reflection.

mod services;
mod weather;

use std::io;

use server_runtime::{Stop, Waste};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;

pub use services::routes;

/// Answers the connections of `listener` until a stop is requested; spends `waste` in every request when there is some.
///
/// # Errors
/// Those of the transport.
pub async fn serve(listener: TcpListener, stop: Stop, waste: Option<Waste>) -> io::Result<()> {
    let services = routes().await.map_err(io::Error::other)?;
    let connections = TcpListenerStream::new(listener);
    let served = match waste {
        None => {
            let server = Server::builder().add_routes(services);
            server.serve_with_incoming_shutdown(connections, stop.requested()).await
        }
        Some(waste) => {
            let server = Server::builder().layer(waste.layer()).add_routes(services);
            server.serve_with_incoming_shutdown(connections, stop.requested()).await
        }
    };
    served.map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use tonic::{Code, Status};

    use contract::weather_v1::weather_service_client::WeatherServiceClient;
    use contract::weather_v1::{GetCurrentWeatherRequest, GetCurrentWeatherResponse};

    /// Asks the services in process.
    async fn ask(city: &str) -> Result<GetCurrentWeatherResponse, Status> {
        let services = super::routes().await.unwrap();
        let request = GetCurrentWeatherRequest { city: city.to_owned() };
        let answer = WeatherServiceClient::new(services).get_current_weather(request).await?;
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
            assert!(status.message().contains(r#"{"city":"Kyiv"}"#), "{}", status.message());
        }
    }
}
