//! Strict JSON: limits on nesting, on the length of strings and on the number of values; rejects duplicate keys, NaN
//! and infinities.
//!
//! No text of the input is part of any words.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::Refusal;

/// Lists and objects within each other, at most.
pub const DEPTH: usize = 16;
/// Values altogether, at most; a comparison of five hundred series has about a tenth.
pub const VALUES: usize = 200_000;
/// Bytes of one text, at most.
pub const TEXT: usize = 8 * 1024;

/// Reads one JSON value.
///
/// # Errors
/// When it is no JSON, or passes a bound.
pub fn parse(bytes: &[u8]) -> Result<Value, Refusal> {
    let no_json = |why: &dyn fmt::Display| Refusal::new(format!("the artifact's file is refused: {why}"));
    let text = std::str::from_utf8(bytes).map_err(|_| no_json(&"it is not UTF-8"))?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let left = Cell::new(VALUES);
    let value = Strict { depth: 0, left: &left }.deserialize(&mut reader);
    let value = value.map_err(|error| no_json(&error))?;
    reader.end().map_err(|error| no_json(&error))?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    depth: usize,
    left: &'a Cell<usize>,
}

impl Strict<'_> {
    fn counted<E: Error>(self) -> Result<(), E> {
        let left = self.left.get().checked_sub(1);
        self.left
            .set(left.ok_or_else(|| E::custom(format_args!("more than {VALUES} values")))?);
        Ok(())
    }

    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH {
            return Err(E::custom(format_args!("nested more than {DEPTH} deep")));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }
}

fn short<E: Error>(text: &str) -> Result<(), E> {
    if text.len() > TEXT {
        return Err(E::custom(format_args!("a text of more than {TEXT} bytes")));
    }
    Ok(())
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        self.counted()?;
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number that is not finite"))?;
        Ok(number.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        short(value)?;
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut fields = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            short(&key)?;
            let value = object.next_value_seed(inner)?;
            if fields.insert(key, value).is_some() {
                return Err(A::Error::custom("one key stands twice in an object"));
            }
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
    use proptest::strategy::Strategy;

    use super::*;

    #[test]
    fn what_passes_a_bound_is_refused_without_repeating_it() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        let many = format!("[{}]", "0,".repeat(VALUES) + "0");
        for (text, why) in [
            (nested(10_000), "nested more than 16"),
            (nested(17), "nested more than 16"),
            (many, "more than 200000 values"),
            (format!("\"{}\"", "x".repeat(TEXT + 1)), "more than 8192 bytes"),
            (format!("{{\"{}\": 1}}", "x".repeat(TEXT + 1)), "more than 8192 bytes"),
            ("{\"evil\": 1, \"evil\": 2}".into(), "one key stands twice"),
            ("{\"evil\": 1, \"\\u0065vil\": 2}".into(), "one key stands twice"),
            ("NaN".into(), "expected"),
            ("[1e400]".into(), "number out of range"),
            ("[-1e400]".into(), "number out of range"),
            ("[Infinity]".into(), "expected"),
            ("{} {}".into(), "trailing"),
            ("{\"a\": 1,}".into(), "trailing comma"),
            ("\u{feff}{}".into(), "expected"),
            (String::new(), "EOF"),
        ] {
            let refusal = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(refusal.contains(why), "{refusal}");
            assert!(!refusal.contains("evil") && refusal.len() < 120, "{refusal}");
        }
        assert!(parse(b"\"\xff\"").is_err());
        assert!(parse(nested(16).as_bytes()).is_ok());
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e15_f64..1e15).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 60, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::hash_map(any::<String>(), inner, 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_within_bounds_is_read_as_it_is(value in json()) {
            prop_assert_eq!(parse(value.to_string().as_bytes()).unwrap(), value);
        }

        #[test]
        fn no_change_of_a_byte_makes_it_panic(value in json(), place in any::<usize>(), byte in any::<u8>()) {
            let mut text = value.to_string().into_bytes();
            let place = place % text.len();
            text[place] = byte;
            if let Err(refusal) = parse(&text) {
                prop_assert!(refusal.to_string().len() < 200);
            }
        }
    }
}
