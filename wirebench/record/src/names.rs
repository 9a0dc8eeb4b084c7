//! The grammar of names in records. Names become parts of paths, command lines and pages, so each is checked when a
//! record is read: the fields' `deserialize_with` does it, for every command.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

fn is(text: &str, most: usize, allowed: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.len() <= most && !text.starts_with('-') && text.chars().all(allowed)
}

/// The grammar of run ids.
pub fn is_run(text: &str) -> bool {
    is(text, 64, |c| c.is_ascii_alphanumeric() || c == '-')
}

/// The grammar of names of scenarios, servers and drivers: lower-case letters, digits, and hyphens that are not first.
/// Older versions allowed longer names than can be declared now.
pub fn is_declared(text: &str) -> bool {
    is(text, 200, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The same as it may be declared now: at most 100 characters.
pub fn is_declarable(text: &str) -> bool {
    text.len() <= 100 && is_declared(text)
}

/// `scenario@server@driver`.
pub fn is_series(id: &str) -> bool {
    id.split('@').count() == 3 && id.split('@').all(is_declared)
}

/// A path below the folder that a record lies in, or below the repository: relative, and leading nowhere else.
pub fn is_path(text: &str) -> bool {
    let part = |part: &str| !part.is_empty() && part != "." && part != "..";
    is(text, 500, |c| c.is_ascii_alphanumeric() || "._-/+@".contains(c)) && text.split('/').all(part)
}

/// The grammar of file names.
pub fn is_file(text: &str) -> bool {
    is_path(text) && !text.contains('/') && !text.starts_with('.')
}

/// The grammar of profile names: visible characters on one line, not beginning with `-`.
pub fn is_profile(text: &str) -> bool {
    is(text, 100, |c| c.is_alphanumeric() || " ._-+".contains(c))
}

/// `owner/name` of a repository on GitHub: each part of letters, digits and `.`, `_`, `-`, and not of full stops alone.
pub fn is_repository(text: &str) -> bool {
    let is_part = |part: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        (1..=100).contains(&part.len()) && part.chars().all(allowed) && part.contains(|c| c != '.')
    };
    text.split('/').count() == 2 && text.split('/').all(is_part)
}

/// Hex digits of a commit, all of them or the first ones.
pub fn is_commit(text: &str) -> bool {
    is(text, 64, |c| c.is_ascii_hexdigit())
}

/// All 40 hex digits of a commit.
pub fn is_full_commit(text: &str) -> bool {
    text.len() == 40 && is_commit(text)
}

/// `yyyy-mm`, or empty for runs that are in no history.
pub fn is_month(text: &str) -> bool {
    text.is_empty() || (text.len() == 7 && is_time(text) && text.as_bytes()[4] == b'-')
}

/// The characters of a time in RFC 3339, or empty for a simulated run.
pub fn is_time(text: &str) -> bool {
    let begins_with_digit = text.starts_with(|c: char| c.is_ascii_digit());
    text.is_empty() || (begins_with_digit && is(text, 40, |c| c.is_ascii_digit() || "TtZz:.+-".contains(c)))
}

fn wrong<E: serde::de::Error>(text: &str, expected: &str) -> E {
    E::custom(format!("{text:?} is no {expected}"))
}

fn one<'de, D: Deserializer<'de>>(from: D, fits: fn(&str) -> bool, expected: &str) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if fits(&text) {
        Ok(text)
    } else {
        Err(wrong(&text, expected))
    }
}

/// Every text of a list, or the one that there may be.
fn each<'de, T, D>(from: D, fits: fn(&str) -> bool, expected: &str) -> Result<T, D::Error>
where
    T: Deserialize<'de>,
    for<'a> &'a T: IntoIterator<Item = &'a String>,
    D: Deserializer<'de>,
{
    let all = T::deserialize(from)?;
    let unfit = (&all).into_iter().find(|text| !fits(text));
    match unfit.map(|text| wrong(text, expected)) {
        None => Ok(all),
        Some(error) => Err(error),
    }
}

/// Functions for `deserialize_with` of the records' fields.
macro_rules! fields {
    ($($name:ident: $type:ty = $read:ident($fits:ident, $expected:literal);)*) => {$(
        pub(super) fn $name<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
            $read(from, $fits, $expected)
        }
    )*};
}

fields! {
    run: String = one(is_run, "name of a run: letters, digits and hyphens");
    declared: String = one(is_declared, "name: lower-case letters, digits, and hyphens that are not first");
    series: String = one(is_series, "series: scenario@server@driver, of lower-case letters, digits and hyphens");
    all_series: Vec<String> = each(is_series, "series: scenario@server@driver, of lower-case letters, digits and hyphens");
    path_or_null: Option<String> = each(is_path, "path below the record's folder");
    file: String = one(is_file, "name of a file");
    profile: String = one(is_profile, "name of a profile");
    commit: String = one(is_commit, "commit: hex digits");
    commit_or_null: Option<String> = each(is_commit, "commit: hex digits");
    month: String = one(is_month, "month: yyyy-mm");
    time: String = one(is_time, "time: RFC 3339");
}

