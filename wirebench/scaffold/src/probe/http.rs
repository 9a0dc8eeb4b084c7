//! Requests the routes of a running HTTP server's sources and OpenAPI document, and declares those with a good
//! response.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::Value;

use super::candidates::{Candidate, GivenRequest, USUAL, candidates, each_or_all, values, with_values};
use super::speak::{PATIENCE, get, redirect};
use super::start::Supervised;
use super::{ProbedServer, tells_of_this_machine};
use crate::files::{Files, pattern};
use crate::known::KNOWN;
use crate::program::{Program, name_of_path};
use crate::routes::{self, Route};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::{HttpOperation, Operation, Ready};
use wirebench_engine::measure::probe::send;
use wirebench_engine::measure::wire::{WireRequest, WireResponse};

/// Operations that are measured; more only cost time.
const MOST: usize = 3;
/// The most requests.
const MOST_REQUESTS: usize = 300;
/// A longer body is not written into the declaration, which would have to change with every edit of a page.
const LONGEST_BODY: usize = 300;
/// How often a request is repeated, with this pause, to check that its response is always the same.
const REPEATS: usize = 3;
const PAUSE: Duration = Duration::from_millis(400);
/// Lengths of responses that differ by more than this part of the longest say nothing of a change.
const LENGTHS_DIFFER_BY: usize = 100;
/// A response that takes longer, each time, waits rather than works; others go before it.
const SLOW: Duration = Duration::from_millis(100);
/// What a request answered that ended the server.
const ENDED: &str = "nothing: it ended the server";
/// A path that should not exist.
const UNKNOWN_PATH: &str = "/wirebench-asks-for-nothing";
/// The routes to request, and the prefixes below which they may be mounted.
pub(super) type KnownRoutes = (Vec<Route>, BTreeSet<String>);

/// The routes that the server printed at its start; otherwise those of the program's sources.
pub(super) fn known_routes(output: &str, files: &Files, program: &Program) -> KnownRoutes {
    let (printed, sources) = (routes::printed(output), &program.sources);
    if printed.is_empty() {
        (routes::of(files, sources), routes::prefixes(files, sources))
    } else {
        (printed, BTreeSet::new())
    }
}

/// A request with a good response.
struct Good {
    template: String,
    request: WireRequest,
    /// Whether the user gave it.
    given: bool,
    why: String,
    answer: WireResponse,
    /// Whether every repetition was the same.
    stable: bool,
    /// The shortest and the longest body, bytes.
    lengths: (usize, usize),
    /// Whether it repeats what only this machine knows.
    local: bool,
    /// The shortest time of its responses.
    took: Duration,
}

impl Good {
    fn new(template: String, request: WireRequest, why: String, answer: WireResponse, took: Duration) -> Self {
        Self {
            template,
            request,
            given: false,
            why,
            stable: true,
            lengths: (answer.body.len(), answer.body.len()),
            local: tells_of_this_machine(&String::from_utf8_lossy(&answer.body)),
            answer,
            took,
        }
    }

    fn path(&self) -> &str {
        &self.request.path
    }
}

/// True for health checks and pages about the server.
fn is_about(one: &Good) -> bool {
    KNOWN.health.is_match(one.path()) || KNOWN.about_server.is_match(one.path())
}

/// Sends the requests, declares operations and readiness, and records open questions.
pub(super) fn probe(
    (routes, prefixes): &KnownRoutes,
    supervised: &Supervised,
    protocol: Protocol,
    probed: &mut ProbedServer,
) {
    let mut http = HttpProbe {
        supervised,
        protocol,
        prefixes,
        good: Vec::new(),
        paths: BTreeSet::new(),
        pages: BTreeMap::new(),
    };
    let any_path = http.get_good(UNKNOWN_PATH);
    // A server that ends when it does not know a path is only asked for those that it should know.
    let may_guess = supervised.last_words().is_none();
    let get = |path: &str| may_guess.then(|| http.get_good(path)).flatten();
    let redirect = redirect(&supervised.address());
    let given = supervised.launcher.context.given;
    let is_given = |one: &Route| {
        let mut given = given.iter();
        given.any(|given| (&given.method, &given.path) == (&one.method, &one.path))
    };
    let others: Vec<Route> = routes.iter().filter(|one| !is_given(one)).cloned().collect();
    let mut candidates = candidates(&others, redirect, get, &mut probed.questions);
    candidates.retain(|one| may_guess || one.why != USUAL || one.template == "/");
    http.try_all(candidates, &mut probed.questions);
    let mut good = std::mem::take(&mut http.good);
    // If a server responds to any path with the same page, a response does not show that the path exists; `/` always does, unless
    // the page is empty.
    let same_page = |one: &Good| any_path.as_ref().is_some_and(|page| page.body == one.answer.body);
    let home_has_it = good.iter().any(|one| one.path() == "/" && same_page(one));
    let is_guess = |one: &Good| one.path() != "/" && (one.why == USUAL || home_has_it);
    good.retain(|one| !(same_page(one) && (one.answer.body.is_empty() || is_guess(one))));
    good.extend(
        given
            .iter()
            .filter_map(|one| http.good_given(one, &mut probed.questions)),
    );
    http.repeat(&mut good);
    readiness(&good, probed);
    order(&mut good);
    let mut pages: BTreeSet<Vec<u8>> = BTreeSet::new();
    for one in good {
        if !one.given && one.answer.body.len() > LONGEST_BODY && !pages.insert(one.answer.body.clone()) {
            // A page that is there already, such as that of every path which only the browser knows.
            probed.more.push(format!("GET {}", one.path()));
        } else {
            declare(one, probed);
        }
    }
}

