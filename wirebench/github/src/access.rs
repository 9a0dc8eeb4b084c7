//! The addresses of the API and the repository, from the workflow's environment; each is checked.

use std::env;

use crate::names::log_safe;
use crate::{Refusal, refuse};
use wirebench_record::names::is_repository;

/// The addresses of the API and the repository, and the token.
#[derive(Clone)]
pub struct Access {
    /// Base address of the API, without a slash at its end.
    pub api: String,
    /// Base address of the website, without a slash at its end.
    pub server: String,
    /// The repository, `owner/name`.
    pub repository: String,
    /// Secret: never shown.
    pub(super) token: String,
}

impl Access {
    /// Reads `GITHUB_API_URL`, `GITHUB_SERVER_URL`, `GITHUB_REPOSITORY` and `GITHUB_TOKEN`.
    ///
    /// # Errors
    /// When a variable is missing or malformed; the message never contains the token.
    pub fn from_environment() -> Result<Self, Refusal> {
        let given = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let api = given("GITHUB_API_URL").unwrap_or_else(|| "https://api.github.com".into());
        let server = given("GITHUB_SERVER_URL").unwrap_or_else(|| "https://github.com".into());
        let Some(repository) = given("GITHUB_REPOSITORY") else {
            refuse!("GITHUB_REPOSITORY is not set: run this command in a workflow, or set it to owner/name");
        };
        if !is_repository(&repository) {
            let found = log_safe(&repository);
            refuse!("GITHUB_REPOSITORY: expected owner/name, found {found}");
        }
        let Some(token) = given("GITHUB_TOKEN") else {
            refuse!("GITHUB_TOKEN is not set; give the step: env: GITHUB_TOKEN: github.token");
        };
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            refuse!(
                "GITHUB_TOKEN holds characters that are not allowed in a token; give the step: env: GITHUB_TOKEN: github.token"
            );
        }
        Ok(Self {
            api: address("GITHUB_API_URL", &api)?,
            server: address("GITHUB_SERVER_URL", &server)?,
            repository,
            token,
        })
    }

    /// The page of a workflow run.
    pub fn run_page(&self, run: u64) -> String {
        format!("{}/{}/actions/runs/{run}", self.server, self.repository)
    }
}

/// Base addresses are https, or http on this machine: a token is never sent in the open.
fn address(variable: &str, text: &str) -> Result<String, Refusal> {
    let text = text.trim_end_matches('/');
    let allowed = |c: char| c.is_ascii_alphanumeric() || ".-:/[]_".contains(c);
    let secret = text.strip_prefix("https://").is_some_and(|rest| !rest.is_empty());
    if text.len() <= 200 && text.chars().all(allowed) && (secret || is_loopback(text)) {
        return Ok(text.to_owned());
    }
    refuse!("{variable}: expected https://HOST, found {}", log_safe(text))
}

/// Whether an address is on this machine, where tests and `act` run an API of their own.
pub(super) fn is_loopback(address: &str) -> bool {
    let Some(rest) = address.strip_prefix("http://") else {
        return false;
    };
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _port)| host);
    ["127.0.0.1", "localhost", "[::1]"].contains(&host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_secret_addresses_and_this_machine_are_asked() {
        for good in [
            "https://api.github.com/",
            "http://127.0.0.1:8080",
            "http://[::1]:9",
            "https://ghe.example.com/api/v3",
        ] {
            assert!(address("X", good).is_ok(), "{good}");
        }
        for bad in [
            "http://api.github.com",
            "http://127.0.0.1.evil.example",
            "https://",
            "file:///x",
            "https://a b",
            "https://u@h",
            "",
        ] {
            assert!(address("X", bad).is_err(), "{bad}");
        }
    }
}
