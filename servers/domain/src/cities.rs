//! The built-in cities and their weather.

/// The current weather of one city.
///
/// Serialises to a JSON object of 64 to 72 bytes whose field names are those of the proto3 JSON form of the gRPC answer.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Weather {
    /// English name of the city.
    pub city: &'static str,
    /// Air temperature in degrees Celsius.
    pub temperature_c: f64,
    /// Relative humidity in percent, 0 to 100.
    pub humidity: u32,
    /// The look of the sky in one word.
    pub condition: &'static str,
}

/// Every city the servers know, with its weather. Names and conditions are chosen so that all answers are of nearly one size.
pub const CITIES: [Weather; 12] = [
    weather("Kyiv", 21.5, 60, "Cloudy"),
    weather("Lviv", 19.5, 72, "Rainy"),
    weather("Odesa", 24.5, 58, "Sunny"),
    weather("London", 16.5, 78, "Rainy"),
    weather("Paris", 20.5, 64, "Cloudy"),
    weather("Berlin", 18.5, 66, "Windy"),
    weather("Oslo", 12.5, 70, "Cloudy"),
    weather("Cairo", 33.5, 25, "Sunny"),
    weather("Nairobi", 23.5, 55, "Clear"),
    weather("Tokyo", 25.5, 69, "Humid"),
    weather("Quito", 14.5, 81, "Foggy"),
    weather("Lima", 17.5, 83, "Cloudy"),
];

const fn weather(city: &'static str, temperature_c: f64, humidity: u32, condition: &'static str) -> Weather {
    Weather {
        city,
        temperature_c,
        humidity,
        condition,
    }
}

#[cfg(test)]
mod tests {
    use super::CITIES;

    #[test]
    fn no_city_is_listed_twice() {
        for (index, weather) in CITIES.iter().enumerate() {
            let again = CITIES[index + 1..]
                .iter()
                .find(|other| other.city.eq_ignore_ascii_case(weather.city));
            assert_eq!(again, None);
        }
    }

    #[test]
    fn humidity_is_a_percentage() {
        assert!(CITIES.iter().all(|weather| weather.humidity <= 100));
    }
}
