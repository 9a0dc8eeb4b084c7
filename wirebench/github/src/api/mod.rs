//! A client of GitHub's API with limits: on the size of responses, on retries and waiting, and the token is sent to one
//! host only.

mod error;

use std::io::Read as _;
use std::thread::sleep;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::Request;
use ureq::{Agent, Body, SendBody};

use crate::access::{Access, is_loopback};
pub use crate::api::error::{ApiError, Repeat};
use crate::api::error::{RESPONSE_WITHIN, Response, advice, message, no_response, wait_before_retry};
use crate::names::log_safe;

/// The most attempts of one request.
const TRIES: u32 = 5;
/// The most attempts to make something, with a look between them.
const MAKE_TRIES: u32 = 3;
/// The first wait between two tries; each next one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// A wait that GitHub asks for is kept up to this; a longer one is an error.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// The most time that one command waits in total.
const ALL_WAITS: Duration = Duration::from_secs(60);
/// The longest response that is read.
const LONGEST_RESPONSE: u64 = 16 * 1024 * 1024;
/// Entries on a page, the most that GitHub gives.
const PAGE: usize = 100;
/// Pages that are read of one list.
const PAGES: usize = 100;

/// An HTTP client for the API.
pub struct Api {
    access: Access,
    agent: Agent,
    waited: std::cell::Cell<Duration>,
}

impl Api {
    /// A client of the API at these addresses.
    pub fn new(access: Access) -> Self {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(RESPONSE_WITHIN))
            .user_agent(concat!("wirebench/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&access.api) {
            config = config.proxy(None);
        }
        Self {
            access,
            agent: config.build().new_agent(),
            waited: std::cell::Cell::default(),
        }
    }

    /// Where it asks.
    pub const fn access(&self) -> &Access {
        &self.access
    }

