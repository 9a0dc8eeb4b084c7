//! A request that the user gives, because it may change data or needs a value that nothing in the repository tells.

use std::fmt;
use std::str::FromStr;

/// `METHOD PATH [BODY]`.
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
        let is_json = serde_json::from_str::<serde_json::Value>(&self.body).is_ok();
        let kind = if is_json { "json" } else { "x-www-form-urlencoded" };
        let header = (!self.body.is_empty()).then(|| format!("content-type: application/{kind}"));
        header.into_iter().collect()
    }
}

impl FromStr for GivenRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (method, rest) = text.trim().split_once(' ').unwrap_or_default();
        let (path, body) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        if method.is_empty() || !method.chars().all(|c| c.is_ascii_uppercase()) || !path.starts_with('/') {
            return Err("expected a method, a path, and a body if there is one: 'POST /orders {\"id\": 1}'".into());
        }
        let [method, path, body] = [method, path, body.trim()].map(str::to_owned);
        Ok(Self { method, path, body })
    }
}

impl fmt::Display for GivenRequest {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} {}", self.method, self.path)
    }
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
}
