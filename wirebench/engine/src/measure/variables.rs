//! `{env:NAME}` and `{env:NAME:default}` in headers and bodies: values from the environment, such as a token, that are
//! in no declaration and no record.

use std::sync::LazyLock;

use regex::{Captures, Regex};

static VARIABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{env:([A-Za-z_][A-Za-z0-9_]*)(?::([^{}]*))?\}").expect("a constant pattern"));

/// Replaces variables in a text. Variables of the surrounding workflow, such as GITHUB_TOKEN, have no value here: the
/// measured code may be untrusted.
///
/// # Errors
/// The name of a variable that is not set and has no default.
pub fn fill(text: &str) -> Result<String, String> {
    let mut missing = None;
    let filled = VARIABLE.replace_all(text, |found: &Captures| {
        let default = found.get(2).map(|default| default.as_str().to_owned());
        wirebench_spawn::variable(&found[1]).or(default).unwrap_or_else(|| {
            missing = Some(found[1].to_owned());
            String::new()
        })
    });
    let filled = filled.into_owned();
    missing.map_or(Ok(filled), Err)
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn a_variable_a_default_and_a_missing_one() {
        let path = std::env::var("PATH").unwrap();
        assert_eq!(fill("x: {env:PATH}"), Ok(format!("x: {path}")));
        assert_eq!(fill("a: {env:WIREBENCH_UNSET:b c}!"), Ok("a: b c!".into()));
        assert_eq!(fill("a: {env:WIREBENCH_UNSET:}"), Ok("a: ".into()));
        assert_eq!(fill("a: {env:WIREBENCH_UNSET}"), Err("WIREBENCH_UNSET".into()));
        assert_eq!(fill("{\"a\":{\"b\":1}}"), Ok("{\"a\":{\"b\":1}}".into()));
    }

    #[test]
    fn what_belongs_to_the_workflow_is_not_given_away() {
        assert_eq!(fill("{env:GITHUB_TOKEN:none}"), Ok("none".into()));
        assert_eq!(fill("{env:ACTIONS_RUNTIME_TOKEN}"), Err("ACTIONS_RUNTIME_TOKEN".into()));
    }
}
