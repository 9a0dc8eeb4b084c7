//! What a `wirebench.toml` is written with: texts and lists of TOML, scenarios, and the last lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(super) const FOOT: &str = "
# What change is ignored, and what gates. Server CPU per request gates, and so do counts; the rest informs.
# [[margins]]
# series = \"*@*@*\"
# metric = \"server_cpu\"
# margin = \"2%\"
";

/// A scenario for each operation, with the only load generator that fits it, if there is one.
pub(super) fn scenarios(out: &mut String, operations: &BTreeMap<String, Option<&str>>) {
    for (operation, driver) in operations {
        let about = format!("5 seconds of {operation} over 10 connections, one request at a time on each");
        let _ = write!(
            out,
            "\n[scenarios.{operation}]\nabout     = {}\noperation = {}\nload      = {{ connections = 10, duration = \"5s\" }}\n",
            text(&about),
            text(operation)
        );
        if let Some(driver) = driver {
            let _ = writeln!(out, "drivers   = {}", list(&[(*driver).to_owned()]));
        }
    }
}

/// A text as TOML writes it, on one line; in single quotes where that saves escapes, as in JSON.
pub(super) fn text(text: &str) -> String {
    if text.contains('"') && !text.contains('\'') && !text.contains(char::is_control) {
        return format!("'{text}'");
    }
    // JSON's escapes are TOML's, which escapes one more control character.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

/// A list of texts as TOML writes it, on one line.
pub(super) fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|one| text(one)).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_read_back_as_it_was(given in any::<String>()) {
            let table: toml::Table = format!("a = {}\n", text(&given)).parse().unwrap();
            prop_assert_eq!(table["a"].as_str(), Some(given.as_str()));
        }
    }
}
