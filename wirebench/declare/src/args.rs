//! Command-line arguments with `{placeholders}` and optional groups, as drivers and servers declare them.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize};

/// One argument, or a group that is left out when one of its placeholders has no value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected an argument as text, or a list of arguments that belong together"
)]
pub enum Arg {
    /// One argument; every placeholder in it must have a value.
    One(String),
    /// Arguments that appear together, once for each value of a list, or not at all.
    Group(Vec<String>),
}

/// The value of a placeholder.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// One text.
    One(String),
    /// Several texts: a group that names it is repeated for each.
    Many(Vec<String>),
}

/// The values of placeholders by name.
pub type Values = BTreeMap<&'static str, Value>;

/// Double braces belong to another language (Go templates) and are kept.
static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{.*?\}\}|\{([a-z_]+)\}").expect("a constant pattern"));

pub(crate) fn names(text: &str) -> impl Iterator<Item = String> + '_ {
    PLACEHOLDER
        .captures_iter(text)
        .filter_map(|found| Some(found.get(1)?.as_str().to_owned()))
}

impl Arg {
    /// The single argument; `None` for a group.
    pub fn one(&self) -> Option<&str> {
        match self {
            Self::One(text) => Some(text),
            Self::Group(_) => None,
        }
    }

    /// The placeholders it names.
    pub fn placeholders(&self) -> Vec<String> {
        match self {
            Self::One(text) => names(text).collect(),
            Self::Group(texts) => texts.iter().flat_map(|text| names(text)).collect(),
        }
    }
}

/// Arguments of which none belongs to a group.
pub(crate) fn plain(words: Vec<String>) -> Vec<Arg> {
    words.into_iter().map(Arg::One).collect()
}

/// Reads a list of arguments without groups.
pub(crate) fn plain_args<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Arg>, D::Error> {
    Vec::deserialize(from).map(plain)
}

/// The first placeholder that arguments name and that is not known.
pub(crate) fn unknown_placeholder(args: &[Arg], known: impl Fn(&str) -> bool) -> Option<String> {
    args.iter().flat_map(Arg::placeholders).find(|word| !known(word))
}

/// Fills in every placeholder.
///
/// # Errors
/// When an argument outside a group names a placeholder without a single value, in words.
pub fn expand<K: Borrow<str> + Ord>(args: &[Arg], values: &BTreeMap<K, Value>) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    for arg in args {
        let named = arg.placeholders();
        let missing = named.iter().find(|name| !values.contains_key(name.as_str()));
        let list = named.iter().find_map(|name| match values.get(name.as_str()) {
            Some(Value::Many(texts)) => Some((name, texts.len())),
            _ => None,
        });
        match arg {
            Arg::One(text) => match missing.or(list.map(|(name, _)| name)) {
                None => out.push(fill(text, values, 0)),
                Some(name) => {
                    return Err(format!(
                        "argument \"{text}\" needs {{{name}}}, which has no value for this load; put it in a list of its own to make it optional"
                    ));
                }
            },
            Arg::Group(_) if missing.is_some() => {}
            Arg::Group(texts) => {
                for turn in 0..list.map_or(1, |(_, times)| times) {
                    out.extend(texts.iter().map(|text| fill(text, values, turn)));
                }
            }
        }
    }
    Ok(out)
}

/// Fills in the placeholders of one text that have a value; of a list, the item at this index.
pub fn fill<K: Borrow<str> + Ord>(text: &str, values: &BTreeMap<K, Value>, turn: usize) -> String {
    let replace = |found: &regex::Captures| match found.get(1).and_then(|name| values.get(name.as_str())) {
        Some(Value::One(value)) => value.clone(),
        Some(Value::Many(list)) => list.get(turn).cloned().unwrap_or_default(),
        None => found[0].to_owned(),
    };
    PLACEHOLDER.replace_all(text, replace).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values::from([
            ("requests", Value::One("100".into())),
            ("url", Value::One("http://x/{requests}".into())),
            ("header", Value::Many(vec!["a: 1".into(), "b: 2".into()])),
        ])
    }

    fn group(texts: &[&str]) -> Arg {
        Arg::Group(texts.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn fills_placeholders_and_drops_groups_without_a_value() {
        let args = [
            group(&["-n", "{requests}"]),
            group(&["-z", "{duration}"]),
            Arg::One("{url}".into()),
        ];
        assert_eq!(expand(&args, &values()).unwrap(), ["-n", "100", "http://x/{requests}"]);
    }

    #[test]
    fn repeats_a_group_for_each_value_of_a_list() {
        let args = [group(&["-H", "{header}"])];
        assert_eq!(expand(&args, &values()).unwrap(), ["-H", "a: 1", "-H", "b: 2"]);
    }

    #[test]
    fn leaves_double_braces_alone() {
        let text = "{\"ns\":{{.Total}},{{if x}}{{end}}\"n\":{requests}}";
        let filled = expand(&[Arg::One(text.into())], &values()).unwrap();
        assert_eq!(filled, ["{\"ns\":{{.Total}},{{if x}}{{end}}\"n\":100}"]);
    }

    #[test]
    fn refuses_a_required_placeholder_without_a_value() {
        let missing = expand(&[Arg::One("-z{duration}".into())], &values()).unwrap_err();
        assert!(
            missing.contains("\"-z{duration}\" needs {duration}, which has no value"),
            "{missing}"
        );
    }
}
