//! The current weather of a city.

use crate::cities::{CITIES, Weather};
use crate::error::WeatherError;

/// Looks up the current weather of `city`, whose case and surrounding blanks do not matter.
///
/// # Errors
/// [`WeatherError::MissingCity`] when the name is blank, [`WeatherError::UnknownCity`] when it is none of [`CITIES`].
pub fn current_weather(city: &str) -> Result<&'static Weather, WeatherError> {
    let wanted = city.trim();
    if wanted.is_empty() {
        return Err(WeatherError::MissingCity);
    }
    CITIES
        .iter()
        .find(|weather| weather.city.eq_ignore_ascii_case(wanted))
        .ok_or_else(|| WeatherError::unknown_city(wanted))
}

#[cfg(test)]
mod tests {
    use super::current_weather;
    use crate::{CITIES, WeatherError};

    #[test]
    fn kyiv_is_answered_in_the_same_words_every_time() {
        let json = serde_json::to_string(current_weather("Kyiv").unwrap()).unwrap();
        assert_eq!(
            json,
            r#"{"city":"Kyiv","temperatureC":21.5,"humidity":60,"condition":"Cloudy"}"#
        );
    }

    #[test]
    fn every_city_serialises_to_68_bytes_give_or_take_4() {
        for weather in &CITIES {
            let json = serde_json::to_string(weather).unwrap();
            assert!((64..=72).contains(&json.len()), "{} bytes: {json}", json.len());
        }
    }

    #[test]
    fn every_city_is_found_by_its_name_in_any_case() {
        for weather in &CITIES {
            assert_eq!(current_weather(weather.city), Ok(weather));
            assert_eq!(current_weather(&weather.city.to_uppercase()), Ok(weather));
            assert_eq!(current_weather(&format!(" {}\n", weather.city)), Ok(weather));
        }
    }

    #[test]
    fn a_blank_name_is_a_missing_city() {
        for blank in ["", "  ", "\t\n"] {
            assert_eq!(current_weather(blank), Err(WeatherError::MissingCity));
        }
    }

    #[test]
    fn another_name_is_an_unknown_city() {
        let error = current_weather("Atlantis").unwrap_err();
        assert_eq!(
            error,
            WeatherError::UnknownCity {
                city: "Atlantis".to_owned()
            }
        );
    }
}
