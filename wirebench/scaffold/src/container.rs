//! What the file that makes a container's image says of how its program is started.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::files::{Files, name_of, pattern};
use wirebench_declare::server::Program as Started;

/// The instructions of the last image that matter here, each with its rest, which may go on in further lines.
static INSTRUCTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?mi)^[ \t]*(?P<word>FROM|COPY|ENTRYPOINT|CMD)[ \t]+(?P<rest>(?:[^\n]*\\\n)*[^\n]*)$"));

/// The arguments that an image starts this program with; files that it copies are named by their place in the repository. Empty if there
/// are none, or one that is no option is a file of the image alone.
pub(super) fn arguments(files: &Files, started: &Started) -> Vec<String> {
    let program = match started {
        Started::Command(words) => words.first().map_or("", String::as_str),
        Started::Package(package) => package,
    };
    let found = files.containers().find_map(|text| of_image(text, name_of(program)));
    found.unwrap_or_default()
}

fn of_image(text: &str, program: &str) -> Option<Vec<String>> {
    let (mut entry, mut command, mut copied) = (Vec::new(), Vec::new(), BTreeMap::new());
    for found in INSTRUCTION.captures_iter(text) {
        let words = words(&found["rest"].replace("\\\n", " "));
        match found["word"].to_ascii_uppercase().as_str() {
            "FROM" => (entry, command) = (Vec::new(), Vec::new()),
            "ENTRYPOINT" => entry = words,
            "CMD" => command = words,
            // What another image made is not in the repository.
            _ if words.iter().any(|word| word.starts_with("--from")) => {}
            _ => copied.extend(copies(&words)),
        }
    }
    let all = [entry, command].concat();
    let at = all.iter().position(|word| name_of(word) == program)?;
    // What is in the image alone stands for nothing here: an option with it, `--data=/data`, is left out.
    let place = |word: &String| {
        let option = word.split_once('=').filter(|(name, _)| name.starts_with('-'));
        let value = option.map_or(word.as_str(), |(_, value)| value);
        match (copied.get(value), option) {
            (Some(file), None) => Some(vec![file.clone()]),
            (Some(file), Some((name, _))) => Some(vec![format!("{name}={file}")]),
            (None, _) if !value.starts_with('/') && !value.contains('$') => Some(vec![word.clone()]),
            (None, option) => option.map(|_| Vec::new()),
        }
    };
    let arguments: Option<Vec<Vec<String>>> = all[at + 1..].iter().map(place).collect();
    arguments.map(|words| words.concat()).filter(|words| !words.is_empty())
}

/// A list in JSON, or the words of a shell.
fn words(rest: &str) -> Vec<String> {
    let list = serde_json::from_str(rest).ok();
    list.or_else(|| shell_words::split(rest).ok()).unwrap_or_default()
}

/// Each copied file's place in the image, and in the repository.
fn copies(words: &[String]) -> Vec<(String, String)> {
    let paths: Vec<&String> = words.iter().filter(|word| !word.starts_with("--")).collect();
    let Some((to, from)) = paths.split_last() else {
        return Vec::new();
    };
    let place = |file: &String| match to.strip_suffix('/') {
        Some(folder) => format!("{folder}/{}", name_of(file)),
        None => (*to).clone(),
    };
    let plain = |file: &String| file.trim_start_matches("./").to_owned();
    from.iter().map(|file| (place(file), plain(file))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let program = Started::Command(vec![".wirebench/bin/registry".into()]);
        arguments(&Files::of(&[("deploy/Dockerfile", text)]), &program)
    }

    #[test]
    fn an_image_tells_the_arguments_of_its_program_with_the_files_that_it_copies() {
        let last = "FROM alpine\nCOPY --chown=0:0 ./cmd/dev.yml /etc/registry/config.yml\n";
        let build = "FROM golang AS build\nCMD [\"registry\", \"version\"]\n";
        for (start, expected) in [
            (
                "ENTRYPOINT [\"registry\"]\nCMD [\"serve\", \\\n  \"/etc/registry/config.yml\"]\n",
                &["serve", "cmd/dev.yml"][..],
            ),
            ("CMD /bin/registry serve --debug\n", &["serve", "--debug"]),
            ("entrypoint [\"/init\", \"registry\"]\ncmd [\"serve\"]\n", &["serve"]),
            ("CMD [\"registry\", \"/data/config.yml\"]\n", &[]),
            ("CMD [\"registry\", \"$ADDRESS\"]\n", &[]),
            (
                "CMD [\"registry\", \"--config=/etc/registry/config.yml\", \"--data=/data\", \"-v=2\"]\n",
                &["--config=cmd/dev.yml", "-v=2"],
            ),
            ("ENTRYPOINT [\"registry\"]\n", &[]),
            ("CMD [\"other\", \"serve\"]\n", &[]),
        ] {
            assert_eq!(told(&format!("{build}{last}{start}")), expected, "{start}");
        }
        let folder = "FROM x\nCOPY a.yml b.yml /etc/x/\nCMD [\"registry\", \"/etc/x/b.yml\"]\n";
        assert_eq!(told(folder), ["b.yml"]);
    }
}
