//! `report.md`: what was measured, in tables and pictures, with all that is needed to repeat it.

use askama::Template;

use crate::report::charts::Chart;
use crate::report::escape::{MARKDOWN, code, prose};
use crate::report::format::{plain, tools};
use crate::report::head_to_head::{self, BOUNDS};
use crate::report::run_view::{headline, is_unmeasured, machines, not_good, time_spent};
use crate::report::{counts, limits, pacing, scenario};
use wirebench_judge::limits::judge;
use wirebench_judge::summary::{Section, sections};
use wirebench_record::run::Run;

#[derive(Template)]
#[template(path = "run.md")]
struct Report<'a> {
    run: &'a Run,
    sections: Vec<Section<'a>>,
    charts: &'a [Chart],
}

/// The run as Markdown; `charts` are in the folder `charts/` next to the file.
pub fn render(run: &Run, charts: &[Chart]) -> String {
    let report = Report {
        run,
        sections: sections(run),
        charts,
    };
    report.render().expect("the template only writes into a string")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::mem::{Discriminant, discriminant};

    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
    use serde_json::{Map, Value, json};

    use super::*;
    use wirebench_testing::reference;

    const NASTY: [&str; 3] = [
        "<img src=x onerror=alert(1)> ![p](https://evil.example/p) [x](javascript:alert(1)) | `x` | @everyone #7\n# heading\n\n---\n",
        "1 ``` [x](javascript:alert(1)) | <b> www.evil.example\n\n| a | b |\n|---|---|\n| @everyone | GH-7 |\n",
        "a`|`[x](javascript:alert(1))\r\n- item\n</details><!-- @everyone",
    ];

    /// A value of a schema, with every property that it may have.
    fn value_of(schema: &Value, all: &Value) -> Value {
        if let Some(name) = schema["$ref"].as_str() {
            return value_of(all.pointer(&name[1..]).unwrap(), all);
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            if let Some(first) = schema[key].get(0) {
                return value_of(first, all);
            }
        }
        if let Some(one) = schema.get("const").or_else(|| schema["enum"].get(0)) {
            return one.clone();
        }
        let kind = &schema["type"];
        match kind.as_str().or_else(|| kind[0].as_str()) {
            Some("object") => {
                let empty = Map::new();
                let named = schema["properties"].as_object().unwrap_or(&empty);
                let each = named
                    .iter()
                    .map(|(name, one)| (name.clone(), named_value(name, one, all)));
                Value::Object(each.collect())
            }
            Some("array") => json!([value_of(&schema["items"], all)]),
            Some("string") => json!("x1"),
            Some("boolean") => json!(true),
            _ => json!(1),
        }
    }

    /// The same, where names have a grammar.
    fn named_value(name: &str, schema: &Value, all: &Value) -> Value {
        match name {
            "commit" => json!("a".repeat(40)),
            "id" | "run" => json!("20261121T051047Z-352901"),
            "series" if schema["items"]["type"] == "string" => json!(["weather@http@hey"]),
            "stacks" => json!({}),
            _ if name.ends_with("_at") => json!("2026-11-21T05:10:48Z"),
            _ => value_of(schema, all),
        }
    }

    /// Adds to a value what its schema allows and it lacks, and keeps one entry of each list.
    fn fill(value: &mut Value, schema: &Value, all: &Value) {
        if let Some(name) = schema["$ref"].as_str() {
            return fill(value, all.pointer(&name[1..]).unwrap(), all);
        }
        if let Some(named) = schema["properties"].as_object() {
            for (name, schema) in named {
                match value.get_mut(name) {
                    Some(there) if !there.is_null() && *there != json!([]) => fill(there, schema, all),
                    _ => value[name] = named_value(name, schema, all),
                }
            }
        }
        if let Value::Array(entries) = value {
            entries.truncate(1);
            entries.iter_mut().for_each(|entry| fill(entry, &schema["items"], all));
        }
    }

    /// The places of all texts in a value.
    fn texts(value: &Value, place: &str, found: &mut Vec<String>) {
        match value {
            Value::String(_) => found.push(place.to_owned()),
            Value::Array(all) => {
                for (i, one) in all.iter().enumerate() {
                    texts(one, &format!("{place}/{i}"), found);
                }
            }
            Value::Object(all) => all
                .iter()
                .for_each(|(name, one)| texts(one, &format!("{place}/{name}"), found)),
            _ => {}
        }
    }

    /// How many elements of each kind a text has, as a reader of Markdown sees it; fails if the record's text acts.
    fn elements(text: &str) -> BTreeMap<String, usize> {
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        let mut in_code = false;
        let options = Options::all().difference(Options::ENABLE_SMART_PUNCTUATION);
        for event in Parser::new_ext(text, options) {
            match event {
                Event::Start(Tag::CodeBlock(_)) => in_code = true,
                Event::End(TagEnd::CodeBlock) => in_code = false,
                Event::Start(Tag::Link { .. } | Tag::Image { .. }) => panic!("{event:?} in\n{text}"),
                Event::Start(tag) => *found.entry(format!("{:?}", kind(&tag))).or_default() += 1,
                Event::Html(html) | Event::InlineHtml(html) => {
                    assert!(["<span>", "</span>"].contains(&&*html), "{html} in\n{text}");
                }
                Event::Rule => panic!("a rule in\n{text}"),
                Event::Text(part) if !in_code => {
                    for acting in ["@e", "#7", "GH-7", "www.", "://"] {
                        assert!(!part.contains(acting), "{acting} in {part} in\n{text}");
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn kind<'a>(tag: &Tag<'a>) -> Discriminant<Tag<'a>> {
        discriminant(tag)
    }

    #[test]
    fn no_text_of_a_run_acts_in_its_report() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/schema/run.v1.schema.json");
        let schema: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let mut base = serde_json::to_value(reference()).unwrap();
        fill(&mut base, &schema, &schema);
        let rendered = |value: &Value| -> Option<String> {
            let run: Run = serde_json::from_value(value.clone()).ok()?;
            Some(render(&run, &[]))
        };
        // One machine or several, timed or counted: other parts of the report.
        let mut one_machine = base.clone();
        (one_machine["hosts"], one_machine["shards"]) = (json!([]), json!([]));
        let mut shards = base.clone();
        shards["hosts"] = json!([]);
        let mut counted = one_machine.clone();
        counted["series"][0]["load"]["counted"] = json!(600);
        let mut taken = Vec::new();
        for base in [base, one_machine, shards, counted] {
            let expected = elements(&rendered(&base).expect("the filled run is a run"));
            let mut places = Vec::new();
            texts(&base, "", &mut places);
            for (place, nasty) in places.iter().flat_map(|place| NASTY.map(|nasty| (place, nasty))) {
                let mut value = base.clone();
                *value.pointer_mut(place).unwrap() = json!(nasty);
                // A name with a grammar is refused by the reader.
                let Some(text) = rendered(&value) else { continue };
                assert_eq!(elements(&text), expected, "{place} in\n{text}");
                taken.push(place.clone());
            }
        }
        for place in [
            "/finished_at",
            "/host/kernel",
            "/host/cpu_model",
            "/tools/0/version",
            "/reason",
            "/hosts/0/host/kernel",
            "/shards/0/host/cpu_model",
            "/series/0/reason",
            "/series/0/counts/0/remarks/0",
            "/repeat",
        ] {
            assert!(taken.iter().any(|one| one == place), "{place} was refused: {taken:?}");
        }
    }
}
