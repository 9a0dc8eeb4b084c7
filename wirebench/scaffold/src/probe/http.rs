//! Requests the routes of a running HTTP server's sources and OpenAPI document, and declares those with a good
//! response.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde_json::{Map, Value};

use crate::files::Files;
use crate::probe::speak::get;
use crate::probe::{Because, Seen, openapi};
use crate::program::{Program, free, slug};
use crate::routes;
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{HttpOperation, Operation, Ready};
use wirebench_engine::measure::wire::WireResponse;

/// Operations that are measured; more only cost time.
const MOST: usize = 3;
/// The most requests.
const MOST_REQUESTS: usize = 300;
/// A longer body is not written into the declaration.
const LONGEST_BODY: usize = 4096;
/// How often a request is repeated, with this pause, to check that its response is always the same.
const REPEATS: usize = 3;
const PAUSE: Duration = Duration::from_millis(400);
/// A path that should not exist.
const NOBODYS: &str = "/wirebench-asks-for-nothing";
/// Values for parameters of a path.
const VALUES: [&str; 3] = ["1", "world", "0"];

static HEALTH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)/_?(?:healthz|healthcheck|health|readyz|readiness|ready|livez|ping)(?:/(?:live|ready))?$")
        .expect("a constant pattern")
});
/// Pages about the server, such as documentation, which are not declared.
static ABOUT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)/(?:metrics|docs|redoc|swagger|openapi|favicon|debug)\b").expect("a constant pattern")
});
/// The origin of a path that no source declares.
const USUAL: &str = "a usual path";
/// Usual paths of health checks.
const USUAL_HEALTH: [&str; 4] = ["/health", "/healthz", "/readyz", "/ping"];

/// A candidate for an operation.
struct Candidate {
    /// The path as declared by the server, for its name.
    template: String,
    /// Paths to try, until one answers well.
    paths: Vec<String>,
    /// Where it comes from.
    why: String,
}

/// A path with a good response.
struct Good {
    template: String,
    path: String,
    why: String,
    answer: WireResponse,
    /// Whether every repetition was the same.
    stable: bool,
}

/// Sends the requests, declares operations and readiness, and records open questions.
pub(super) fn ask(files: &Files, program: &Program, address: &str, protocol: Protocol, seen: &mut Seen) {
    let asker = Asker { address, protocol };
    let anything = asker.get(NOBODYS).filter(|answer| is_good(answer.status));
    let candidates = candidates(files, program, &asker, &mut seen.questions);
    let mut good = asker.good(
        candidates,
        &routes::prefixes(files, &program.sources),
        &mut seen.questions,
    );
    // If a server responds to any path with the same page, a response does not show that the path exists.
    good.retain(|one| one.why != USUAL || anything.as_ref().is_none_or(|page| page.body != one.answer.body));
    asker.repeat(&mut good);
    readiness(&good, seen);
    good.sort_by_key(rank);
    for one in good {
        declare(one, seen);
    }
}

/// The order of operations: work before pages about the server, repeatable responses before others, longer paths before
/// `/`.
fn rank(one: &Good) -> (bool, bool, bool, bool) {
    (
        HEALTH.is_match(&one.path) || ABOUT.is_match(&one.path),
        !one.stable,
        one.answer.body.is_empty(),
        one.path == "/",
    )
}

fn is_good(status: u16) -> bool {
    (200..300).contains(&status)
}

/// The candidates in the order of the sources; methods that may change data become a question.
fn candidates(files: &Files, program: &Program, asker: &Asker, questions: &mut Vec<String>) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut changing: BTreeSet<String> = BTreeSet::new();
    for place in openapi::PLACES {
        let listed = asker.get(place).filter(|answer| is_good(answer.status));
        let Some(listed) = listed.and_then(|answer| openapi::operations(&answer.body)) else {
            continue;
        };
        for one in listed {
            if one.method == "GET" {
                found.push(Candidate {
                    template: one.template,
                    paths: vec![one.path],
                    why: format!("listed by GET {place}"),
                });
            } else {
                changing.insert(format!("{} {} (listed by GET {place})", one.method, one.template));
            }
        }
        break;
    }
    let listed: BTreeSet<String> = found.iter().map(|one| one.template.clone()).collect();
    for route in routes::of(files, &program.sources) {
        if ["HEAD", "OPTIONS"].contains(&route.method.as_str()) {
            continue;
        }
        if route.method != "GET" {
            if listed.is_empty() {
                changing.insert(format!("{} {} ({})", route.method, route.path, route.place));
            }
            continue;
        }
        if listed.contains(&openapi_spelling(&route.path)) {
            continue;
        }
        let mut paths: Vec<String> = VALUES.iter().map(|value| routes::filled(&route.path, value)).collect();
        if route.path.ends_with('/') && route.path != "/" {
            // A handler that matches a prefix of the path.
            paths.extend(VALUES.iter().map(|value| format!("{}{value}", route.path)));
        }
        paths.dedup();
        found.push(Candidate {
            template: openapi_spelling(&route.path),
            paths,
            why: route.place,
        });
    }
    for path in USUAL_HEALTH.into_iter().chain(["/"]) {
        found.push(Candidate {
            template: path.to_owned(),
            paths: vec![path.to_owned()],
            why: USUAL.into(),
        });
    }
    questions.extend(changing.into_iter().map(|what| {
        format!(
            "{what} was not asked, as it may change data: is it to be measured? Then declare it with method and body"
        )
    }));
    found
}

