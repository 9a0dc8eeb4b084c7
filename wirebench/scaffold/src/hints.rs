//! Hints from sources about a server's port, health path and paths, found by patterns.

use std::sync::LazyLock;

use regex::Regex;

use crate::files::{Files, pattern};
use crate::port_settings::{self, PortSetting};

/// What was found in a program's sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hints {
    /// How it is told its port; `None` if nothing was found.
    pub(super) port: Option<PortSetting>,
    /// A path for readiness.
    pub(super) health: Option<String>,
    /// A path it answers to a GET.
    pub(super) path: Option<String>,
    /// Whether it has the gRPC health service.
    pub(super) grpc_health: bool,
}

static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x) \.listen\(\s*(?:\{[^}]*?port:\s*)?(\d{2,5})\b
        | (?:ListenAndServe|Listen|Run|Start)\(\s*(?:"tcp"\s*,\s*)?"[^"\n]*:(\d{2,5})"
        | (?:127\.0\.0\.1|0\.0\.0\.0|localhost|\[::1?\]):(\d{2,5})\b
        | \b[Pp](?:ort|ORT)\s*(?::=|[=:])\s*(\d{2,5})\b"#,
    )
});
static HEALTH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"["'`](?:GET )?((?:/api)?/_?(?:healthz|healthcheck|health|readyz|readiness|ready|livez|ping)(?:/(?:live|ready))?)["'`]"#,
    )
});
static ROUTE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"(?:\.get|\.GET|\.Get|\.route|HandleFunc|\.Handle)\(\s*["'`](?:GET )?(/[^"'`\s\\]*)["'`]"#)
});
static GRPC_HEALTH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"grpc_health|grpc\.health|tonic_health|grpc-js-health|grpc_health_checking|HealthImplementation")
});
static EXPOSE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?mi)^\s*EXPOSE\s+(\d{2,5})\b"));

/// The hints in a program's sources, those closest to its main file first.
pub(super) fn of(texts: &[&str]) -> Hints {
    let health = texts.iter().find_map(|text| first(&HEALTH, text));
    let is_plain = |path: &str| !path.contains([':', '{', '<', '*', '(']) && path.chars().all(|c| c.is_ascii_graphic());
    let paths = texts.iter().flat_map(|text| ROUTE.captures_iter(text));
    let mut paths = paths.filter_map(|found| group(&found));
    Hints {
        port: port(texts),
        path: paths.find(|path| is_plain(path) && !HEALTH.is_match(&format!("\"{path}\""))),
        health,
        grpc_health: texts.iter().any(|text| GRPC_HEALTH.is_match(text)),
    }
}

fn port(texts: &[&str]) -> Option<PortSetting> {
    let literal = |text: &&str| {
        let mut all = LITERAL.captures_iter(text);
        all.find_map(|found| group(&found)?.parse().ok().filter(|port| *port > 0))
    };
    let fixed = || texts.iter().find_map(literal).map(PortSetting::fixed);
    port_settings::of_texts(texts).into_iter().next().or_else(fixed)
}

/// The port that the repository's container exposes.
pub(super) fn exposed(files: &Files) -> Option<u16> {
    let mut texts = ["Dockerfile", "Containerfile"]
        .into_iter()
        .flat_map(|name| files.named(name));
    texts.find_map(|(_, text)| first(&EXPOSE, text)?.parse().ok().filter(|port| *port > 0))
}

fn first(pattern: &Regex, text: &str) -> Option<String> {
    group(&pattern.captures(text)?)
}

/// The first group that took part.
pub(super) fn group(found: &regex::Captures) -> Option<String> {
    let mut groups = found.iter().skip(1).flatten();
    groups.next().map(|group| group.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port_of(text: &str) -> String {
        of(&[text])
            .port
            .map_or_else(String::new, |setting| match setting.fixed {
                Some(port) => port.to_string(),
                None => setting.to_string(),
            })
    }

    #[test]
    fn a_flag_goes_before_the_environment_and_that_before_a_number() {
        for (text, expected) in [
            ("flag.String(\"addr\", \":8080\", \"\")", "--addr {address}"),
            ("flag.IntVar(&p, \"port\", 1, \"\")", "--port {port}"),
            (
                "#[arg(long, default_value = \"1\")]\n    pub listen: SocketAddr,",
                "--listen {address}",
            ),
            ("parser.add_argument('--port')", "--port {port}"),
            ("process.env.PORT ?? 3000", "PORT={port}"),
            ("os.Getenv(\"PORT\")", "PORT={port}"),
            ("int(os.environ.get(\"PORT\", 8000))", "PORT={port}"),
            ("std::env::var(\"PORT\")", "PORT={port}"),
            ("app.listen({ host: 'x', port: 3000 })", "3000"),
            ("app.listen(3001)", "3001"),
            ("http.ListenAndServe(\":8080\", nil)", "8080"),
            ("net.Listen(\"tcp\", \"127.0.0.1:9090\")", "9090"),
            ("TcpListener::bind(\"0.0.0.0:7000\")", "7000"),
            ("const PORT = 4000", "4000"),
            ("listen(99999)", ""),
            ("nothing here", ""),
        ] {
            assert_eq!(port_of(text), expected, "{text}");
        }
    }

    #[test]
    fn health_and_the_first_plain_path_are_told_apart() {
        let hints = of(&[
            "mux.HandleFunc(\"GET /healthz\", h)\nmux.HandleFunc(\"GET /users/{id}\", u)\nmux.HandleFunc(\"GET /users\", l)\n",
        ]);
        assert_eq!(
            (hints.health.as_deref(), hints.path.as_deref()),
            (Some("/healthz"), Some("/users"))
        );
        let hints = of(&["app.get('/weather', f); app.get(\"/health\", g)"]);
        assert_eq!(
            (hints.health.as_deref(), hints.path.as_deref()),
            (Some("/health"), Some("/weather"))
        );
        let hints = of(&[".route(\"/weather/current\", get(f))"]);
        assert_eq!((hints.health, hints.path.as_deref()), (None, Some("/weather/current")));
    }

    #[test]
    fn the_grpc_health_service_is_seen_in_any_language() {
        for text in [
            "google.golang.org/grpc/health/grpc_health_v1",
            "tonic_health::server",
            "require('grpc-js-health-check')",
        ] {
            assert!(of(&[text]).grpc_health, "{text}");
        }
        assert!(!of(&["\"/health\""]).grpc_health);
    }

    #[test]
    fn a_container_exposes_a_port() {
        let of = |text: &str| exposed(&Files::of(&[("deploy/Dockerfile", text)]));
        assert_eq!(of("FROM x\nexpose 8080/tcp\n"), Some(8080));
        assert_eq!(of("EXPOSE $PORT\n"), None);
        assert_eq!(of("EXPOSE 99999\n"), None);
    }
}
