//! A file of prices of cores, memory and traffic, for `lab claims --cost`.

use std::path::Path;

use serde::Deserialize;

use wirebench_declare::read::{DeclareError, toml_file};

/// The contents of a price file. Money is in its currency.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Where the prices come from, and of what date they are.
    pub about: String,
    /// The currency's name or sign, as it is to be shown.
    pub currency: String,
    /// Requests answered in a day.
    pub requests_per_day: f64,
    /// One core for an hour.
    pub cpu_core_hour: f64,
    /// 2^30 bytes of memory for an hour.
    pub memory_gib_hour: f64,
    /// 10^9 bytes sent.
    pub network_gb: f64,
}

impl Prices {
    /// Reads a price file.
    ///
    /// # Errors
    /// When it cannot be read, a key is unknown or missing, or a number is negative or not finite.
    pub fn read(file: &Path) -> Result<Self, DeclareError> {
        let prices: Self = toml_file(file)?;
        let numbers = [
            ("requests_per_day", prices.requests_per_day),
            ("cpu_core_hour", prices.cpu_core_hour),
            ("memory_gib_hour", prices.memory_gib_hour),
            ("network_gb", prices.network_gb),
        ];
        for (key, number) in numbers {
            if !(number.is_finite() && number >= 0.0) {
                let message = format!("expected a number from 0 up, found {number}");
                return Err(DeclareError::key(file, key, message));
            }
        }
        Ok(prices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_a_price_file_and_a_negative_price_is_refused() {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prices.toml");
        let text = std::fs::read_to_string(&example).unwrap();
        assert!(Prices::read(&example).unwrap().requests_per_day > 0.0);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("prices.toml");
        std::fs::write(&file, text.replace("= 0.04 ", "= -0.04 ")).unwrap();
        let said = Prices::read(&file).unwrap_err().to_string();
        assert!(
            said.ends_with("prices.toml: cpu_core_hour: expected a number from 0 up, found -0.04"),
            "{said}"
        );
        std::fs::write(&file, text.replace("network_gb ", "network_tb ")).unwrap();
        assert!(Prices::read(&file).unwrap_err().to_string().contains("network_tb"));
    }
}
