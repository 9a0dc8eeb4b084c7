//! The requests that may have a good response: from the sources, from the OpenAPI document, and usual paths.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::calls::has_word_of;
use super::openapi;
use crate::files::pattern;
use crate::known::KNOWN;
use crate::routes::{self, Route};
use wirebench_engine::measure::wire::WireResponse;

/// Values for parameters of a path.
const VALUES: [&str; 3] = ["1", "world", "0"];

/// The origin of a path that no source declares.
pub(super) const USUAL: &str = "a usual path";
/// A request that the user gives, because it may change data or needs a value that nothing in the repository tells: `METHOD PATH [BODY]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenRequest {
    /// The method, upper case.
    pub(super) method: String,
    /// Path and query.
    pub(super) path: String,
    /// The body; empty without one.
    pub(super) body: String,
}

impl GivenRequest {
    /// The header lines that its body needs.
    pub(super) fn headers(&self) -> Vec<String> {
        let is_json = serde_json::from_str::<Value>(&self.body).is_ok();
        let kind = if is_json { "json" } else { "x-www-form-urlencoded" };
        let header = (!self.body.is_empty()).then(|| format!("content-type: application/{kind}"));
        header.into_iter().collect()
    }
}

impl FromStr for GivenRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        static REQUEST: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?s)([A-Z]+) \s*(/[^ ]*)(.*)$"));
        let found = REQUEST.captures(text.trim());
        let found = found.ok_or("expected a method, a path, and a body if there is one: 'POST /orders {\"id\": 1}'")?;
        let [method, path, body] = [1, 2, 3].map(|part| found[part].trim().to_owned());
        Ok(Self { method, path, body })
    }
}

impl fmt::Display for GivenRequest {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} {}", self.method, self.path)
    }
}

/// A candidate for an operation.
pub(super) struct Candidate {
    /// The path as declared by the server, for its name.
    pub(super) template: String,
    /// Paths to try, until one answers well.
    pub(super) paths: Vec<String>,
    /// Where it comes from.
    pub(super) why: String,
    /// True if a source or a document of the server declares it, so that a bad response is worth a question.
    pub(super) declared: bool,
}

/// The candidates in the order of the sources; requests that may change data or end the server become a question.
pub(super) fn candidates(
    routes: &[Route],
    redirect: Option<String>,
    get: impl Fn(&str) -> Option<WireResponse>,
    questions: &mut Vec<String>,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut changing: BTreeSet<String> = BTreeSet::new();
    let listed_at = |place: &String| openapi::operations(&get(place)?.body, place);
    for (route, path) in KNOWN.openapi_places.iter().find_map(listed_at).unwrap_or_default() {
        if route.method == "GET" {
            found.push(Candidate {
                template: route.path,
                paths: vec![path],
                why: route.place,
                declared: true,
            });
        } else {
            changing.insert(route.to_string());
        }
    }
    let listed: BTreeSet<String> = found.iter().map(|one| one.template.clone()).collect();
    for route in routes {
        let template = openapi_spelling(&route.path);
        match route.method.as_str() {
            "GET" if !listed.contains(&template) => found.push(Candidate {
                template,
                paths: with_sample_values(&route.path),
                why: route.place.clone(),
                declared: true,
            }),
            "GET" | "HEAD" | "OPTIONS" => {}
            _ if listed.is_empty() => {
                changing.insert(route.to_string());
            }
            _ => {}
        }
    }
    // Twice: a link that the next page does not have is made up for each.
    let linked = || get("/").map_or_else(Vec::new, |page| links(&String::from_utf8_lossy(&page.body)));
    let again = linked();
    let linked = linked().into_iter().filter(|path| again.contains(path));
    let led_to = redirect.into_iter().map(|path| (path, "GET / leads there"));
    let linked = linked.map(|path| (path, "linked by GET /"));
    let usual = KNOWN.usual_paths.iter().map(|path| (path.clone(), USUAL));
    found.extend(led_to.chain(linked).chain(usual).map(|(path, why)| Candidate {
        template: path.clone(),
        paths: vec![path],
        why: why.into(),
        declared: false,
    }));
    found.retain(|one| {
        let ends = has_word_of(&KNOWN.destroying, &one.template);
        if ends {
            changing.insert(format!("GET {} ({})", one.template, one.why));
        }
        !ends
    });
    questions.extend(about_changing(changing));
    found
}

