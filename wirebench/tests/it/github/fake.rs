//! A GitHub API on loopback: it answers from what a test puts into it, checks the token, keeps every request, and fails
//! when it is told to. A second address, for downloads, must never see the token.

use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// The repository's owner and name, and the token it takes.
pub(crate) const REPOSITORY: &str = "octo/weather";
pub(crate) const REPOSITORY_ID: u64 = 9000;
pub(crate) const TOKEN: &str = "ghs_0123456789secret";

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// Below the repository, without its query: `/pulls/7`; of downloads, the whole path.
    pub(crate) path: String,
    pub(crate) query: HashMap<String, String>,
    pub(crate) body: Value,
    /// Whether it came to the address for downloads.
    pub(crate) download: bool,
}

/// What goes wrong, before anything is looked up.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) method: &'static str,
    /// What the path ends with.
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
    /// How often it goes wrong still.
    pub(crate) times: u32,
    /// Whether the thing is done all the same.
    pub(crate) done: bool,
}

impl Failure {
    pub(crate) fn new(method: &'static str, path: &str, status: u16, times: u32) -> Self {
        Self {
            method,
            path: path.to_owned(),
            status,
            headers: Vec::new(),
            body: json!({ "message": "made to fail" }),
            times,
            done: false,
        }
    }
}

/// Everything the API knows, in the shapes of GitHub's own answers.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) runs: Vec<Value>,
    /// Of every head; the query's `head` is honoured.
    pub(crate) pulls: Vec<Value>,
    pub(crate) files: BTreeMap<u64, Vec<Value>>,
    pub(crate) artifacts: BTreeMap<u64, Vec<Value>>,
    /// Bytes by the artifact's number.
    pub(crate) archives: BTreeMap<u64, Vec<u8>>,
    pub(crate) comments: BTreeMap<u64, Vec<Value>>,
    pub(crate) checks: Vec<Value>,
    pub(crate) permissions: BTreeMap<String, &'static str>,
    pub(crate) reactions: Vec<(u64, String)>,
    pub(crate) reruns: Vec<u64>,
    pub(crate) failures: Vec<Failure>,
    asked: Vec<Asked>,
    wrong: Vec<String>,
    downloads: String,
}

type Shared = Arc<Mutex<Known>>;

