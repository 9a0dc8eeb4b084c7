//! The version of this program, with the commit it was built from.

use std::sync::LazyLock;

use wirebench_record::names::is_full_commit;

/// The commit that this program was built from: set by scripts/release.sh and by `cargo install --git`.
const BUILT_FROM: Option<&str> = option_env!("WIREBENCH_COMMIT");

/// What `--version` prints: `0.1.0 (0123456789ab)`; of a build from a working tree only `0.1.0`.
pub(crate) static TEXT: LazyLock<String> = LazyLock::new(|| with(commit()));

/// The full commit that this program was built from, in lower case; `None` if unknown.
pub(crate) fn commit() -> Option<String> {
    BUILT_FROM
        .filter(|text| is_full_commit(text))
        .map(str::to_ascii_lowercase)
}

fn with(commit: Option<String>) -> String {
    const SHORT: usize = 12;
    let version = env!("CARGO_PKG_VERSION");
    match commit {
        Some(commit) => format!("{version} ({})", &commit[..SHORT]),
        None => version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::with;

    #[test]
    fn a_known_commit_stands_behind_the_version() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(with(None), version);
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(with(Some(commit.into())), format!("{version} (0123456789ab)"));
    }
}