/// A path with its parameters as OpenAPI spells them.
fn openapi_spelling(path: &str) -> String {
    static PARAMETER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"<(?:\w+:)?(\w+)>|:(\w+)|\{(\w+):[^}]*\}").expect("a constant pattern"));
    PARAMETER.replace_all(path, "{$1$2$3}").into_owned()
}

/// The requests so far.
#[derive(Default)]
struct Tried {
    good: Vec<Good>,
    paths: BTreeSet<String>,
    requests: usize,
}

static PARAMETER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{\*?(\w+)[^}]*\}").expect("a constant pattern"));

/// The values that responses in JSON have for each key: of an object, or of the first object in a list.
fn values(good: &[Good]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in good {
        let Ok(json) = serde_json::from_slice::<Value>(&one.answer.body) else {
            continue;
        };
        let first = json.as_array().and_then(|all| all.first()).unwrap_or(&json);
        let nested = first.as_object().into_iter().flat_map(Map::values);
        let nested = nested.filter_map(|value| value.as_array()?.first());
        for (key, value) in std::iter::once(first)
            .chain(nested)
            .filter_map(Value::as_object)
            .flatten()
        {
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
fn with_values(template: &str, values: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut names = PARAMETER
        .captures_iter(template)
        .map(|found| found[1].to_ascii_lowercase());
    let (Some(name), None) = (names.next(), names.next()) else {
        return Vec::new();
    };
    let known = [name.as_str(), if name.ends_with("id") { "id" } else { &name }];
    let all = known.iter().filter_map(|name| values.get(*name)).flatten();
    let mut paths: Vec<String> = all.map(|value| routes::filled(template, value)).collect();
    paths.dedup();
    paths
}

struct Asker<'a> {
    address: &'a str,
    protocol: Protocol,
}

impl Asker<'_> {
    fn get(&self, path: &str) -> Option<WireResponse> {
        get(self.address, self.protocol, path).ok()
    }

    /// The candidates with a 2xx response, each path once; others become questions if a source declares them. Failed
    /// candidates are tried again with values from earlier responses: the id of an item from the list of items.
    fn good(&self, candidates: Vec<Candidate>, prefixes: &BTreeSet<String>, questions: &mut Vec<String>) -> Vec<Good> {
        let mut tried = Tried::default();
        let mut failed: Vec<(Candidate, String, String)> = Vec::new();
        for candidate in candidates {
            if let Some((path, said)) = self.first_good(&candidate, prefixes, &mut tried) {
                failed.push((candidate, path, said));
            }
        }
        let values = values(&tried.good);
        for (candidate, path, said) in failed {
            let again = Candidate {
                paths: with_values(&candidate.template, &values),
                why: format!("{}, with a value from another response", candidate.why),
                template: candidate.template,
            };
            let helped = !again.paths.is_empty() && self.first_good(&again, prefixes, &mut tried).is_none();
            if !helped && candidate.why != USUAL {
                questions.push(format!(
                    "GET {path} answered {said} ({}): {}",
                    candidate.why,
                    needs(&said)
                ));
            }
        }
        if tried.requests >= MOST_REQUESTS {
            questions.push(format!(
                "{MOST_REQUESTS} requests were made; further routes were not asked for: which are to be measured?"
            ));
        }
        tried.good
    }

    /// Requests each path of a candidate, then the same below each prefix, and returns the first with a 2xx response;
    /// otherwise the declared path with its response. `None` if the path was requested before.
    fn first_good(
        &self,
        candidate: &Candidate,
        prefixes: &BTreeSet<String>,
        tried: &mut Tried,
    ) -> Option<(String, String)> {
        let declared = candidate.paths.iter().map(|path| (path.clone(), true));
        let mounted = prefixes.iter().flat_map(|prefix| {
            let below = move |path: &String| (format!("{prefix}{}", path.trim_end_matches('/')), false);
            candidate.paths.iter().map(below)
        });
        let mut last: Option<(String, String)> = None;
        for (path, declared) in declared.chain(mounted) {
            if tried.requests >= MOST_REQUESTS {
                break;
            }
            if !tried.paths.insert(path.clone()) {
                if declared {
                    return None;
                }
                continue;
            }
            tried.requests += 1;
            let said = match get(self.address, self.protocol, &path) {
                Ok(answer) if is_good(answer.status) => {
                    let prefix = path.strip_suffix(candidate.paths[0].as_str()).unwrap_or_default();
                    tried.good.push(Good {
                        template: format!("{prefix}{}", candidate.template),
                        path,
                        why: candidate.why.clone(),
                        answer,
                        stable: true,
                    });
                    return None;
                }
                Ok(answer) => answer.status.to_string(),
                Err(error) => error.to_string(),
            };
            // The prefix is a guess: only the response of the declared path is reported.
            if declared && last.as_ref().is_none_or(|(_, before)| before == "404") {
                last = Some((path, said));
            }
        }
        last
    }

    /// Repeats each request, with pauses, and marks those whose response differs.
    fn repeat(&self, good: &mut [Good]) {
        for _ in 0..REPEATS {
            std::thread::sleep(PAUSE);
            for one in good.iter_mut() {
                let again = self.get(&one.path);
                let same =
                    again.is_some_and(|again| again.status == one.answer.status && again.body == one.answer.body);
                one.stable &= same;
            }
        }
    }
}

/// The question for the user, by the response's status.
fn needs(said: &str) -> &'static str {
    match said {
        "401" | "403" => "which header does it need? Declare the operation with headers = [\"authorization: …\"]",
        "400" | "404" | "422" => "which path or query does it take?",
        "405" => "which method does it take?",
        _ if said.starts_with('3') => "where does it lead?",
        _ if said.starts_with('5') => "what does it need beside it, such as a database? That can be declared as a tier",
        _ => "does it end by itself? A stream is not measured",
    }
}

