//! A duration as written in a declaration: "10s", "300ms", "2m".

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A positive duration, written with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl Span {
    /// The form for load generators: whole seconds as `10s`, otherwise `300ms`.
    pub fn as_flag(self) -> String {
        let millis = self.0.as_millis();
        if millis.is_multiple_of(1000) {
            format!("{}s", millis / 1000)
        } else {
            format!("{millis}ms")
        }
    }
}

/// A length of time in whole nanoseconds, as records keep it.
pub fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match humantime::parse_duration(text) {
            Ok(length) if length >= Duration::from_millis(1) => Ok(Self(length)),
            _ => Err(format!(
                "expected a duration such as \"10s\" or \"300ms\", found \"{text}\""
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = Span;
            fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
                out.write_str("a duration such as \"10s\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
                text.parse().map_err(E::custom)
            }
        }
        from.deserialize_any(Text)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.as_flag())
    }
}

#[cfg(test)]
mod tests {
    use super::Span;
    use std::time::Duration;

    #[test]
    fn writes_whole_seconds_and_milliseconds() {
        assert_eq!(Span(Duration::from_secs(10)).as_flag(), "10s");
        assert_eq!(Span(Duration::from_millis(300)).as_flag(), "300ms");
        assert_eq!(Span(Duration::from_millis(1500)).as_flag(), "1500ms");
    }
}