/// The paths of the same server that a page of HTML links to, without files and paths whose name says that they change
/// something.
fn links(page: &str) -> Vec<String> {
    static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r#"<a\s[^>]*?href\s*=\s*["']?(/[^"'#\s>]*)"#));
    static LEFT_OUT: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)^//|\.\w{2,4}$|log-?_?out|sign-?_?out|delete|remove|destroy|[&\\$({]"));
    const MOST: usize = 12;
    let paths = LINK.captures_iter(page).map(|found| found[1].to_owned());
    let paths = paths.filter(|path| path != "/" && !LEFT_OUT.is_match(path));
    each_once(paths.collect()).into_iter().take(MOST).collect()
}

/// The first of many, and how many more there are.
pub(super) fn some_of(all: impl ExactSizeIterator<Item = String>) -> String {
    const LISTED: usize = 6;
    let more = all.len().checked_sub(LISTED).filter(|more| *more > 0);
    let more = more.map(|more| format!("and {more} more"));
    all.take(LISTED).chain(more).collect::<Vec<_>>().join(", ")
}

/// A question for each that failed, or one for all if there are many.
pub(super) fn each_or_all(
    named: impl ExactSizeIterator<Item = String>,
    each: impl Iterator<Item = String>,
    all: impl Fn(usize, String) -> String,
) -> Vec<String> {
    const MOST: usize = 2;
    match named.len() {
        many if many > MOST => vec![all(many, some_of(named))],
        _ => each.collect(),
    }
}

/// How the user has a request measured that init does not find.
pub(super) const GIVE: &str = "remove wirebench.toml, then: wirebench init --request 'METHOD PATH BODY'";

/// The question about requests that may change data or end the server.
fn about_changing(changing: BTreeSet<String>) -> Option<String> {
    if changing.is_empty() {
        return None;
    }
    let list = some_of(changing.into_iter());
    Some(format!(
        "not asked for, as it may change data or end the server (to measure one, {GIVE}): {list}"
    ))
}

/// A path of the sources with each of the sample values in place of its parameters.
fn with_sample_values(path: &str) -> Vec<String> {
    let mut paths: Vec<String> = VALUES.iter().map(|value| routes::filled(path, value)).collect();
    if path.ends_with('/') && path != "/" {
        // A handler that matches a prefix of the path.
        paths.extend(VALUES.iter().map(|value| format!("{path}{value}")));
    }
    each_once(paths)
}

/// The same paths in the same order, without those that came before.
fn each_once(mut paths: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}

/// A path with its parameters as OpenAPI spells them.
fn openapi_spelling(path: &str) -> String {
    static PARAMETER: LazyLock<Regex> = LazyLock::new(|| pattern(r"<(?:\w+:)?(\w+)>|:(\w+)|\{(\w+):[^}]*\}"));
    PARAMETER.replace_all(path, "{$1$2$3}").into_owned()
}

static PARAMETER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\*?(\w+)[^}]*\}"));

/// The values that responses in JSON have for each key: of an object, or of the first object in a list.
pub(super) fn values<'a>(bodies: impl Iterator<Item = &'a [u8]>) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for body in bodies {
        let Ok(json) = serde_json::from_slice::<Value>(body) else {
            continue;
        };
        let first = json.get(0).unwrap_or(&json);
        let nested = first.as_object().into_iter().flat_map(Map::values);
        let nested = nested.filter_map(|value| value.get(0));
        let objects = std::iter::once(first).chain(nested).filter_map(Value::as_object);
        for (key, value) in objects.flatten() {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => continue,
            };
            if !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
                found.entry(key.to_ascii_lowercase()).or_default().push(text);
            }
        }
    }
    found
}

