//! The services that a compose file starts from images: dependencies that servers may need.

use std::sync::LazyLock;

use regex::Regex;

use crate::files::Files;

const NAMES: [&str; 4] = [
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
];

static IMAGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?m)^\s+image:\s*["']?([^\s"'#]+)"#).expect("a constant pattern"));

/// Each image, with the file that names it.
pub(super) fn images(files: &Files) -> Vec<(String, String)> {
    let below = NAMES.into_iter().flat_map(|name| {
        files
            .named(name)
            .map(move |(folder, text)| (format!("{folder}{name}"), text))
    });
    let above = NAMES
        .into_iter()
        .filter_map(|name| files.above(name).map(|(way, text)| (format!("{way}{name}"), text)));
    below
        .chain(above)
        .flat_map(|(file, text)| {
            let images = IMAGE.captures_iter(text);
            images
                .map(move |found| (file.clone(), found[1].to_owned()))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_named_with_their_file() {
        let text = "services:\n  db:\n    image: \"postgres:16\"   # the store\n  web:\n    build: .\n";
        let found = images(&Files::of(&[("deploy/compose.yml", text)]));
        assert_eq!(found, [("deploy/compose.yml".to_owned(), "postgres:16".to_owned())]);
    }
}
