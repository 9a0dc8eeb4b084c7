//! Whether a response repeats what only this machine knows, such as a variable of its environment: that must not get into a
//! file that is committed, and another machine answers otherwise.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Shorter values stand in many texts by chance.
const SHORTEST: usize = 8;

/// Values of the environment, as they are and as JSON writes them, and the machine's name as a JSON string.
static TEXTS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let json = |text: &str| serde_json::Value::from(text).to_string();
    let values = std::env::vars_os().filter_map(|(_, value)| value.into_string().ok());
    let values = values.filter(|value| value.len() >= SHORTEST);
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    values
        .flat_map(|value| [json(&value).trim_matches('"').to_owned(), value])
        .chain(name.map(|name| json(name.trim())))
        .collect()
});

/// True if a text has one of them.
pub(super) fn tells_of_this_machine(text: &str) -> bool {
    TEXTS.iter().any(|one| text.contains(one))
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
