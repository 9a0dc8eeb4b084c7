//! Whether a response repeats what only this machine knows, such as a variable of its environment: that must not get into a
//! file that is committed, and another machine answers otherwise.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Shorter values stand in many texts by chance.
const SHORTEST: usize = 8;

/// Values of the environment.
static VALUES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let values = std::env::vars_os().filter_map(|(_, value)| value.into_string().ok());
    values.filter(|value| value.len() >= SHORTEST).collect()
});
/// The machine's name as a JSON string.
static NAME: LazyLock<Option<String>> = LazyLock::new(|| {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(serde_json::Value::from(name.trim()).to_string())
});

/// True if a text has one of the values, as it is or as a JSON string, or the machine's name as a JSON string.
pub(super) fn tells_of_this_machine(text: &str) -> bool {
    let is_there = |value: &String| {
        let written = serde_json::Value::from(value.as_str()).to_string();
        text.contains(value.as_str()) || text.contains(written.trim_matches('"'))
    };
    VALUES.iter().any(is_there) || NAME.as_ref().is_some_and(|name| text.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_the_environment_and_the_name_are_known_again() {
        let path = std::env::var("PATH").unwrap();
        assert!(tells_of_this_machine(&format!("[\"PATH={path}\"]")));
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert!(tells_of_this_machine(&format!("{{\"host\": \"{}\"}}", name.trim())));
        assert!(!tells_of_this_machine("{\"city\":\"Kyiv\"}"));
    }
}
