//! Where a tier has its answers from: the next tier, or its own store.

use std::borrow::Cow;
use std::sync::Arc;

use domain::{MetricsDocument, Page, User, Users};

use crate::answers::CityWeather;
use crate::failure::Failure;
use crate::store::Store;
use crate::upstream::Upstream;

/// The longest name of a city that another tier is asked for, in bytes; there is no city with a longer one.
const LONGEST_CITY: usize = 200;

/// Whom a tier asks.
#[derive(Debug)]
pub(crate) enum Source {
    /// Its own store.
    Store(Arc<Store>),
    /// The next tier.
    Upstream(Box<Upstream>),
}

impl Source {
    pub(crate) async fn user(&self, id: i64) -> Result<Cow<'static, User>, Failure> {
        match self {
            Self::Store(store) => store.user(id),
            Self::Upstream(upstream) => upstream.user(id).await.map(Cow::Owned),
        }
    }

    pub(crate) async fn users(&self, limit: i64) -> Result<Users<'static>, Failure> {
        match self {
            Self::Store(store) => store.users(limit),
            Self::Upstream(upstream) => upstream.users(limit).await,
        }
    }

    pub(crate) async fn page(&self, page: i64, size: i64) -> Result<Page<'static>, Failure> {
        match self {
            Self::Store(store) => store.page(page, size),
            Self::Upstream(upstream) => upstream.page(page, size).await,
        }
    }

    pub(crate) async fn weather(&self, city: &str) -> Result<CityWeather, Failure> {
        match self {
            // What is too long for a question in one protocol is the same refusal in both.
            Self::Upstream(upstream) if city.len() <= LONGEST_CITY => upstream.weather(city).await,
            _ => Ok(domain::current_weather(city)?.into()),
        }
    }

    pub(crate) async fn document(&self) -> Result<Cow<'static, MetricsDocument>, Failure> {
        match self {
            Self::Store(_) => Ok(Cow::Borrowed(domain::metrics_document())),
            Self::Upstream(upstream) => upstream.document().await.map(Cow::Owned),
        }
    }
}
