//! A GitHub API on loopback: it answers from what a test puts into it, checks the token, keeps every request, and fails
//! when it is told to. A second address, for downloads, must never see the token.

mod answers;

use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::github::fake::answers::{missing, reply};

/// The repository's owner and name, and the token it takes.
pub(crate) const REPOSITORY: &str = "octo/weather";
pub(crate) const REPOSITORY_ID: u64 = 9000;
/// As long as those that GitHub makes, which are JSON web tokens of about 520 characters.
pub(crate) const TOKEN: &str = concat!(
    "ghs_made_up_secret_header_0123456789.",
    "made_up_secret_payload_0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789",
    "-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789.",
    "made_up_secret_signature_0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789",
    "-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789",
    "-0123456789-0123456789-0123456789-0123",
);

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

    /// One POST that is done, although its response is an error, or (201) is cut off.
    pub(crate) fn lost(path: &str, status: u16) -> Self {
        let mut failure = Self::new("POST", path, status, 1);
        failure.done = true;
        if status == 201 {
            failure.headers = vec![("content-length", "5000".into())];
        }
        failure
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
    /// Jobs of a run.
    pub(crate) jobs: BTreeMap<u64, Vec<Value>>,
    /// Bytes by the artifact's number.
    pub(crate) archives: BTreeMap<u64, Vec<u8>>,
    pub(crate) comments: BTreeMap<u64, Vec<Value>>,
    /// Events of a pull request, by its number.
    pub(crate) timeline: BTreeMap<u64, Vec<Value>>,
    pub(crate) checks: Vec<Value>,
    pub(crate) issues: Vec<Value>,
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
