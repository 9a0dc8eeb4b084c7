//! The weather service: the shared data behind the gRPC contract.

use contract::weather_refusal;
use contract::weather_v1::weather_service_server::WeatherService;
use contract::weather_v1::{GetCurrentWeatherRequest, GetCurrentWeatherResponse};
use tonic::{Request, Response, Status};

/// Answers from the built-in cities.
#[derive(Debug)]
pub(crate) struct BuiltInWeather;

#[tonic::async_trait]
impl WeatherService for BuiltInWeather {
    async fn get_current_weather(
        &self,
        request: Request<GetCurrentWeatherRequest>,
    ) -> Result<Response<GetCurrentWeatherResponse>, Status> {
        let weather = domain::current_weather(&request.get_ref().city).map_err(|error| weather_refusal(&error))?;
        Ok(Response::new(weather.into()))
    }
}
