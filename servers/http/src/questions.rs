//! Query parameters and their defaults.

use serde::Deserialize;

/// A valid request, for error messages.
pub const CITY_EXAMPLE: &str = "?city=Kyiv";
/// A valid request, for error messages.
pub const LIST_EXAMPLE: &str = "/api/users?limit=20";
/// A valid request, for error messages.
pub const PAGE_EXAMPLE: &str = "/api/users/page?page=1&size=50";
/// A valid request, for error messages.
pub const STREAM_EXAMPLE: &str = "/api/users/stream?count=100&interval_ms=0";
/// A valid request, for error messages.
pub const USER_EXAMPLE: &str = "/api/users/1";

/// Query of the weather: `?city=Kyiv`.
#[derive(Clone, Debug, Deserialize)]
pub struct CityQuestion {
    /// The city's name; empty when left out.
    #[serde(default)]
    pub city: String,
}

/// Query of a list: `?limit=20`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default)]
pub struct ListQuestion {
    /// How many users; 20 when left out.
    pub limit: i64,
}

impl Default for ListQuestion {
    fn default() -> Self {
        Self { limit: 20 }
    }
}

/// Which page: `?page=1&size=50`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default)]
pub struct PageQuestion {
    /// The page, from 1; 1 when left out.
    pub page: i64,
    /// Users on a page; 50 when left out.
    pub size: i64,
}

impl Default for PageQuestion {
    fn default() -> Self {
        Self { page: 1, size: 50 }
    }
}

/// How many users, and how fast: `?count=100&interval_ms=0`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default)]
pub(crate) struct StreamQuestion {
    /// How many users; 100 when left out.
    pub(crate) count: i64,
    /// Pause before each user but the first, in ms; 0 when left out.
    pub(crate) interval_ms: i64,
}

impl Default for StreamQuestion {
    fn default() -> Self {
        Self {
            count: 100,
            interval_ms: 0,
        }
    }
}
