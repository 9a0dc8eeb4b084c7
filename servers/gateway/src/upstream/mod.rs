//! The next tier, asked over HTTP or gRPC, within a deadline.

mod address;
mod grpc;
mod http;

use std::time::Duration;

use domain::{MetricsDocument, Page, User, Users};
use tokio::time::timeout;

use crate::answers::CityWeather;
use crate::failure::{Failure, Kind};
pub(crate) use address::Address;
use address::Scheme;

/// The next tier. Its connections belong to the runtime it was made on, and are opened when they are needed.
#[derive(Debug)]
pub(crate) struct Upstream {
    address: Address,
    deadline: Duration,
    link: Link,
}

#[derive(Debug)]
enum Link {
    Http(Box<http::Link>),
    Grpc(grpc::Link),
}

impl Upstream {
    /// The tier at `address`, which gets `deadline` for each whole answer and is verified with the certificates `authority`.
    pub(crate) fn new(address: &Address, authority: Option<&[u8]>, deadline: Duration) -> Result<Self, String> {
        let link = match address.scheme {
            Scheme::Http => Link::Http(Box::new(http::Link::new(address, deadline))),
            Scheme::Grpc | Scheme::Grpcs => Link::Grpc(grpc::Link::new(address, authority, deadline)?),
        };
        Ok(Self {
            address: *address,
            deadline,
            link,
        })
    }

    pub(crate) async fn user(&self, id: i64) -> Result<User, Failure> {
        let asked = async {
            match &self.link {
                Link::Http(link) => link.user(id).await,
                Link::Grpc(link) => link.user(id).await,
            }
        };
        self.in_time(asked).await
    }

    pub(crate) async fn users(&self, limit: i64) -> Result<Users<'static>, Failure> {
        let asked = async {
            match &self.link {
                Link::Http(link) => link.users(limit).await,
                Link::Grpc(link) => link.users(limit).await,
            }
        };
        self.in_time(asked).await
    }

    pub(crate) async fn page(&self, page: i64, size: i64) -> Result<Page<'static>, Failure> {
        let asked = async {
            match &self.link {
                Link::Http(link) => link.page(page, size).await,
                Link::Grpc(link) => link.page(page, size).await,
            }
        };
        self.in_time(asked).await
    }

    pub(crate) async fn weather(&self, city: &str) -> Result<CityWeather, Failure> {
        let asked = async {
            match &self.link {
                Link::Http(link) => link.weather(city).await,
                Link::Grpc(link) => link.weather(city).await,
            }
        };
        self.in_time(asked).await
    }

    pub(crate) async fn document(&self) -> Result<MetricsDocument, Failure> {
        let asked = async {
            match &self.link {
                Link::Http(link) => link.document().await,
                Link::Grpc(link) => link.document().await,
            }
        };
        self.in_time(asked).await
    }

    /// The answer, or why there is none; past the deadline the question is dropped, which the next tier sees.
    async fn in_time<T>(&self, asked: impl Future<Output = Result<T, Failing>>) -> Result<T, Failure> {
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
