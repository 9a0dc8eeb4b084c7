//! Metrics of a server in the text format of Prometheus, on a separate listener.
//!
//! Without `--metrics-listen` no request runs any of this code.

mod body;
mod layer;
mod page;
mod timer;

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

#[cfg(feature = "tonic")]
pub(crate) use body::Measured;
#[cfg(any(feature = "axum", feature = "tonic"))]
pub(crate) use layer::Watch;
#[cfg(feature = "tonic")]
pub(crate) use layer::mark_web;
pub(crate) use page::Page;

/// Upper bounds of the histogram, in seconds: a response on the same machine takes some 100 µs.
const BOUNDS_S: [f64; 12] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0,
];

/// The counters; clones share them.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Counted>);

#[derive(Debug)]
struct Counted {
    registry: Registry,
    durations: Family<Labels, Histogram>,
    requests: Family<Labels, Counter>,
    grpc_requests: Family<Labels, Counter>,
    connections: Gauge,
}

/// The labels of a request.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Labels {
    /// "http", "grpc" or "grpc-web".
    protocol: &'static str,
    /// The HTTP status, or the gRPC status.
    status: u32,
}

/// An open connection, counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Open(Metrics);

impl Metrics {
    /// Nothing counted yet.
    pub(crate) fn new() -> Self {
        let mut registry = Registry::default();
        let durations = Family::new_with_constructor((|| Histogram::new(BOUNDS_S)) as fn() -> Histogram);
        let (requests, grpc_requests) = (Family::default(), Family::default());
        let connections = Gauge::default();
        registry.register_with_unit(
            "request_duration",
            "Time from a request's head to the end of its answer",
            Unit::Seconds,
            durations.clone(),
        );
        registry.register("requests", "Requests answered", requests.clone());
        registry.register(
            "grpc_requests",
            "Requests answered over gRPC and gRPC-web",
            grpc_requests.clone(),
        );
        registry.register("active_connections", "Connections that are open", connections.clone());
        Self(Arc::new(Counted {
            registry,
            durations,
            requests,
            grpc_requests,
            connections,
        }))
    }

    /// Counts a connection until the returned value is dropped.
    pub(crate) fn open(&self) -> Open {
        self.0.connections.inc();
        Open(self.clone())
    }

    /// Counts a request.
    fn count_request(&self, protocol: &'static str, status: u32, took: Duration) {
        let labels = Labels { protocol, status };
        self.0.durations.get_or_create(&labels).observe(took.as_secs_f64());
        if protocol != "http" {
            self.0.grpc_requests.get_or_create(&labels).inc();
        }
        self.0.requests.get_or_create(&labels).inc();
    }

    /// All metrics, in the text format.
    fn text(&self) -> String {
        let mut text = String::new();
        if encode(&mut text, &self.0.registry).is_err() {
            text.clear();
            let _ = write!(text, "# the metrics cannot be written");
        }
        text
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.0.connections.dec();
    }
}