/// A map whose values are paths.
pub(super) fn paths<'de, K: Ord + Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<K, String>, D::Error> {
    let all = BTreeMap::<K, String>::deserialize(from)?;
    match all.values().find(|text| !is_path(text)) {
        None => Ok(all),
        Some(text) => Err(wrong(text, "path below the record's folder")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_oneof, proptest};
    use proptest::strategy::Strategy;
    use serde_json::{Value, json};

    use super::*;
    use crate::comparison::Comparison;
    use crate::run::Run;

    const RUN: &str = include_str!("../../../results/reference/run.json");
    const GOLDEN: &str = include_str!("../../cli/tests/golden/comparison/regressed.json");

    #[test]
    fn names_of_repositories_lead_nowhere_else() {
        assert!(is_repository("octo-org/.github"));
        for bad in ["", "..", "a", "a/", "/b", "../b", "a/..", "a/b/c", "a/b%2fc", "a/b c"] {
            assert!(!is_repository(bad), "{bad}");
        }
    }

    fn nasty() -> [&'static str; 12] {
        [
            "",
            "..",
            "../x",
            "/etc/x",
            "a/b",
            "-x",
            "--help",
            "a b@c@d",
            "a\n::error::x",
            "\u{1b}[2J",
            "a\u{202e}b",
            "a\\b",
        ]
    }

    /// Every field of a run's and a comparison's record that becomes a path or a part of a command line.
    #[test]
    fn no_record_with_a_name_that_leads_elsewhere_is_read() {
        let run: Value = serde_json::from_str(RUN).unwrap();
        let read = |value: &Value| serde_json::from_value::<Run>(value.clone()).map(drop);
        assert!(read(&run).is_ok());
        for place in [
            "/id",
            "/series/0/id",
            "/series/0/scenario",
            "/series/0/server",
            "/series/0/driver",
            "/profile",
        ] {
            for text in nasty()
                .into_iter()
                .filter(|text| place != "/profile" || !text.starts_with('.'))
            {
                let mut value = run.clone();
                *value.pointer_mut(place).unwrap() = text.into();
                assert!(read(&value).is_err(), "{place}: {text:?}");
            }
        }
        let golden = serde_json::from_str::<Comparison>(GOLDEN).unwrap();
        let golden = serde_json::to_value(golden).unwrap();
        let read = |value: &Value| serde_json::from_value::<Comparison>(value.clone()).map(drop);
        assert!(read(&golden).is_ok());
        for place in [
            "/baseline/run",
            "/candidate/run",
            "/series/0/id",
            "/series/0/scenario",
            "/baseline/revision/commit",
            "/series/0/metrics/0/flame_graph",
        ] {
            for text in nasty()
                .into_iter()
                .filter(|text| !place.ends_with("graph") || *text != "a/b")
            {
                let mut value = golden.clone();
                *value.pointer_mut(place).unwrap() = text.into();
                assert!(read(&value).is_err(), "{place}: {text:?}");
            }
        }
    }

    #[test]
    fn a_shard_a_stage_and_call_stacks_lead_nowhere_else_either() {
        let mut value: Value = serde_json::from_str(RUN).unwrap();
        value["stages"] = json!([{ "number": 1, "rounds": 1, "series": ["a@b@../c"], "why": "" }]);
        assert!(
            serde_json::from_value::<Run>(value)
                .unwrap_err()
                .to_string()
                .contains("a@b@../c")
        );
        let counts = |path: &str| {
            json!({ "variant": "candidate", "status": "ok", "reason": null, "remarks": [], "figures": [], "syscalls": {},
                "functions": [], "stacks": { "instructions": path } })
        };
        let read = |path: &str| serde_json::from_value::<crate::counts::Counts>(counts(path)).is_ok();
        assert!(
            read("stacks/a@b@c/candidate.instructions.folded") && !read("../../etc/passwd") && !read("/etc/passwd")
        );
    }

    proptest! {
        #[test]
        fn a_name_is_one_visible_part_of_a_path_and_no_flag(text in prop_oneof![any::<String>(), "[-a-z0-9@./ ]{0,12}".prop_map(String::from)]) {
            for fits in [is_run, is_declared, is_series, is_file, is_commit, is_month, is_time] {
                if fits(&text) {
                    prop_assert!(text.is_ascii() && !text.starts_with('-') && !text.contains(['/', '\\', ' ', '\n']) && text != "..");
                }
            }
            if is_path(&text) {
                prop_assert!(!text.starts_with('/') && text.split('/').all(|part| part != ".." && !part.is_empty()));
            }
        }
    }
}
