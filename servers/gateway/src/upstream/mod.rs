//! The next tier, asked over HTTP or gRPC, within a deadline.

mod address;
mod grpc;
mod http;

use std::pin::Pin;
use std::time::Duration;

use clap::ValueEnum;
use domain::{MetricsDocument, Page, User, Users};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::answers::CityWeather;
use crate::failure::{Failure, Kind};
pub(crate) use address::Address;
use address::Scheme;

/// Questions that one runtime asks at the same time, and so the connections it opens at most; others wait for their turn,
/// which is part of their deadline. However many clients there are, memory stays within bounds, and so does the load beyond.
const AT_ONCE: usize = 128;

/// What becomes of a connection to the next tier when a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Connections {
    /// It is kept and used again
    Kept,
    /// It is closed: the next question opens another one, as clients do that are made anew for every question
    OnePerQuestion,
}

/// The next tier. Its connections belong to the runtime it was made on, and are opened when they are needed.
#[derive(Debug)]
pub(crate) struct Upstream {
    address: Address,
    deadline: Duration,
    turns: Semaphore,
    link: Link,
}

/// A question on its way. It is made when its turn has come: those that wait take next to no room.
type Asked<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failing>> + Send + 'a>>;

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
            turns: Semaphore::new(AT_ONCE),
            link,
        })
    }

    pub(crate) async fn user(&self, id: i64) -> Result<User, Failure> {
        let ask = || match &self.link {
            Link::Http(link) => Box::pin(link.user(id)) as Asked<'_, _>,
            Link::Grpc(link) => Box::pin(link.user(id)) as Asked<'_, _>,
        };
        self.in_time(ask).await
    }

    pub(crate) async fn users(&self, limit: i64) -> Result<Users<'static>, Failure> {
        let ask = || match &self.link {
            Link::Http(link) => Box::pin(link.users(limit)) as Asked<'_, _>,
            Link::Grpc(link) => Box::pin(link.users(limit)) as Asked<'_, _>,
        };
        self.in_time(ask).await
    }

    pub(crate) async fn page(&self, page: i64, size: i64) -> Result<Page<'static>, Failure> {
        let ask = || match &self.link {
            Link::Http(link) => Box::pin(link.page(page, size)) as Asked<'_, _>,
            Link::Grpc(link) => Box::pin(link.page(page, size)) as Asked<'_, _>,
        };
        self.in_time(ask).await
    }

    pub(crate) async fn weather(&self, city: &str) -> Result<CityWeather, Failure> {
        let ask = || match &self.link {
            Link::Http(link) => Box::pin(link.weather(city)) as Asked<'_, _>,
            Link::Grpc(link) => Box::pin(link.weather(city)) as Asked<'_, _>,
        };
        self.in_time(ask).await
    }

    pub(crate) async fn document(&self) -> Result<MetricsDocument, Failure> {
        let ask = || match &self.link {
            Link::Http(link) => Box::pin(link.document()) as Asked<'_, _>,
            Link::Grpc(link) => Box::pin(link.document()) as Asked<'_, _>,
        };
        self.in_time(ask).await
    }

    /// The answer, or why there is none; past the deadline the question is dropped, which the next tier sees.
    async fn in_time<'a, T>(&self, ask: impl FnOnce() -> Asked<'a, T>) -> Result<T, Failure> {
        let asked = async {
            let turn = self.turns.acquire().await;
            let answer = ask().await;
            drop(turn);
            answer
        };
        match timeout(self.deadline, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(Failing::Refused(failure))) => Err(failure),
            Ok(Err(Failing::Lost(what))) => {
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

/// Why the next tier has given no answer.
#[derive(Debug)]
enum Failing {
    /// It says so itself, or it could never be asked.
    Refused(Failure),
    /// It is not there, or what it says cannot be understood; what happened.
    Lost(String),
}

impl Failing {
    /// What went wrong, with its cause: an error of a client seldom says it in its own words.
    fn lost(error: &dyn std::error::Error) -> Self {
        let mut root = error;
        while let Some(cause) = root.source() {
            root = cause;
        }
        Self::Lost(root.to_string())
    }
}

impl<T: Into<Failure>> From<T> for Failing {
    fn from(failure: T) -> Self {
        Self::Refused(failure.into())
    }
}
