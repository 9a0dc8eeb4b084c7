//! The metrics document: about 9 kB, nearly all of it one text, which JSON cannot shorten and protobuf cannot either.

use std::fmt::Write;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::random::Random;

/// A document of metrics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricsDocument {
    /// What the text is, as in HTTP's content-type.
    pub content_type: String,
    /// Metrics of a made-up service in the text format of Prometheus.
    pub text: String,
}

/// Bounds of the made-up histograms, in seconds.
const BOUNDS: [&str; 8] = ["0.005", "0.01", "0.025", "0.05", "0.1", "0.5", "1", "+Inf"];

/// Routes whose requests are counted.
const ROUTES: [&str; 8] = [
    "/api/v1/weather/current",
    "/api/v1/weather/forecast",
    "/api/v1/weather/history",
    "/api/v1/cities/nearby",
    "/api/v1/users/profile",
    "/api/v1/users/sessions",
    "/api/v1/orders/recent",
    "/api/v1/reports/monthly",
];

/// What the histogram is called.
const NAME: &str = "gateway_http_server_request_duration_seconds";

/// The document, made when first asked for; always the same.
pub fn metrics_document() -> &'static MetricsDocument {
    static DOCUMENT: LazyLock<MetricsDocument> = LazyLock::new(|| MetricsDocument {
        content_type: "text/plain; version=0.0.4".to_owned(),
        text: text(),
    });
    &DOCUMENT
}

fn text() -> String {
    let mut random = Random::new(2);
    let mut text = format!("# HELP {NAME} Duration of HTTP requests in seconds, by route.\n# TYPE {NAME} histogram\n");
    for route in ROUTES {
        let mut requests = 0;
        for bound in BOUNDS {
            requests += random.between(100_000_000, 199_999_999);
            line(
                &mut text,
                &format!("{NAME}_bucket{{route=\"{route}\",le=\"{bound}\"}} {requests}"),
            );
        }
        let seconds = random.between(100_000_000, 999_999_999);
        line(&mut text, &format!("{NAME}_sum{{route=\"{route}\"}} {seconds}.5"));
        line(&mut text, &format!("{NAME}_count{{route=\"{route}\"}} {requests}"));
    }
    text
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a text takes every line");
}

#[cfg(test)]
mod tests {
    use super::{metrics_document, text};

    #[test]
    fn it_is_the_same_every_time() {
        assert_eq!(text(), metrics_document().text);
    }

    #[test]
    fn every_line_is_a_comment_or_a_sample() {
        for line in metrics_document().text.lines() {
            let sample = line
                .rsplit_once("} ")
                .is_some_and(|(_, value)| value.parse::<f64>().is_ok());
            assert!(line.starts_with("# ") || sample, "{line}");
        }
    }
}