/// Puts those first that are declared: what the user gave, then the others. Users expect to see `/`, so it is among them, unless
/// something is wrong with it.
fn order(good: &mut [Good]) {
    good.sort_by_key(rank);
    let home = |one: &Good| rank(one) == (false, false, false, false, true);
    if let Some(home) = good.iter().position(home).filter(|place| *place >= MOST) {
        good[MOST - 1..=home].rotate_right(1);
    }
    good.sort_by_key(|one| !one.given);
}

/// The order of operations: work before pages about the server, but responses at once before those that wait; repeatable
/// ones before others, longer paths before `/`.
fn rank(one: &Good) -> (bool, bool, bool, bool, bool) {
    (
        one.took > SLOW,
        is_about(one),
        !one.stable || one.local,
        one.answer.body.is_empty(),
        one.path() == "/",
    )
}

/// A short page with a good status may say that the server lacks something: a configuration, a database.
fn is_good(response: &WireResponse) -> bool {
    static LACKS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)(?:^|>|\n)\s*(?:cannot find|could not (?:find|open|connect)|unable to (?:connect|open|load)|fatal error:|uncaught \w+)",
        )
    });
    const SHORT: usize = 2000;
    let text = String::from_utf8_lossy(&response.body);
    (200..300).contains(&response.status) && !(text.len() <= SHORT && LACKS.is_match(&text))
}

/// Whether a body is a list without items, as of a store that nobody filled, also beside numbers of items and the like.
fn lacks_items(body: &str) -> bool {
    let is_empty_list = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    let tells_nothing = |value: &Value| value.is_null() || value.is_boolean() || value.as_u64() == Some(0);
    match serde_json::from_str(body) {
        Ok(Value::Object(all)) => {
            all.values().any(is_empty_list) && all.values().all(|value| is_empty_list(value) || tells_nothing(value))
        }
        read => read.is_ok_and(|value| is_empty_list(&value)),
    }
}

/// The question about an answer without items.
pub(super) fn about_empty(request: &str) -> String {
    format!("{request} answers with an empty list: is it to be measured with data? Then fill its store first")
}

/// What `/` answered, for a server without a good response: its status and the beginning of a text.
pub(super) fn answer_of_root(address: &str, protocol: Protocol) -> String {
    const SHOWN: usize = 120;
    let Ok(response) = get(address, protocol, "/") else {
        return String::new();
    };
    static TAG: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?s)<(?:style|script)\b.*?</(?:style|script)>|<[^>]*>|[[:cntrl:]]"));
    let text = String::from_utf8_lossy(&response.body).into_owned();
    let words = TAG
        .replace_all(&text, " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let words: String = words.chars().take(SHOWN).collect();
    let words = if words.is_empty() { "an empty page" } else { &words };
    format!("; GET / answered {}: {words}", response.status)
}

/// A running server, the protocol that it is asked in, and the requests so far.
struct HttpProbe<'a> {
    supervised: &'a Supervised<'a>,
    protocol: Protocol,
    /// The prefixes below which routes may be mounted.
    prefixes: &'a BTreeSet<String>,
    good: Vec<Good>,
    paths: BTreeSet<String>,
    /// The pages that were looked for below each prefix.
    pages: BTreeMap<String, Option<Vec<u8>>>,
}

