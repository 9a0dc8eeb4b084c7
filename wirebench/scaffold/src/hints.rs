//! Hints from sources about a server's port, health path and paths, found by patterns.

use std::sync::LazyLock;

use regex::Regex;

use crate::files::Files;

/// How a program gets its port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Port {
    /// By these arguments.
    Arguments(Vec<String>),
    /// By the environment variable PORT.
    Environment,
    /// By this environment variable of its framework, with this value.
    Variable(String, String),
    /// A fixed port.
    Fixed(u16),
    /// Nothing was found.
    Unknown,
}

/// What was found in a program's sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hints {
    pub(super) port: Port,
    /// A path for readiness.
    pub(super) health: Option<String>,
    /// A path it answers to a GET.
    pub(super) path: Option<String>,
    /// Whether it has the gRPC health service.
    pub(super) grpc_health: bool,
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

static FLAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x) --(listen|addr|address|bind|port)\b
        | flag\.\w+\(\s*(?:&\w+\s*,\s*)?"(listen|addr|address|bind|port)"
        | \#\[arg\([^\]]*\blong\b[^\]]*\)\]\s*(?:pub\s+)?(listen|addr|address|bind|port)\s*:"#,
    )
});
static ENVIRONMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"process\.env\.PORT\b|process\.env\[["']PORT["']|[Gg]etenv\(["']PORT["']|environ[^\n]{0,20}["']PORT["']|env::var(?:_os)?\("PORT"\)|env\s*=\s*"PORT""#,
    )
});
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
    let mut paths = texts
        .iter()
        .flat_map(|text| ROUTE.captures_iter(text).filter_map(|found| group(&found)));
    Hints {
        port: port(texts),
        path: paths.find(|path| is_plain(path) && !HEALTH.is_match(&format!("\"{path}\""))),
        health,
        grpc_health: texts.iter().any(|text| GRPC_HEALTH.is_match(text)),
    }
}

fn port(texts: &[&str]) -> Port {
    if let Some(flag) = texts.iter().find_map(|text| first(&FLAG, text)) {
        let value = if flag == "port" { "{port}" } else { "{address}" };
        return Port::Arguments(vec![format!("--{flag}"), value.to_owned()]);
    }
    if texts.iter().any(|text| ENVIRONMENT.is_match(text)) {
        return Port::Environment;
    }
    let literal = |text: &str| {
        LITERAL
            .captures_iter(text)
            .find_map(|found| group(&found)?.parse().ok().filter(|port| *port > 0))
    };
    texts
        .iter()
        .find_map(|text| literal(text))
        .map_or(Port::Unknown, Port::Fixed)
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
fn group(found: &regex::Captures) -> Option<String> {
    found
        .iter()
        .skip(1)
        .flatten()
        .next()
        .map(|group| group.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port_of(text: &str) -> Port {
        of(&[text]).port
    }

    #[test]
    fn a_flag_goes_before_the_environment_and_that_before_a_number() {
        let by = |flag: &str, value: &str| Port::Arguments(vec![flag.into(), value.into()]);
        for (text, expected) in [
            ("flag.String(\"addr\", \":8080\", \"\")", by("--addr", "{address}")),
            ("flag.IntVar(&p, \"port\", 1, \"\")", by("--port", "{port}")),
            (
                "#[arg(long, default_value = \"1\")]\n    pub listen: SocketAddr,",
                by("--listen", "{address}"),
            ),
            ("parser.add_argument('--port')", by("--port", "{port}")),
            ("process.env.PORT ?? 3000", Port::Environment),
            ("os.Getenv(\"PORT\")", Port::Environment),
            ("int(os.environ.get(\"PORT\", 8000))", Port::Environment),
            ("std::env::var(\"PORT\")", Port::Environment),
            ("app.listen({ host: 'x', port: 3000 })", Port::Fixed(3000)),
            ("app.listen(3001)", Port::Fixed(3001)),
            ("http.ListenAndServe(\":8080\", nil)", Port::Fixed(8080)),
            ("net.Listen(\"tcp\", \"127.0.0.1:9090\")", Port::Fixed(9090)),
            ("TcpListener::bind(\"0.0.0.0:7000\")", Port::Fixed(7000)),
            ("const PORT = 4000", Port::Fixed(4000)),
            ("listen(99999)", Port::Unknown),
            ("nothing here", Port::Unknown),
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
