//! The JSON types that are stored and exchanged. Uses no other crate of the workspace.

pub mod accepted;
pub mod check;
pub mod comparison;
pub mod counts;
pub mod history;
pub mod imported;
pub mod limit;
pub mod metric;
pub mod names;
pub mod reason;
pub mod round;
pub mod run;
pub mod site;
pub mod trend;

/// Whether a field has the value of a record without it, such as a number 0.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_read_back_exactly(number in prop::num::f64::NORMAL) {
            let text = serde_json::to_string(&number).unwrap();
            prop_assert_eq!(serde_json::from_str::<f64>(&text).unwrap().to_bits(), number.to_bits(), "{}", text);
        }
    }
}