impl HttpProbe<'_> {
    /// # Errors
    /// When there is no response, in words. A server that the request ended is started again.
    fn ask(&self, request: &WireRequest) -> Result<WireResponse, String> {
        let answer = send(&self.supervised.address(), request, PATIENCE);
        answer.map_err(|error| {
            if self.supervised.restart() {
                ENDED.to_owned()
            } else {
                error
            }
        })
    }

    fn get(&self, path: &str) -> WireRequest {
        WireRequest::get(self.protocol, path.into(), None)
    }

    /// # Errors
    /// What it answered instead of a good response, in words.
    fn ask_well(&self, request: &WireRequest) -> Result<WireResponse, String> {
        let answer = self.ask(request)?;
        if is_good(&answer) {
            Ok(answer)
        } else {
            Err(answer.status.to_string())
        }
    }

    fn get_good(&self, path: &str) -> Option<WireResponse> {
        self.ask_well(&self.get(path)).ok()
    }

    /// What the user gave, with its response; a question if that is not good.
    fn good_given(&self, given: &GivenRequest, questions: &mut Vec<String>) -> Option<Good> {
        let request = WireRequest {
            method: given.method.clone(),
            headers: given.headers(),
            body: given.body.clone().into_bytes(),
            ..self.get(&given.path)
        };
        let began = Instant::now();
        match self.ask_well(&request) {
            Ok(answer) => {
                let why = "given to init".to_owned();
                let method = if given.method == "GET" { "" } else { &given.method };
                let template = format!("{}{}", method.to_lowercase(), given.path);
                Some(Good {
                    given: true,
                    ..Good::new(template, request, why, answer, began.elapsed())
                })
            }
            Err(said) => {
                questions.push(format!("{given} answered {said}: {}", needs(&said)));
                None
            }
        }
    }

    /// Requests the candidates, each path once; those without a 2xx response become questions if a source declares them. Failed
    /// candidates are tried again with values from earlier responses: the id of an item from the list of items.
    fn try_all(&mut self, candidates: Vec<Candidate>, questions: &mut Vec<String>) {
        let mut failed: Vec<(Candidate, String, String)> = Vec::new();
        for candidate in candidates {
            if let Some((path, said)) = self.try_one(&candidate) {
                failed.push((candidate, path, said));
            }
        }
        let mut open = Vec::new();
        let values = values(self.good.iter().map(|one| one.answer.body.as_slice()));
        let given = self.supervised.launcher.context.given;
        for (candidate, path, said) in failed {
            // A server that knows other paths and not this one: the source is of another program of the repository.
            let is_of_another = said == "404" && path == candidate.template && !self.good.is_empty();
            // Its method is known.
            let is_given = ["405", "501"].contains(&said.as_str()) && given.iter().any(|given| given.path == path);
            let again = Candidate {
                paths: with_values(&candidate.template, &values),
                why: format!("{}, with a value from another response", candidate.why),
                declared: candidate.declared,
                template: candidate.template,
            };
            let helped = !again.paths.is_empty() && self.try_one(&again).is_none();
            if !helped && candidate.declared && !is_of_another && !is_given && !needs_no_question(&path, &said) {
                open.push((path, said, candidate.why));
            }
        }
        questions.extend(about_failed(&open));
        if self.paths.len() >= MOST_REQUESTS {
            questions.push(format!(
                "{MOST_REQUESTS} requests were made; further routes were not asked for: which are to be measured?"
            ));
        }
    }

    /// Whether every path below a prefix has this page.
    fn is_page_below(&mut self, prefix: &str, body: &[u8]) -> bool {
        if !self.pages.contains_key(prefix) {
            let page = self.get_good(&format!("{prefix}{UNKNOWN_PATH}"));
            self.pages.insert(prefix.to_owned(), page.map(|page| page.body));
        }
        self.pages[prefix].as_deref() == Some(body)
    }

    /// Requests each path of a candidate, then the same below each prefix, until one has a 2xx response. If none has, returns
    /// the declared path with its response, unless it was requested before.
    fn try_one(&mut self, candidate: &Candidate) -> Option<(String, String)> {
        let declared = candidate.paths.iter().map(|path| (path.clone(), ""));
        let prefixes = self.prefixes.iter().map(String::as_str);
        let mounted = prefixes.flat_map(|prefix| {
            let below = candidate.paths.iter().flat_map(move |path| mounted(prefix, path));
            below.map(move |path| (path, prefix))
        });
        let mut last: Option<(String, String)> = None;
        for (path, prefix) in declared.chain(mounted) {
            // A prefix is a guess.
            let declared = prefix.is_empty();
            if self.paths.len() >= MOST_REQUESTS {
                break;
            }
            if !self.paths.insert(path.clone()) {
                if declared {
                    return None;
                }
                continue;
            }
            let began = Instant::now();
            let request = self.get(&path);
            match self.ask_well(&request) {
                Ok(answer) if !declared && self.is_page_below(prefix, &answer.body) => {}
                Ok(answer) => {
                    let template = format!("{prefix}{}", candidate.template);
                    let good = Good::new(template, request, candidate.why.clone(), answer, began.elapsed());
                    self.good.push(good);
                    return None;
                }
                // Only the response of the declared path is reported.
                Err(said) if declared && last.as_ref().is_none_or(|(_, before)| before == "404") => {
                    last = Some((path, said));
                }
                Err(_) => {}
            }
        }
        last
    }

    /// Repeats each request, with pauses, and marks those whose response differs.
    fn repeat(&self, good: &mut [Good]) {
        for _ in 0..REPEATS {
            std::thread::sleep(PAUSE);
            for one in good.iter_mut() {
                let began = Instant::now();
                let Ok(again) = self.ask(&one.request) else {
                    one.stable = false;
                    continue;
                };
                one.took = one.took.min(began.elapsed());
                let length = again.body.len();
                one.lengths = (one.lengths.0.min(length), one.lengths.1.max(length));
                one.stable &= again.status == one.answer.status && again.body == one.answer.body;
            }
        }
    }
}

