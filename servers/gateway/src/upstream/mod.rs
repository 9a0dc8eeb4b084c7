//! Requests to the next tier over HTTP or gRPC, within a deadline.

mod address;
mod error;
mod grpc;
mod http;

use std::pin::Pin;
use std::time::Duration;

use domain::{MetricsDocument, Page, User, Users};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::answers::CityWeather;
use crate::failure::{Failure, Kind};
pub(crate) use address::Address;
use address::Scheme;
use error::UpstreamError;
pub(crate) use http::Connections;

/// The most concurrent requests of one runtime, and so the most connections. Other requests wait, which is part of their
/// deadline. This bounds the memory, and the load on the next tier, for any number of clients.
const MOST_CONCURRENT: usize = 128;

/// The next tier. Its connections belong to the runtime it was made on, and are opened when they are needed.
#[derive(Debug)]
pub(crate) struct Upstream {
    address: Address,
    deadline: Duration,
    turns: Semaphore,
    link: Link,
}

/// A request in progress. It is created when its turn has come, so that waiting requests take almost no memory.
type PendingRequest<'a, T> = Pin<Box<dyn Future<Output = Result<T, UpstreamError>> + Send + 'a>>;

#[derive(Debug)]
enum Link {
    Http(Box<http::Link>),
    Grpc(grpc::Link),
}

impl Upstream {
    /// The tier at `address`, which gets `deadline` for each whole answer and is verified with the certificates `authority`.
    pub(crate) fn new(
        address: &Address,
        authority: Option<&[u8]>,
        deadline: Duration,
        connections: Connections,
    ) -> Result<Self, String> {
        let link = match address.scheme {
            Scheme::Http => Link::Http(Box::new(http::Link::new(address, deadline, connections))),
            Scheme::Grpc | Scheme::Grpcs => Link::Grpc(grpc::Link::new(address, authority, deadline)?),
        };
        Ok(Self {
            address: *address,
            deadline,
            turns: Semaphore::new(MOST_CONCURRENT),
            link,
        })
    }

    pub(crate) async fn user(&self, id: i64) -> Result<User, Failure> {
        let ask = || match &self.link {
            Link::Http(link) => Box::pin(link.user(id)) as PendingRequest<'_, _>,
            Link::Grpc(link) => Box::pin(link.user(id)) as PendingRequest<'_, _>,
        };
        self.in_time(ask).await
    }

    pub(crate) async fn users(&self, limit: i64) -> Result<Users<'static>, Failure> {
        let ask = || match &self.link {
            Link::Http(link) => Box::pin(link.users(limit)) as PendingRequest<'_, _>,
            Link::Grpc(link) => Box::pin(link.users(limit)) as PendingRequest<'_, _>,
        };
        self.in_time(ask).await
    }

    pub(crate) async fn page(&self, page: i64, size: i64) -> Result<Page<'static>, Failure> {
        let ask = || match &self.link {
            Link::Http(link) => Box::pin(link.page(page, size)) as PendingRequest<'_, _>,
            Link::Grpc(link) => Box::pin(link.page(page, size)) as PendingRequest<'_, _>,
        };
        self.in_time(ask).await
    }

    pub(crate) async fn weather(&self, city: &str) -> Result<CityWeather, Failure> {
        let ask = || match &self.link {
            Link::Http(link) => Box::pin(link.weather(city)) as PendingRequest<'_, _>,
            Link::Grpc(link) => Box::pin(link.weather(city)) as PendingRequest<'_, _>,
        };
        self.in_time(ask).await
    }

    pub(crate) async fn document(&self) -> Result<MetricsDocument, Failure> {
        let ask = || match &self.link {
            Link::Http(link) => Box::pin(link.document()) as PendingRequest<'_, _>,
            Link::Grpc(link) => Box::pin(link.document()) as PendingRequest<'_, _>,
        };
        self.in_time(ask).await
    }

    /// The response, or why there is none. After the deadline the request is dropped, which the next tier notices.
    async fn in_time<'a, T>(&self, ask: impl FnOnce() -> PendingRequest<'a, T>) -> Result<T, Failure> {
        let asked = async {
            let turn = self.turns.acquire().await;
            let answer = ask().await;
            drop(turn);
            answer
        };
        match timeout(self.deadline, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(UpstreamError::Refused(failure))) => Err(failure),
            Ok(Err(UpstreamError::Lost(what))) => {
                let reason = format!("no answer from {}: {what}", self.address);
                Err(Failure::new(Kind::Unavailable, &reason))
            }
            Err(_) => {
                let reason = format!(
                    "no answer from {} within {} ms",
                    self.address,
                    self.deadline.as_millis()
                );
                Err(Failure::new(Kind::TooLate, &reason))
            }
        }
    }
}
