//! Asking the next tier over HTTP/1.1: connections are kept and used again, one question at a time on each.

use std::time::Duration;

use axum::http::uri::{Authority, PathAndQuery, Scheme};
use axum::http::{StatusCode, Uri};
use bytes::Bytes;
use clap::ValueEnum;
use domain::{MetricsDocument, Page, User, Users};
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::address::Address;
use super::error::UpstreamError;
use crate::answers::CityWeather;
use crate::failure::{Failure, Kind};

/// The longest answer that is taken, in bytes: about fifteen times the longest there is.
const LONGEST_ANSWER: usize = 1 << 20;
/// The longest head of an answer that is taken, in bytes, and what is read at a time.
const LONGEST_HEAD: usize = 32 * 1024;

/// What becomes of a connection to the next tier when a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Connections {
    /// It is kept and used again
    Kept,
    /// It is closed: the next question opens another one, as clients do that are made anew for every question
    OnePerQuestion,
}

/// Connections to the next tier.
#[derive(Debug)]
pub(super) struct Link {
    client: Client<HttpConnector, Empty<Bytes>>,
    authority: Authority,
}

/// A refusal as the other tier words it.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Link {
    pub(super) fn new(address: &Address, deadline: Duration, connections: Connections) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(deadline));
        let idle = match connections {
            Connections::Kept => usize::MAX,
            Connections::OnePerQuestion => 0,
        };
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(idle)
            .http1_max_buf_size(LONGEST_HEAD)
            .build(connector);
        let authority = Authority::try_from(address.place.to_string()).expect("an address and a port are an authority");
        Self { client, authority }
    }

    pub(super) async fn user(&self, id: i64) -> Result<User, UpstreamError> {
        self.ask(&format!("/api/users/{id}")).await
    }

    pub(super) async fn users(&self, limit: i64) -> Result<Users<'static>, UpstreamError> {
        self.ask(&format!("/api/users?limit={limit}")).await
    }

    pub(super) async fn page(&self, page: i64, size: i64) -> Result<Page<'static>, UpstreamError> {
        self.ask(&format!("/api/users/page?page={page}&size={size}")).await
    }

    pub(super) async fn weather(&self, city: &str) -> Result<CityWeather, UpstreamError> {
        let city = utf8_percent_encode(city, NON_ALPHANUMERIC);
        self.ask(&format!("/api/weather/current?city={city}")).await
    }

    pub(super) async fn document(&self) -> Result<MetricsDocument, UpstreamError> {
        self.ask("/api/metrics/document").await
    }

    async fn ask<T: DeserializeOwned>(&self, path: &str) -> Result<T, UpstreamError> {
        let path = PathAndQuery::try_from(path).map_err(|error| UpstreamError::lost(&error))?;
        let uri = Uri::builder().scheme(Scheme::HTTP).authority(self.authority.clone());
        let uri = uri
            .path_and_query(path)
            .build()
            .map_err(|error| UpstreamError::lost(&error))?;
        let answer = self
            .client
            .get(uri)
            .await
            .map_err(|error| UpstreamError::lost(&error))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), LONGEST_ANSWER).collect().await;
        let body = body.map_err(|error| UpstreamError::lost(&*error))?.to_bytes();
        if status == StatusCode::OK {
            return serde_json::from_slice(&body).map_err(|error| UpstreamError::Lost(format!("its body: {error}")));
        }
        Err(refusal(status, &body))
    }
}

/// What the other tier means by a status and its body.
fn refusal(status: StatusCode, body: &[u8]) -> UpstreamError {
    match serde_json::from_slice::<Refusal>(body) {
        Ok(refusal) => UpstreamError::Refused(Failure::new(Kind::of_http(status), &refusal.error)),
        Err(_) => UpstreamError::Lost(format!("status {status}, and no reason for it")),
    }
}
