//! Converts the weather to the contract's message.

use domain::Weather;

use crate::weather_v1::GetCurrentWeatherResponse;

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

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::GetCurrentWeatherResponse;

    #[test]
    fn every_city_is_a_message_of_27_bytes_give_or_take_4() {
        for weather in &domain::CITIES {
            let length = GetCurrentWeatherResponse::from(weather).encoded_len();
            assert!((23..=31).contains(&length), "{length} bytes: {weather:?}");
        }
    }
}
