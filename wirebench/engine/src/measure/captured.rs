//! Values that seeds captured from responses, for later requests.

use std::collections::BTreeMap;

/// Captured values by name: `{token}` in later requests.
pub type Captured = BTreeMap<String, String>;

/// Replaces `{name}` by the captured value of that name; other braces stay as they are.
pub fn fill(text: &str, captured: &Captured) -> String {
    let mut filled = text.to_owned();
    for (name, value) in captured {
        filled = filled.replace(&format!("{{{name}}}"), value);
    }
    filled
}
