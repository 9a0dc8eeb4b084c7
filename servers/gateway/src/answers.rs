//! The weather as it travels between tiers: the shared type borrows from the program, which another tier's answer cannot.

use std::borrow::Cow;

use contract::weather_v1::GetCurrentWeatherResponse;
use domain::Weather;
use serde::{Deserialize, Serialize};

/// The current weather of one city. Serialises to the same bytes as [`Weather`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CityWeather {
    city: Cow<'static, str>,
    temperature_c: f64,
    humidity: u32,
    condition: Cow<'static, str>,
}

impl From<&'static Weather> for CityWeather {
    fn from(weather: &'static Weather) -> Self {
        Self {
            city: weather.city.into(),
            temperature_c: weather.temperature_c,
            humidity: weather.humidity,
            condition: weather.condition.into(),
        }
    }
}

impl From<GetCurrentWeatherResponse> for CityWeather {
    fn from(answer: GetCurrentWeatherResponse) -> Self {
        Self {
            city: answer.city.into(),
            temperature_c: answer.temperature_c,
            humidity: answer.humidity,
            condition: answer.condition.into(),
        }
    }
}

impl From<CityWeather> for GetCurrentWeatherResponse {
    fn from(weather: CityWeather) -> Self {
        Self {
            city: weather.city.into_owned(),
            temperature_c: weather.temperature_c,
            humidity: weather.humidity,
            condition: weather.condition.into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CityWeather, GetCurrentWeatherResponse};

    #[test]
    fn the_weather_is_the_same_bytes_after_any_number_of_tiers() {
        for weather in &domain::CITIES {
            let json = serde_json::to_string(weather).unwrap();
            let after_http: CityWeather = serde_json::from_str(&json).unwrap();
            let after_grpc = CityWeather::from(GetCurrentWeatherResponse::from(after_http.clone()));
            assert_eq!((&after_http, &after_grpc), (&weather.into(), &weather.into()));
            assert_eq!(serde_json::to_string(&after_grpc).unwrap(), json);
        }
    }
}
