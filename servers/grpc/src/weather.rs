//! The weather service: the shared data behind the gRPC contract.

use domain::{Weather, WeatherError};
use tonic::{Request, Response, Status};

use crate::contract::weather_service_server::WeatherService;
use crate::contract::{GetCurrentWeatherRequest, GetCurrentWeatherResponse};

/// Answers from the built-in cities.
#[derive(Debug)]
pub(crate) struct BuiltInWeather;

#[tonic::async_trait]
impl WeatherService for BuiltInWeather {
    async fn get_current_weather(
        &self,
        request: Request<GetCurrentWeatherRequest>,
    ) -> Result<Response<GetCurrentWeatherResponse>, Status> {
        let weather = domain::current_weather(&request.get_ref().city).map_err(|error| status(&error))?;
        Ok(Response::new(weather.into()))
    }
}

impl From<&Weather> for GetCurrentWeatherResponse {
    fn from(weather: &Weather) -> Self {
        Self {
            city: weather.city.to_owned(),
            temperature_c: weather.temperature_c,
            humidity: weather.humidity,
            condition: weather.condition.to_owned(),
        }
    }
}

fn status(error: &WeatherError) -> Status {
    let text = error.to_string();
    match error {
        WeatherError::MissingCity => Status::invalid_argument(text),
        WeatherError::UnknownCity { .. } => Status::not_found(text),
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use crate::contract::GetCurrentWeatherResponse;

    #[test]
    fn every_city_is_a_message_of_27_bytes_give_or_take_4() {
        for weather in &domain::CITIES {
            let length = GetCurrentWeatherResponse::from(weather).encoded_len();
            assert!((23..=31).contains(&length), "{length} bytes: {weather:?}");
        }
    }
}
