//! File names made of series' names, which may be anything.

use std::collections::HashSet;

use sha2::{Digest as _, Sha256};

use crate::report::family::Family;
use crate::site::shown::name;
use crate::site::svg::{Markup, escaped};

/// Letters a name keeps before its digest.
const LONGEST: usize = 80;

/// Gives each page a name of its own.
#[derive(Debug, Default)]
pub(super) struct Pages(HashSet<String>);

impl Pages {
    /// `weather@http@hey` becomes `weather.http.hey`. A name that loses letters, or that another series has, gets eight
    /// digits of the digest of source and series, so that links hold from one build to the next.
    pub(super) fn name(&mut self, source: &str, series: &str) -> String {
        let own = source == wirebench_history::follow::RUNS_SOURCE;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        let parts: Vec<&str> = series.split('@').collect();
        let whole = own && parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.chars().all(fits));
        if whole && series.len() <= LONGEST {
            let name = parts.join(".");
            if self.0.insert(name.clone()) {
                return name;
            }
        }
        let digest = Sha256::digest(format!("{source}\n{series}"));
        let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{}-{digest}", word(series));
        self.0.insert(name.clone());
        name
    }
}

pub(super) fn tagged(series: &str) -> Markup {
    let shown = |part: &str| escaped(&name(part));
    let parts: Vec<&str> = series.split('@').collect();
    Markup(match parts[..] {
        [scenario, server, driver] => format!(
            "{} <span class=\"chip{}\">{}</span> <span class=\"chip\">{}</span>",
            shown(scenario),
            Family::of(series).map_or("", Family::class),
            shown(server),
            shown(driver)
        ),
        _ => shown(series),
    })
}

/// A sentence in which the names of series are [`tagged`].
pub(super) fn chipped(sentence: &str) -> Markup {
    let word = |word: &str| {
        let name = word.trim_end_matches([',', '.', ':', ';']);
        let parts: Vec<&str> = name.split('@').collect();
        if parts.len() == 3 && parts.iter().all(|part| !part.is_empty()) {
            format!("{}{}", tagged(name), &word[name.len()..])
        } else {
            escaped(word)
        }
    };
    Markup(sentence.split(' ').map(word).collect::<Vec<_>>().join(" "))
}

/// A text as lower-case words with hyphens between them; empty when it has no such letter.
pub(super) fn word(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut name = words.collect::<Vec<_>>().join("-");
    name.truncate(LONGEST);
    if name.is_empty() { "series".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn own_series_keep_their_names_and_others_get_a_digest() {
        let mut pages = Pages::default();
        assert_eq!(pages.name("runs", "weather@http@hey"), "weather.http.hey");
        let odd = pages.name("imported/x: y", "Parse <b> 10 µs");
        assert!(odd.starts_with("parse-b-10-s-") && odd.len() == 21, "{odd}");
        assert_ne!(pages.name("imported/z: y", "Parse <b> 10 µs"), odd);
        assert_eq!(Pages::default().name("imported/x: y", "Parse <b> 10 µs"), odd);
    }

    #[test]
    fn a_series_is_its_scenario_with_chips_and_hostile_names_stay_text() {
        assert_eq!(
            tagged("weather@http@hey").to_string(),
            "weather <span class=\"chip of-http\">http</span> <span class=\"chip\">hey</span>"
        );
        assert_eq!(tagged("parse a@b").to_string(), "parse a@b");
        assert_eq!(
            chipped("worst of all weather@http@hey, <b> a@b").to_string(),
            "worst of all weather <span class=\"chip of-http\">http</span> <span class=\"chip\">hey</span>, &lt;b&gt; a@b"
        );
        let nasty = tagged("<img src=x>@<script>@\"'").to_string();
        assert!(!nasty.contains("<img") && !nasty.contains("<script"), "{nasty}");
    }

    proptest! {
        #[test]
        fn a_name_is_always_a_file_name(series in "\\PC{0,200}") {
            let name = Pages::default().name("runs", &series);
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
            prop_assert!(name.chars().all(fits) && !name.starts_with('.') && name.len() < 100, "{}", name);
        }
    }
}
