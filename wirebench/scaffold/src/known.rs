//! What is known of servers in any language: `known.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::recipe::{Pattern, read};

pub(super) static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let known = read(include_str!("../known.toml"));
    known.unwrap_or_else(|error| panic!("wirebench/scaffold/known.toml: {error}"))
});

/// The keys of `known.toml`, which describes each of them.
#[derive(Debug, Deserialize)]
pub(super) struct Known {
    pub(super) skipped_folders: Vec<String>,
    pub(super) usual_names: Vec<String>,
    pub(super) routes: Vec<Pattern>,
    pub(super) prefixes: Vec<Pattern>,
    pub(super) nest: Pattern,
    pub(super) printed: Vec<Pattern>,
    pub(super) usual_paths: Vec<String>,
    pub(super) openapi_places: Vec<String>,
    pub(super) health: Pattern,
    pub(super) about_server: Pattern,
    pub(super) grpc_health: Pattern,
    pub(super) destroying: Vec<String>,
    pub(super) changing: Vec<String>,
    pub(super) reading: Vec<String>,
    pub(super) port_numbers: Pattern,
    pub(super) exposed_port: Pattern,
    pub(super) stores: Vec<(String, u16, String)>,
    pub(super) crates: Crates,
    #[serde(rename = "port_setting")]
    pub(super) port_settings: Vec<SettingHint>,
}

/// Names of crates.
#[derive(Debug, Deserialize)]
pub(super) struct Crates {
    pub(super) http: Vec<String>,
    pub(super) grpc: Vec<String>,
    pub(super) compile_proto: Vec<String>,
    pub(super) bring_protoc: Vec<String>,
}

/// What sources have that can be told their port in one way.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingHint {
    pub(super) names: Pattern,
    #[serde(default)]
    pub(super) only: Pattern,
    pub(super) unless: Option<Pattern>,
    pub(super) beside: Option<String>,
    #[serde(default)]
    pub(super) args: Vec<String>,
}
