//! Texts of an artifact that somebody wrote to do harm: none of them acts where they are shown.

use proptest::prelude::{any, prop_oneof, proptest};
use proptest::strategy::Strategy;
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;
use wirebench_github::admit::{ComparedCommits, admit};
use wirebench_present::report::comparison::comment::{About, render, summary};

use crate::github::scene::{BASE, HEAD, Scene, comparison, zipped};

/// Puts `text` where the record has free text; names that are held against a list are left.
fn overwrite(value: &mut Value, text: &str) {
    const LEFT: [&str; 16] = [
        "kind",
        "side",
        "schema",
        "verdict",
        "variant",
        "metric",
        "better",
        "presence",
        "unit",
        "id",
        "scenario",
        "run",
        "fingerprint",
        "file",
        "commit",
        "flame_graph",
    ];
    match value {
        Value::Array(all) => all.iter_mut().for_each(|one| overwrite(one, text)),
        Value::Object(fields) => {
            let free = fields.iter_mut().filter(|(name, _)| !LEFT.contains(&name.as_str()));
            free.for_each(|(_, field)| overwrite(field, text));
        }
        Value::String(old) => text.clone_into(old),
        _ => {}
    }
}

#[test]
fn no_text_of_an_artifact_acts_in_the_comment_or_the_check() {
    for golden in ["mixed", "counted-regressed", "accepted", "invalid", "added-removed"] {
        for nasty in [
            "<img src=x onerror=alert(1)></details> ![p](https://evil.example/p) | `x` | @everyone #1\n# heading\n\n---\n",
            "::set-output name=evil::1\n::error::evil\n##[group]evil",
            "wirebench run\n```\n@everyone evil",
            "**evil** [evil](https://evil.example) www.evil.example fixes #7 GH-7 <!-- wirebench: -->",
            "evil $\\infty$ ~~x~~ `evil` ``` evil",
        ] {
            let mut value = comparison(golden);
            overwrite(&mut value, nasty);
            if nasty.starts_with("<img") {
                as_version_1(&mut value, nasty);
            }
            let scene = Scene::with(&zipped(value.to_string().as_bytes()));
            let text = scene.said();
            let known = scene.fake.known();
            let check = known.checks[0]["output"]["summary"].as_str().unwrap();
            for shown in [text.as_str(), check] {
                assert_inert(shown);
            }
        }
    }
}

/// Puts a sentence in the place of every reason and note, as version 1 had them.
fn as_version_1(comparison: &mut Value, text: &str) {
    comparison["schema"] = "wirebench.comparison/v1".into();
    comparison["notes"] = serde_json::json!([text, text]);
    comparison["method"]["no_second_stage"] = text.into();
    for series in comparison["series"].as_array_mut().unwrap() {
        series["reason"] = text.into();
        for metric in series["metrics"].as_array_mut().unwrap() {
            metric["reason"] = text.into();
        }
    }
}

fn assert_inert(text: &str) {
    let mut headings = 0;
    for event in Parser::new_ext(text, Options::all().difference(Options::ENABLE_SMART_PUNCTUATION)) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                let ours = [
                    "https://github.com/octo/weather/actions/runs/500",
                    "https://github.com/wirebench/wirebench/blob/main/docs/FAQ.md#how-do-i-read-the-comment",
                ];
                assert!(ours.contains(&&*dest_url), "{dest_url} in {text}");
            }
            Event::Start(Tag::Image { .. } | Tag::FootnoteDefinition(_)) => panic!("{event:?} in\n{text}"),
            Event::Start(Tag::Heading { .. }) => headings += 1,
            Event::Html(html) | Event::InlineHtml(html) => {
                let ours = [
                    "<details>",
                    "</details>",
                    "<span>",
                    "</span>",
                    "<!-- wirebench: .github/workflows/bench.yml -->",
                ];
                assert!(ours.iter().any(|tag| html.starts_with(tag)), "{html} in\n{text}");
            }
            // Names of functions are shown as code, which is text.
            Event::Text(part) => assert!(
                !part.contains("evil") && !part.contains("@e") && !part.contains("#7"),
                "{part} in\n{text}"
            ),
            _ => {}
        }
    }
    assert!(headings <= 1 && text.matches("<!--").count() <= 1, "{text}");
}

fn dangerous() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        proptest::sample::select(
            &[
                "<!--",
                "-->",
                "](",
                "![x](",
                "https://evil.example",
                "@evil",
                "```",
                "`",
                "|",
                "\n",
                "\n\n# ",
                "\n::error::",
                "%0A",
                "<b>",
                "</details>",
                "$$",
                "a",
                " "
            ][..]
        )
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn whatever_stands_in_one_place_is_refused_or_inert(text in dangerous(), place in any::<usize>(), golden in 0_usize..3) {
        let mut value = comparison(["mixed", "counted-regressed", "invalid"][golden]);
        let mut places = Vec::new();
        texts(&value, String::new(), &mut places);
        *value.pointer_mut(&places[place % places.len()]).unwrap() = text.into();
        let about = About { marker: "<!-- wirebench: .github/workflows/bench.yml -->", head: HEAD, run: 500, page: "https://github.com/octo/weather/actions/runs/500" };
        match admit(value, &ComparedCommits { head: HEAD, base: BASE }) {
            Ok(comparison) => {
                assert_inert(&render(&comparison, &about));
                assert_inert(&summary(&comparison, &about));
            }
            Err(why) => assert!(!why.to_string().contains("evil") && !why.to_string().contains("::")),
        }
    }
}

/// Where a value holds text or nothing.
fn texts(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Array(all) => all
            .iter()
            .enumerate()
            .for_each(|(i, one)| texts(one, format!("{at}/{i}"), places)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, one)| texts(one, format!("{at}/{name}"), places)),
        Value::String(_) | Value::Null => places.push(at),
        _ => {}
    }
}
