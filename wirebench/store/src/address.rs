//! The address of a history in object storage: `s3://BUCKET/PREFIX`.

use std::fmt;
use std::str::FromStr;

/// What every address begins with.
pub const SCHEME: &str = "s3://";

/// A bucket, and the prefix of the keys of a history's objects in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    bucket: String,
    /// Without slashes at either end; may be empty.
    prefix: String,
}

/// The error of a text that is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}: {why}; expected s3://BUCKET/PREFIX, such as s3://benchmarks/my-project")]
pub struct NotAnAddress {
    text: String,
    why: &'static str,
}

impl Address {
    /// The bucket's name.
    #[must_use]
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The key of a file of the history, given by its path below the history's folder.
    #[must_use]
    pub fn key(&self, path: &str) -> String {
        if self.prefix.is_empty() {
            return path.to_owned();
        }
        format!("{}/{path}", self.prefix)
    }

    /// The path of the file with this key; `None` if the key does not begin with the prefix.
    #[must_use]
    pub fn path<'a>(&self, key: &'a str) -> Option<&'a str> {
        if self.prefix.is_empty() {
            return Some(key);
        }
        key.strip_prefix(&self.prefix)?.strip_prefix('/')
    }

    /// The prefix of all keys of the history; empty if the history is the whole bucket.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The address of a file of the history.
    #[must_use]
    pub fn of(&self, path: &str) -> String {
        format!("{SCHEME}{}/{}", self.bucket, self.key(path))
    }
}

/// Checks the name of a bucket by the rules of Amazon S3 that other servers share.
fn is_bucket(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
    (3..=63).contains(&name.len())
        && name.bytes().all(is_allowed)
        && !name.starts_with(['.', '-'])
        && !name.ends_with(['.', '-'])
        && !name.contains("..")
}

/// Checks a part of a prefix: only characters of Amazon S3's list of safe characters, which need no escape in a key.
fn is_part(part: &str) -> bool {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"!-_.'()".contains(&byte);
    !part.is_empty() && part.bytes().all(safe) && part != "." && part != ".."
}

impl FromStr for Address {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        let wrong = |why| NotAnAddress {
            text: text.to_owned(),
            why,
        };
        let rest = text
            .strip_prefix(SCHEME)
            .ok_or_else(|| wrong("does not begin with s3://"))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if !is_bucket(bucket) {
            return Err(wrong(
                "the bucket's name must be 3 to 63 lower-case letters, digits, dots and hyphens",
            ));
        }
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        if !prefix.is_empty() && !prefix.split('/').all(is_part) {
            return Err(wrong(
                "the prefix must be letters, digits and ! - _ . ' ( ), in parts between single slashes",
            ));
        }
        if prefix.len() > 512 {
            return Err(wrong("the prefix has more than 512 bytes"));
        }
        Ok(Self {
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{SCHEME}{}", self.bucket)?;
        if self.prefix.is_empty() {
            return Ok(());
        }
        write!(out, "/{}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address(text: &str) -> Address {
        text.parse().unwrap()
    }

    #[test]
    fn bucket_and_prefix_are_told_apart() {
        let deep = address("s3://benchmarks/a/b/");
        assert_eq!((deep.bucket(), deep.prefix()), ("benchmarks", "a/b"));
        assert_eq!(deep.key("history.json"), "a/b/history.json");
        assert_eq!(deep.path("a/b/runs/2026/11/x.json"), Some("runs/2026/11/x.json"));
        assert_eq!(deep.path("a/bc/x.json"), None);
        assert_eq!(deep.of("history.json"), "s3://benchmarks/a/b/history.json");
        let whole = address("s3://benchmarks");
        assert_eq!((whole.prefix(), whole.key("history.json")), ("", "history.json".into()));
        assert_eq!(whole.path("x"), Some("x"));
        assert_eq!(address("s3://benchmarks/"), whole);
    }

    #[test]
    fn what_is_no_address_is_refused_with_a_reason() {
        for (text, why) in [
            ("benchmarks/a", "does not begin with s3://"),
            ("s3://", "the bucket's name"),
            ("s3://Benchmarks", "the bucket's name"),
            ("s3://ab", "the bucket's name"),
            ("s3://a..b", "the bucket's name"),
            ("s3://-ab", "the bucket's name"),
            ("s3://benchmarks//a", "the prefix"),
            ("s3://benchmarks/a/../b", "the prefix"),
            ("s3://benchmarks/a b", "the prefix"),
            ("s3://benchmarks/a?x=1", "the prefix"),
            ("s3://user:secret@benchmarks/a", "the bucket's name"),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(
                error.contains(why) && error.contains("expected s3://BUCKET/PREFIX"),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_address_is_read_back_as_it_was_written(text in "s3://[a-z0-9.-]{1,12}(/[a-zA-Z0-9._-]{0,6}){0,3}") {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(&address.to_string().parse::<Address>().unwrap(), &address);
                let key = address.key("months/2026-11.json");
                prop_assert_eq!(address.path(&key), Some("months/2026-11.json"));
            }
        }
    }
}
