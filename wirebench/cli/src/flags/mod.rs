//! Groups of flags that several verbs have, and the values that they take.

pub(crate) mod fail_on;
pub(crate) mod hosts;
pub(crate) mod lock;
pub(crate) mod metric;
pub(crate) mod only;
pub(crate) mod selection;
pub(crate) mod sides;

/// A flag before each of these values, for the command line of another run.
pub(crate) fn with_flag<T: ToString>(flag: &str, values: impl IntoIterator<Item = T>) -> impl Iterator<Item = String> {
    values
        .into_iter()
        .flat_map(move |value| [flag.to_owned(), value.to_string()])
}