/// A path below a prefix; with and without its last slash, because routers differ in which of the two they redirect.
fn mounted(prefix: &str, path: &str) -> Vec<String> {
    let bare = format!("{prefix}{}", path.trim_end_matches('/'));
    let with_slash = path.ends_with('/').then(|| format!("{prefix}{path}"));
    std::iter::once(bare).chain(with_slash).collect()
}

/// True if a path that did not answer a GET well leads elsewhere, is a gRPC service, or takes WebSocket connections, which are
/// not measured.
fn needs_no_question(path: &str, said: &str) -> bool {
    static SERVICE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^/(?:\w+\.)+[A-Z]\w*(?:/|$)"));
    static SOCKET: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)/(?:ws|wss|websockets?|sockets?|socket\.io)\b"));
    // Where a redirect leads is a candidate of its own, or on another server.
    said.starts_with('3') || SERVICE.is_match(path) || said == "426" || (said == "400" && SOCKET.is_match(path))
}

/// The questions about routes without a good response.
fn about_failed(open: &[(String, String, String)]) -> Vec<String> {
    let named = open.iter().map(|(path, said, _)| format!("{path} ({said})"));
    let question =
        |(path, said, why): &(String, String, String)| format!("GET {path} answered {said} ({why}): {}", needs(said));
    each_or_all(named, open.iter().map(question), |many, list| {
        format!(
            "GET of {many} routes had no good response: are some of them to be measured? Then declare them with what they need: {list}"
        )
    })
}

/// The question for the user, by the response's status.
fn needs(said: &str) -> &'static str {
    match said {
        "401" | "403" => "which header does it need? Declare the operation with headers = [\"authorization: …\"]",
        "400" | "404" | "422" => "which path or query does it take?",
        "405" | "501" => "which method does it take?",
        "429" => "it limits the requests of a client: which setting raises the limit?",
        // With 2xx, the page says that something is missing.
        _ if said.starts_with(['2', '5']) || said == ENDED => {
            "what does it need beside it, such as a database? That can be declared as a tier"
        }
        _ => "does it end by itself? A stream is not measured",
    }
}

fn readiness(good: &[Good], probed: &mut ProbedServer) {
    if matches!(probed.server.front.ready, Ready::GrpcHealth(_)) && probed.evidence.contains_key("ready") {
        return;
    }
    let pages = || good.iter().filter(|one| one.request.method == "GET");
    let health = pages().find(|one| KNOWN.health.is_match(one.path()));
    let Some(page) = (health.or(pages().find(|one| one.path() == "/"))).or(pages().next()) else {
        probed.evidence.insert("ready", "it takes connections".into());
        return;
    };
    let words = format!("GET {} answered {} ({})", page.path(), page.answer.status, page.why);
    probed.evidence.insert("ready", words);
    probed.server.front.ready = Ready::Http(page.path().to_owned());
}