fn readiness(good: &[Good], seen: &mut Seen) {
    if matches!(seen.server.ready, Ready::GrpcHealth(_)) && seen.because.contains_key("ready") {
        return;
    }
    let health = good.iter().find(|one| HEALTH.is_match(&one.path));
    let Some(page) = health.or(good.iter().find(|one| one.path == "/")).or(good.first()) else {
        seen.because.insert("ready", "it takes connections".into());
        return;
    };
    let words = format!("GET {} answered {} ({})", page.path, page.answer.status, page.why);
    seen.because.insert("ready", words);
    seen.server.ready = Ready::Http(page.path.clone());
}

fn declare(one: Good, seen: &mut Seen) {
    let known = seen.server.operations.values();
    let declared = known
        .filter(|operation| matches!(operation, Operation::Http(_)))
        .count();
    let about = HEALTH.is_match(&one.path) || ABOUT.is_match(&one.path);
    if declared >= MOST || (about && declared > 0) {
        seen.more.push(format!("GET {}", one.path));
        return;
    }
    let mut taken = seen.operations.keys().cloned().collect();
    let name = Some(slug(&one.template)).filter(|name| !name.is_empty());
    let name = free(name.as_deref().unwrap_or("home"), &mut taken);
    let length = one.answer.body.len();
    let body = String::from_utf8(one.answer.body)
        .ok()
        .filter(|body| one.stable && body.len() <= LONGEST_BODY);
    let expect = match (&body, one.stable) {
        (Some(_), _) => format!("the same {length} bytes in {} responses", REPEATS + 1),
        (None, false) => "the body differs between responses, so only the status is checked".into(),
        (None, true) => format!("{length} bytes, too long to be written here or no text: only the status is checked"),
    };
    seen.operations.insert(
        name.clone(),
        Because {
            request: one.why,
            expect,
        },
    );
    let operation = HttpOperation::new("GET", one.path, one.answer.status, body);
    seen.server.operations.insert(name, Operation::Http(operation));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(path: &str, body: &str) -> Good {
        Good {
            template: path.into(),
            path: path.into(),
            why: "a.rs:1".into(),
            answer: WireResponse {
                status: 200,
                body: body.into(),
                grpc: None,
                fault: None,
            },
            stable: true,
        }
    }

    #[test]
    fn values_for_parameters_come_from_other_responses() {
        let list = good(
            "/cities",
            r#"[{"name":"Lviv","id":7,"tags":[{"tag":"old"}],"about":"a b"}]"#,
        );
        let found = values(&[list]);
        assert_eq!(with_values("/cities/{name}", &found), ["/cities/Lviv"]);
        assert_eq!(with_values("/cities/{city_id}", &found), ["/cities/7"]);
        assert_eq!(with_values("/tags/{tag}", &found), ["/tags/old"]);
        assert_eq!(with_values("/x/{about}", &found), [""; 0]);
        assert_eq!(with_values("/x/{id}/{name}", &found), [""; 0]);
    }

    #[test]
    fn work_goes_before_pages_about_the_server() {
        let mut pages = [
            good("/metrics", "x"),
            good("/", "x"),
            good("/health", "ok"),
            good("/items", "[]"),
        ];
        pages.sort_by_key(rank);
        let order: Vec<&str> = pages.iter().map(|page| page.path.as_str()).collect();
        assert_eq!(order, ["/items", "/", "/metrics", "/health"]);
    }

    #[test]
    fn a_status_says_what_to_find_out() {
        assert!(needs("401").contains("header") && needs("422").contains("query") && needs("503").contains("tier"));
        assert_eq!(openapi_spelling("/a/<int:id>/:name/{x:[0-9]+}"), "/a/{id}/{name}/{x}");
    }
}