/// A path with its one parameter filled by what responses have for its name, or for the last part of it: `user_id`, `id`.
pub(super) fn with_values(template: &str, values: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let names = PARAMETER.captures_iter(template);
    let mut names = names.map(|found| found[1].to_ascii_lowercase());
    let (Some(name), None) = (names.next(), names.next()) else {
        return Vec::new();
    };
    let known = [name.as_str(), if name.ends_with("id") { "id" } else { &name }];
    let all = known.iter().filter_map(|name| values.get(*name)).flatten();
    each_once(all.map(|value| routes::filled(template, value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_method_a_path_and_a_body() {
        let read = |text: &str| {
            text.parse::<GivenRequest>()
                .map(|one| (one.to_string(), one.headers(), one.body))
        };
        let json = vec!["content-type: application/json".to_owned()];
        let post = read("POST /orders?x=1  {\"id\": 1}").unwrap();
        assert_eq!(post, ("POST /orders?x=1".into(), json, "{\"id\": 1}".into()));
        let form = read("PUT /a x=1&y=2").unwrap();
        assert_eq!(form.1, ["content-type: application/x-www-form-urlencoded"]);
        assert_eq!(read("DELETE /a").unwrap(), ("DELETE /a".into(), vec![], String::new()));
        for wrong in ["", "POST", "/orders", "POST orders", "post /orders", "POST  "] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_for_parameters_come_from_other_responses() {
        let cities: &[u8] = br#"[{"name":"Lviv","id":7,"tags":[{"tag":"old"}],"about":"a b"}]"#;
        let found = values([cities].into_iter());
        assert_eq!(with_values("/cities/{name}", &found), ["/cities/Lviv"]);
        assert_eq!(with_values("/cities/{city_id}", &found), ["/cities/7"]);
        assert_eq!(with_values("/tags/{tag}", &found), ["/tags/old"]);
        assert_eq!(with_values("/x/{about}", &found), [""; 0]);
        let orders: &[u8] = br#"[{"user_id":1,"id":7},{}]"#;
        let users: &[u8] = br#"{"user_id":2,"id":1}"#;
        let found = values([orders, users].into_iter());
        let each_once = ["/users/1", "/users/2", "/users/7"];
        assert_eq!(with_values("/users/{user_id}", &found), each_once);
        assert_eq!(with_values("/x/{id}/{name}", &found), [""; 0]);
    }

    #[test]
    fn a_link_that_differs_from_page_to_page_is_not_followed() {
        let pages = std::cell::Cell::new(0);
        let get = |path: &str| {
            pages.set(pages.get() + 1);
            let page = format!("<a href=/page-{}>x</a><a href=/about>y</a>", pages.get());
            let answer = |body: String| WireResponse {
                status: 200,
                body: body.into(),
                grpc: None,
                fault: None,
            };
            (path == "/").then(|| answer(page))
        };
        let found = candidates(&[], None, get, &mut Vec::new());
        let linked = found.iter().filter(|one| one.why.starts_with("linked"));
        let linked: Vec<&str> = linked.map(|one| one.template.as_str()).collect();
        assert_eq!(linked, ["/about"]);
    }

    #[test]
    fn a_path_that_takes_data_away_or_ends_the_server_is_asked_about_and_not_for() {
        let route = |path: &str| Route {
            method: "GET".into(),
            path: path.into(),
            place: "a.go:1".into(),
        };
        let taken = ["/panic", "/crash/{code}", "/users/deleteAll", "/_e2e/restore-snapshot"].map(route);
        let routes = [&taken[..], &["/panics", "/exits/now"].map(route)].concat();
        let mut questions = Vec::new();
        let found = candidates(&routes, None, |_| None, &mut questions);
        let asked: Vec<&str> = found
            .iter()
            .filter(|one| one.declared)
            .map(|one| &*one.template)
            .collect();
        assert_eq!(asked, ["/panics", "/exits/now"]);
        assert!(
            questions
                .iter()
                .any(|one| one.contains("not asked for") && one.contains("GET /panic (a.go:1)")),
            "{questions:?}"
        );
    }

    #[test]
    fn methods_that_change_data_are_one_question() {
        let of = |number: usize| about_changing((0..number).map(|n| format!("POST /{n} (a.go:{n})")).collect());
        assert_eq!(of(0), None);
        let many = of(11).unwrap();
        assert!(
            many.contains("POST /10 (a.go:10)") && many.contains("and 5 more"),
            "{many}"
        );
    }

    #[test]
    fn parameters_are_spelled_as_openapi_does() {
        assert_eq!(openapi_spelling("/a/<int:id>/:name/{x:[0-9]+}"), "/a/{id}/{name}/{x}");
    }
}