fn declare(one: Good, probed: &mut ProbedServer) {
    let known = probed.server.operations.values();
    let declared = known.filter(|one| matches!(one, Operation::Http(_))).count();
    if !one.given && (declared >= MOST || (is_about(&one) && declared > 0)) {
        probed.more.push(format!("GET {}", one.path()));
        return;
    }
    let length = one.answer.body.len();
    let is_kept = one.stable && !one.local && length <= LONGEST_BODY;
    let body = String::from_utf8(one.answer.body).ok().filter(|_| is_kept);
    let expect = match (&body, one.stable) {
        _ if one.local => {
            "the body has the name of this machine or a value of its environment, so only the status is checked".into()
        }
        (Some(_), _) => format!("the same {length} bytes in {} responses", REPEATS + 1),
        (None, false) => "the body differs between responses, so only the status is checked".into(),
        (None, true) => format!("{length} bytes, too long to be written here or no text: only the status is checked"),
    };
    let request = one.request;
    let sent = format!("{} {}", request.method, request.path);
    if body.as_deref().is_some_and(lacks_items) {
        probed.questions.push(about_empty(&sent));
    }
    let (shortest, longest) = one.lengths;
    if (longest - shortest) * LENGTHS_DIFFER_BY > longest {
        probed.varies = Some(format!("the body of {sent} had {shortest} to {longest} bytes"));
    }
    let operation = HttpOperation {
        headers: request.headers,
        body: String::from_utf8(request.body).ok().filter(|sent| !sent.is_empty()),
        ..HttpOperation::new(&request.method, request.path, one.answer.status, body)
    };
    let name = name_of_path(&one.template);
    probed.declare(&name, Operation::Http(operation), one.why, expect);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(path: &str, body: &str) -> Good {
        let request = WireRequest::get(Protocol::Http, path.into(), None);
        let answer = WireResponse {
            status: 200,
            body: body.into(),
            grpc: None,
            fault: None,
        };
        Good::new(path.into(), request, "a.rs:1".into(), answer, Duration::from_millis(1))
    }

    #[test]
    fn a_response_that_waits_goes_last() {
        let mut pages = [good("/delay/1", "x"), good("/get", "x"), good("/health", "ok")];
        pages[0].took = Duration::from_secs(1);
        pages.sort_by_key(rank);
        assert_eq!(pages.each_ref().map(Good::path), ["/get", "/health", "/delay/1"]);
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
        let order: Vec<&str> = pages.iter().map(Good::path).collect();
        assert_eq!(order, ["/items", "/", "/metrics", "/health"]);
    }

    #[test]
    fn the_first_page_is_among_those_that_are_declared() {
        let ordered = |pages: &[(&str, &str)]| -> Vec<String> {
            let mut pages: Vec<Good> = pages.iter().map(|(path, body)| good(path, body)).collect();
            order(&mut pages);
            pages.into_iter().map(|page| page.request.path).collect()
        };
        let many = [("/", "x"), ("/a", "x"), ("/b", "x"), ("/c", "x"), ("/d", "x")];
        assert_eq!(ordered(&many), ["/a", "/b", "/", "/c", "/d"]);
        assert_eq!(ordered(&many[..3]), ["/a", "/b", "/"]);
        let empty = [&[("/", "")], &many[1..]].concat();
        assert_eq!(ordered(&empty), ["/a", "/b", "/c", "/d", "/"]);
    }

    #[test]
    fn a_list_without_items_is_empty_and_an_item_is_not() {
        for body in [
            "[]",
            "{\"articles\":[],\"count\":0}",
            "{ \"total\": 0, \"items\": [ ] }\n",
        ] {
            assert!(lacks_items(body), "{body}");
        }
        for body in [
            "{}",
            "[1]",
            "{\"ok\":true}",
            "{\"name\":\"x\",\"tags\":[]}",
            "{\"errors\":[],\"data\":{\"a\":1}}",
        ] {
            assert!(!lacks_items(body), "{body}");
        }
    }

    #[test]
    fn a_path_below_a_prefix_is_tried_with_and_without_its_slash() {
        assert_eq!(mounted("/api/ping", "/"), ["/api/ping", "/api/ping/"]);
        assert_eq!(mounted("/api", "/users"), ["/api/users"]);
    }

    #[test]
    fn a_page_that_says_what_is_missing_is_no_good_response() {
        let is_good = |body: &str| is_good(&good("/", body).answer);
        assert!(is_good("Hello") && is_good("<p>You may find what you could not find elsewhere"));
        assert!(!is_good("Cannot find config.php. Please read the readme.html"));
        assert!(!is_good("<br />\n<b>Fatal error: </b> Uncaught PDOException"));
        assert!(
            is_good(&format!("{}\nUnable to connect", "text ".repeat(500))),
            "a page about it"
        );
    }

    #[test]
    fn a_status_says_what_to_find_out() {
        assert!(needs("401").contains("header") && needs("422").contains("query"));
        assert!(needs("503").contains("tier") && needs("200").contains("tier"));
    }
}
