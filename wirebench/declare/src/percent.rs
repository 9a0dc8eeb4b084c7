//! A share as written in a declaration: "5%", "0.5%".

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A percentage from 0 up to, but not including, 1000.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Percent(f64);

impl Percent {
    /// A constant of this program; declared ones are parsed.
    pub(crate) const fn of(percent: f64) -> Self {
        Self(percent)
    }

    /// In percent: 5 for "5%".
    pub const fn percent(self) -> f64 {
        self.0
    }

    /// As a share: 0.05 for "5%".
    pub const fn share(self) -> f64 {
        self.0 / 100.0
    }
}

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').map(|number| number.trim().parse::<f64>());
        match number.and_then(Result::ok) {
            Some(percent) if (0.0..1000.0).contains(&percent) => Ok(Self(percent)),
            _ => Err(format!("expected a percentage such as \"5%\", found \"{text}\"")),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}%", self.0)
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Percent;

    #[test]
    fn percentages_are_read_as_written() {
        let found: Vec<f64> = ["5%", "0.5%", "0 %", "120%"]
            .iter()
            .map(|text| text.parse::<Percent>().unwrap().percent())
            .collect();
        assert_eq!(found, [5.0, 0.5, 0.0, 120.0]);
    }

    #[test]
    fn anything_else_is_refused_with_an_example() {
        for text in ["5", "%", "-1%", "nan%", "inf%", "1000%", "five%", ""] {
            let error = text.parse::<Percent>().unwrap_err();
            assert!(error.contains("such as \"5%\""), "{text}: {error}");
        }
    }
}
