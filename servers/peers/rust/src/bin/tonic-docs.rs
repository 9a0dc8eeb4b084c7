//! tonic as its documentation shows it: generated code as it comes, tokio's default runtime.

use peers::weather::weather_service_server::{WeatherService, WeatherServiceServer};
use peers::weather::{GetCurrentWeatherRequest, GetCurrentWeatherResponse};
use tonic::transport::Server;
use tonic::{Request, Response, Status};

struct Weather;

#[tonic::async_trait]
impl WeatherService for Weather {
    async fn get_current_weather(
        &self,
        request: Request<GetCurrentWeatherRequest>,
    ) -> Result<Response<GetCurrentWeatherResponse>, Status> {
        let weather = domain::current_weather(&request.get_ref().city)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        Ok(Response::new(GetCurrentWeatherResponse {
            city: weather.city.to_owned(),
            temperature_c: weather.temperature_c,
            humidity: weather.humidity,
            condition: weather.condition.to_owned(),
        }))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = WeatherServiceServer::new(Weather);
    Server::builder().add_service(service).serve(peers::address()?).await?;
    Ok(())
}
