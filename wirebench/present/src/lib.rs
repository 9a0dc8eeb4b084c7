//! What wirebench shows: tables and comments, the dashboard, pictures, and documents made from a run. Computes nothing that
//! `wirebench_judge` could.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

pub mod report;
pub mod site;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why something could not be shown: the file or program, the cause, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PresentError(String);

impl PresentError {
    fn unwritable(file: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self(format!("{}: cannot be written: {source}", file.display()))
    }
}

/// Values by their keys, in the order in which keys come first.
fn by_key<K: PartialEq, V>(all: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in all {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Each value once, in the order in which they come first.
fn distinct<T: Clone + Ord>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.into_iter().filter(|one| seen.insert(one.clone())).collect()
}