/// The API while it runs.
pub(crate) struct Fake {
    /// For `GITHUB_API_URL`.
    pub(crate) url: String,
    known: Shared,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    /// Starts it with nothing known.
    pub(crate) fn start() -> Self {
        let known = Shared::default();
        let (told, address) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let state = Arc::clone(&known);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listen = || tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
                let (api, downloads) = (listen().await.unwrap(), listen().await.unwrap());
                state.lock().unwrap().downloads = format!("http://{}", downloads.local_addr().unwrap());
                told.send(api.local_addr().unwrap()).unwrap();
                let answers = Router::new().fallback(answer).with_state(Arc::clone(&state));
                let bytes = Router::new().fallback(download).with_state(state);
                tokio::spawn(async { axum::serve(api, answers).await.unwrap() });
                tokio::spawn(async { axum::serve(downloads, bytes).await.unwrap() });
                let _ = stopped.await;
            });
        });
        Self {
            url: format!("http://{}", address.recv().unwrap()),
            known,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// What it knows, to be looked at and changed.
    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap()
    }

    /// Every request so far.
    pub(crate) fn requests(&self) -> Vec<Asked> {
        self.known().asked.clone()
    }

    /// Every request that would have changed something.
    pub(crate) fn writes(&self) -> Vec<Asked> {
        self.requests()
            .into_iter()
            .filter(|asked| asked.method != "GET")
            .collect()
    }

    /// Requests without the right token, and downloads with it.
    pub(crate) fn wrong(&self) -> Vec<String> {
        self.known().wrong.clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn reply(status: u16, body: &Value) -> Response {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

fn missing() -> Response {
    reply(404, &json!({ "message": "Not Found" }))
}

async fn asked(request: Request, download: bool) -> (HeaderMap, Asked) {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, 10 << 20).await.unwrap();
    let query = parts
        .uri
        .query()
        .unwrap_or_default()
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    let path = parts.uri.path();
    let below = path.strip_prefix(&format!("/repos/{REPOSITORY}")).unwrap_or(path);
    let asked = Asked {
        method: parts.method.to_string(),
        path: below.to_owned(),
        query: query.map(|(name, value)| (name.to_owned(), unescaped(value))).collect(),
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
        download,
    };
    (parts.headers, asked)
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let hex: Vec<u8> = rest.by_ref().take(2).collect();
            bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

async fn download(State(known): State<Shared>, request: Request) -> Response {
    let (headers, asked) = asked(request, true).await;
    let mut known = known.lock().unwrap();
    if headers.contains_key(header::AUTHORIZATION) {
        known.wrong.push(format!("the token went to {}", asked.path));
    }
    let id = asked.path.rsplit('/').next().and_then(|id| id.parse().ok());
    known.asked.push(asked);
    match id.and_then(|id: u64| known.archives.get(&id)) {
        Some(bytes) => Response::new(Body::from(bytes.clone())),
        None => missing(),
    }
}

async fn answer(State(known): State<Shared>, request: Request) -> Response {
    let (headers, asked) = asked(request, false).await;
    let mut known = known.lock().unwrap();
    known.asked.push(asked.clone());
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if token != Some(&format!("Bearer {TOKEN}")) {
        known
            .wrong
            .push(format!("{} {} without the token", asked.method, asked.path));
        return reply(401, &json!({ "message": "Bad credentials" }));
    }
    for name in ["accept", "x-github-api-version", "user-agent"] {
        if !headers.contains_key(name) {
            known
                .wrong
                .push(format!("{} {} without {name}", asked.method, asked.path));
        }
    }
    let fails = |failure: &&mut Failure| {
        failure.times > 0 && failure.method == asked.method && asked.path.ends_with(&failure.path)
    };
    let failure = known.failures.iter_mut().find(fails).map(|failure| {
        failure.times -= 1;
        failure.clone()
    });
    let Some(failure) = failure else {
        return known.answer(&asked);
    };
    if failure.done {
        drop(known.answer(&asked));
    }
    let mut response = reply(failure.status, &failure.body);
    for (name, value) in failure.headers {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}

impl Known {
    fn answer(&mut self, asked: &Asked) -> Response {
        let parts: Vec<&str> = asked.path.trim_start_matches('/').split('/').collect();
        let number = |text: &str| text.parse::<u64>().unwrap_or_default();
        let method: Method = asked.method.parse().unwrap();
        match (method.as_str(), &parts[..]) {
            ("GET", [""]) => reply(200, &repository(REPOSITORY_ID, REPOSITORY)),
            ("GET", ["actions", "runs", id]) => by_id(&self.runs, "id", number(id)),
            ("GET", ["actions", "runs", id, "artifacts"]) => {
                let all = self.artifacts.get(&number(id)).cloned().unwrap_or_default();
                reply(200, &json!({ "total_count": all.len(), "artifacts": page(asked, all) }))
            }
            ("GET", ["actions", "artifacts", id, "zip"]) => {
                let to = format!("{}/blob/{id}", self.downloads);
                let mut response = reply(302, &Value::Null);
                response.headers_mut().insert(header::LOCATION, to.parse().unwrap());
                response
            }
            ("GET", ["actions", "workflows", _, "runs"]) => {
                let fits = |run: &Value| {
                    let same = |key: &str| asked.query.get(key).is_none_or(|wanted| run[key] == **wanted);
                    same("head_sha") && same("event")
                };
                let all: Vec<Value> = self.runs.iter().filter(|run| fits(run)).cloned().collect();
                reply(
                    200,
                    &json!({ "total_count": all.len(), "workflow_runs": page(asked, all) }),
                )
            }
            ("POST", ["actions", "runs", id, "rerun"]) => {
                self.reruns.push(number(id));
                reply(201, &json!({}))
            }
            ("GET", ["pulls"]) => {
                let fits = |pull: &Value| {
                    let (owner, branch) = (&pull["head"]["user"]["login"], &pull["head"]["ref"]);
                    let head = format!("{}:{}", owner.as_str().unwrap(), branch.as_str().unwrap());
                    let state = asked.query.get("state").map_or("open", String::as_str);
                    asked.query.get("head").is_none_or(|wanted| *wanted == head) && pull["state"] == state
                };
                let all = self.pulls.iter().filter(|pull| fits(pull)).cloned().collect();
                reply(200, &page(asked, all))
            }
            ("GET", ["pulls", id]) => by_id(&self.pulls, "number", number(id)),
            ("GET", ["pulls", id, "files"]) => reply(
                200,
                &page(asked, self.files.get(&number(id)).cloned().unwrap_or_default()),
            ),
            ("GET", ["collaborators", login, "permission"]) => {
                let permission = self.permissions.get(*login).copied().unwrap_or("read");
                reply(
                    200,
                    &json!({ "permission": permission, "role_name": permission, "user": { "login": login } }),
                )
            }
            (_, ["issues" | "check-runs" | "commits", ..]) => self.said(asked, &method, &parts),
            _ => missing(),
        }
    }

    /// Comments, reactions and check runs.
    fn said(&mut self, asked: &Asked, method: &Method, parts: &[&str]) -> Response {
        let number = |text: &str| text.parse::<u64>().unwrap_or_default();
        match (method.as_str(), parts) {
            ("GET", ["issues", id, "comments"]) => reply(
                200,
                &page(asked, self.comments.get(&number(id)).cloned().unwrap_or_default()),
            ),
            ("POST", ["issues", id, "comments"]) => {
                let all = self.comments.entry(number(id)).or_default();
                let mut made = comment(70_000 + all.len() as u64, "github-actions[bot]", "Bot", "");
                made["body"] = asked.body["body"].clone();
                all.push(made.clone());
                reply(201, &made)
            }
            ("PATCH", ["issues", "comments", id]) => {
                let mut all = self.comments.values_mut().flatten();
                match all.find(|comment| comment["id"] == number(id)) {
                    Some(comment) => {
                        comment["body"] = asked.body["body"].clone();
                        reply(200, comment)
                    }
                    None => missing(),
                }
            }
            ("POST", ["issues", "comments", id, "reactions"]) => {
                self.reactions.push((
                    number(id),
                    asked.body["content"].as_str().unwrap_or_default().to_owned(),
                ));
                reply(201, &json!({ "id": 1 }))
            }
            ("GET", ["commits", sha, "check-runs"]) => {
                let fits = |check: &&Value| check["head_sha"] == *sha && check["name"] == asked.query["check_name"];
                let all: Vec<Value> = self.checks.iter().filter(fits).cloned().collect();
                reply(
                    200,
                    &json!({ "total_count": all.len(), "check_runs": page(asked, all) }),
                )
            }
            ("POST", ["check-runs"]) => {
                let mut made = asked.body.clone();
                made["id"] = json!(80_000 + self.checks.len());
                made["app"] = json!({ "slug": "github-actions" });
                made["output"]["annotations_count"] = json!(made["output"]["annotations"].as_array().unwrap().len());
                self.checks.push(made.clone());
                reply(201, &made)
            }
            ("PATCH", ["check-runs", id]) => match self.checks.iter_mut().find(|check| check["id"] == number(id)) {
                Some(check) => {
                    for (key, value) in asked.body.as_object().unwrap() {
                        check[key] = value.clone();
                    }
                    reply(200, check)
                }
                None => missing(),
            },
            _ => missing(),
        }
    }
}

fn by_id(all: &[Value], key: &str, id: u64) -> Response {
    all.iter()
        .find(|one| one[key] == id)
        .map_or_else(missing, |one| reply(200, one))
}

fn page(asked: &Asked, all: Vec<Value>) -> Value {
    let of = |key: &str, otherwise: usize| asked.query.get(key).and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let size: usize = of("per_page", 30).min(100);
    all.into_iter().skip((of("page", 1) - 1) * size).take(size).collect()
}

/// A repository as GitHub shows it.
pub(crate) fn repository(id: u64, full_name: &str) -> Value {
    let owner = full_name.split('/').next().unwrap();
    json!({ "id": id, "full_name": full_name, "owner": { "login": owner, "type": "User" } })
}

/// A comment as GitHub shows it.
pub(crate) fn comment(id: u64, author: &str, kind: &str, body: &str) -> Value {
    json!({
        "id": id, "body": body, "user": { "login": author, "type": kind },
        "created_at": "2026-11-21T10:00:00Z", "author_association": "NONE",
    })
}
