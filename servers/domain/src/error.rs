//! Why a question about the weather has no answer, in words that say how to ask.

use crate::cities::CITIES;

/// How much of an unknown name is repeated in the error: enough to recognise a typing mistake, and short enough that the
/// message always fits a gRPC trailer.
const LONGEST_ECHO_CHARS: usize = 40;

/// Why a question about the weather has no answer. The text is meant for the person who asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeatherError {
    /// The question names no city.
    #[error("no city given: name one, such as Kyiv (in HTTP ?city=Kyiv, in gRPC {{\"city\":\"Kyiv\"}})")]
    MissingCity,
    /// The question names a city that is not built in.
    #[error("no weather for {city:?}: known cities are {}", known_cities())]
    UnknownCity {
        /// The name asked for, cut off when it is long.
        city: String,
    },
}

impl WeatherError {
    pub(crate) fn unknown_city(wanted: &str) -> Self {
        let mut city: String = wanted.chars().take(LONGEST_ECHO_CHARS).collect();
        if city.len() < wanted.len() {
            city.push('…');
        }
        Self::UnknownCity { city }
    }
}

fn known_cities() -> String {
    CITIES.map(|weather| weather.city).join(", ")
}

#[cfg(test)]
mod tests {
    use super::WeatherError;

    #[test]
    fn a_missing_city_says_how_to_ask() {
        let text = WeatherError::MissingCity.to_string();
        assert_eq!(
            text,
            r#"no city given: name one, such as Kyiv (in HTTP ?city=Kyiv, in gRPC {"city":"Kyiv"})"#
        );
    }

    #[test]
    fn an_unknown_city_lists_the_known_ones() {
        let text = WeatherError::unknown_city("Atlantis").to_string();
        assert!(
            text.starts_with(r#"no weather for "Atlantis": known cities are Kyiv, Lviv,"#),
            "{text}"
        );
    }

    #[test]
    fn a_very_long_name_is_cut_off() {
        let text = WeatherError::unknown_city(&"ї".repeat(10_000)).to_string();
        assert!(text.contains("їїї…"), "{text}");
        assert!(text.len() < 400, "{} bytes", text.len());
    }
}
