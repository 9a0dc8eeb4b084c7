//! Seeds: requests that are sent to a server before its load, such as a login whose token later requests carry.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::operation::{self, HttpOperation, Operation};
use crate::read::{DeclareError, Place};

/// The name of a captured value.
static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[a-z][a-z_]*$").expect("a constant pattern"));

/// A request before the load, as a `[[seed]]` table of `server.toml` declares it.
#[derive(Debug, Clone, Serialize)]
pub struct Seed {
    /// The request and its expected response.
    pub request: HttpOperation,
    /// Values of the response as JSON, by the name under which requests after it use them (`{token}`): a JSON pointer each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capture: BTreeMap<String, String>,
    /// True if it is sent once on each side, to tiers that are kept, and not at every start.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

/// A seed as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    request: operation::RequestTable,
    #[serde(default)]
    expect: operation::ExpectTable,
    #[serde(default)]
    capture: BTreeMap<String, String>,
    #[serde(default)]
    once: bool,
}

/// Checks the seeds of a server; `keeps` says whether it has a tier that is kept.
///
/// # Errors
/// When a request is not HTTP, or a capture has no name or no JSON pointer.
pub(super) fn check(tables: Vec<Table>, place: &Place, keeps: bool) -> Result<Vec<Seed>, DeclareError> {
    let mut seeds = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let place = &place.below(&format!("seed[{index}]"));
        for (name, pointer) in &table.capture {
            let message = format!("expected names of lower-case letters and _, found {name:?}");
            place.refuse_if(!NAME.is_match(name), "capture", message)?;
            let message = format!("expected a JSON pointer such as \"/access_token\", found {pointer:?}");
            place.refuse_if(!pointer.starts_with('/'), &format!("capture.{name}"), message)?;
        }
        place.refuse_if(table.once && !keeps, "once", ONCE)?;
        let Table {
            request,
            expect,
            capture,
            once,
        } = table;
        let Operation::Http(request) = (operation::Table { request, expect }).check(place)? else {
            return Err(place.wrong("request", "expected path, as seeds are HTTP requests"));
        };
        seeds.push(Seed { request, capture, once });
    }
    Ok(seeds)
}

/// Why `once` is refused.
pub(super) const ONCE: &str = "expected a tier with keep = true beside it; without one everything is started anew for each round, and this is needed again";