    /// GET `path` below the repository, such as `/pulls/7`.
    ///
    /// # Errors
    /// When there is no good response, or one that is not as GitHub documents it.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        self.send("GET", path, None, Repeat::Yes)
    }

    /// Every entry of the list at `path`, over all its pages; `key` names the list where the response is an object.
    ///
    /// # Errors
    /// As [`Self::get`], and when the list is longer than any that is read.
    pub fn list<T: DeserializeOwned>(&self, path: &str, key: Option<&str>) -> Result<Vec<T>, ApiError> {
        let sign = if path.contains('?') { '&' } else { '?' };
        let mut all = Vec::new();
        for page in 1..=PAGES {
            let path = format!("{path}{sign}per_page={PAGE}&page={page}");
            let mut response: Value = self.get(&path)?;
            let list = match key {
                Some(key) => response.get_mut(key).map(Value::take).unwrap_or_default(),
                None => response,
            };
            let list: Vec<T> = serde_json::from_value(list).map_err(|error| self.odd("GET", &path, &error))?;
            let short = list.len() < PAGE;
            all.extend(list);
            if short {
                return Ok(all);
            }
        }
        let said = format!("more than {} entries", PAGE * PAGES);
        let advice = "this is more than any pull request should have; tidy it up";
        Err(self.error("GET", path, None, &said, advice))
    }

    /// Makes something by POST, once: after a response that was lost, `find` looks for what the request may have made.
    ///
    /// # Errors
    /// As [`Self::get`], and those of `find`.
    pub fn make<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        find: impl Fn() -> Result<Option<T>, ApiError>,
    ) -> Result<T, ApiError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.send("POST", path, Some(body), Repeat::No) {
                // Lists follow what was made with a delay.
                Err(error) if error.may_be_done() && tries < MAKE_TRIES && self.wait(FIRST_WAIT * tries) => {
                    if let Some(made) = find()? {
                        return Ok(made);
                    }
                }
                result => return result,
            }
        }
    }

    /// The address to which the API redirects `path`.
    ///
    /// # Errors
    /// When it does not redirect, or not to an https address.
    pub fn redirect(&self, path: &str) -> Result<String, ApiError> {
        let response = self.repeated(Repeat::Yes, || self.once("GET", path, None))?;
        let to = response.headers.get("location").and_then(|to| to.to_str().ok());
        // Plain HTTP only if both ends are this machine.
        let is_allowed = |to: &str| to.starts_with("https://") || (is_loopback(&self.access.api) && is_loopback(to));
        if let Some(to) = to.filter(|to| response.status == 302 && is_allowed(to)) {
            return Ok(to.to_owned());
        }
        let advice = "try again; when it stays, GitHub has changed and wirebench needs to";
        let status = Some(response.status);
        Err(self.error("GET", path, status, "no address to download from", advice))
    }

    /// Downloads from an address outside of the API, without a token: at most `most` bytes, plus one if it is longer.
    ///
    /// # Errors
    /// When it cannot be read; the address, which may hold a secret, is never part of the words.
    pub fn download(&self, address: &str, most: u64) -> Result<Vec<u8>, ApiError> {
        let failed = |why: &str| self.error("GET", "the artifact's storage", None, why, "run this workflow again");
        let once = || received(self.agent.get(address).call(), most + 1).map_err(|why| failed(&why));
        match self.repeated(Repeat::Yes, once)? {
            Response { status: 200, body, .. } => Ok(body),
            Response { status, .. } => Err(failed(&format!("status {status}"))),
        }
    }

    /// Sends a request, and reads the response.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub fn send<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        repeat: Repeat,
    ) -> Result<T, ApiError> {
        let response = self.repeated(repeat, || self.once(method, path, body))?;
        if !(200..300).contains(&response.status) {
            let status = Some(response.status);
            let (message, advice) = (message(&response), advice(method, path, &response));
            return Err(self.error(method, path, status, &message, &advice));
        }
        let text: &[u8] = if response.body.is_empty() {
            b"null"
        } else {
            &response.body
        };
        serde_json::from_slice(text).map_err(|error| self.odd(method, path, &error))
    }

    /// Sends a request until there is a response that a repetition would not change.
    fn repeated(&self, repeat: Repeat, once: impl Fn() -> Result<Response, ApiError>) -> Result<Response, ApiError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let backoff = FIRST_WAIT * 2_u32.pow(tries - 1);
            let (wait, response) = match once() {
                Ok(response) => match wait_before_retry(&response, repeat, backoff) {
                    None => return Ok(response),
                    Some(wait) => (wait, Ok(response)),
                },
                Err(error) if repeat == Repeat::No => return Err(error),
                Err(error) => (backoff, Err(error)),
            };
            if tries == TRIES || !self.wait(wait) {
                return response;
            }
        }
    }

    fn once(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Response, ApiError> {
        let access = &self.access;
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/repos/{}{path}", access.api, access.repository))
            .header("Authorization", format!("Bearer {}", access.token))
            .header("Accept", "application/vnd.github+json")
            .header("Content-Type", "application/json")
            .header("X-GitHub-Api-Version", "2022-11-28");
        let body = body.map_or_else(|| Ok(SendBody::none()), SendBody::from_json);
        let request = body.and_then(|body| request.body(body).map_err(ureq::Error::Http));
        let response = request.and_then(|request| self.agent.run(request));
        received(response, LONGEST_RESPONSE).map_err(|why| {
            let advice = "see whether the API can be reached, then run this again";
            self.error(method, path, None, &why, advice)
        })
    }

    /// Waits, or fails if the limit of waiting is reached.
    fn wait(&self, length: Duration) -> bool {
        let all = self.waited.get() + length;
        if length > LONGEST_WAIT || all > ALL_WAITS {
            return false;
        }
        self.waited.set(all);
        sleep(length);
        true
    }

    fn odd(&self, method: &str, path: &str, error: &serde_json::Error) -> ApiError {
        let text = format!("an answer of another shape: {error}");
        let advice = "when it stays, GitHub has changed and wirebench needs to";
        self.error(method, path, None, &text, advice)
    }

    fn error(&self, method: &str, path: &str, status: Option<u16>, text: &str, advice: &str) -> ApiError {
        let shown = path.split('?').next().unwrap_or_default();
        ApiError {
            request: log_safe(&format!("{method} {shown}")),
            status,
            message: log_safe(&text.replace(&self.access.token, "(token)")),
            advice: advice.to_owned(),
        }
    }
}

/// Reads a response, of which no more than `most` bytes are read; the error is a sentence.
fn received(response: Result<ureq::http::Response<Body>, ureq::Error>, most: u64) -> Result<Response, String> {
    let (parts, body) = response.map_err(|error| no_response(&error))?.into_parts();
    let mut bytes = Vec::new();
    let read = body.into_reader().take(most).read_to_end(&mut bytes);
    read.map_err(|error| no_response(&ureq::Error::Io(error)))?;
    Ok(Response {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: bytes,
    })
}
