//! The colour of a protocol where only the name of a series is known.

/// Protocols that share a colour in every medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    Http,
    Grpc,
    GrpcWeb,
}

impl Family {
    /// By the server's name, else by a driver that speaks one protocol only; `None` if neither says it. Charts (`look` in
    /// site/assets/chart/draw.js) go by the same words of a server's name.
    pub(crate) fn of(series: &str) -> Option<Self> {
        const SERVERS: [(&str, Family); 4] = [
            ("grpc-web", Family::GrpcWeb),
            ("grpc", Family::Grpc),
            ("http", Family::Http),
            ("h2c", Family::Http),
        ];
        let [_, server, driver] = series.split('@').collect::<Vec<_>>()[..] else {
            return None;
        };
        let named = SERVERS.iter().find(|(word, _)| server.contains(word));
        named.map(|(_, family)| *family).or(match driver {
            "ghz" => Some(Self::Grpc),
            "ab" | "autocannon" | "hey" | "oha" | "wrk" => Some(Self::Http),
            _ => None,
        })
    }

    /// The class of its colour on the site, after another class.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Http => " of-http",
            Self::Grpc => " of-grpc",
            Self::GrpcWeb => " of-grpc-web",
        }
    }

    /// Its colour in Markdown, before the name of a series. Red would look like a verdict.
    pub(crate) const fn mark(self) -> &'static str {
        match self {
            Self::Http => "🔵 ",
            Self::Grpc => "🟣 ",
            Self::GrpcWeb => "🟤 ",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Family;

    #[test]
    fn a_server_says_its_protocol_or_the_driver_does() {
        assert_eq!(Family::of("weather@shop-grpc-web@k6"), Some(Family::GrpcWeb));
        assert_eq!(Family::of("weather@grpc-metered@h2load"), Some(Family::Grpc));
        assert_eq!(Family::of("weather@orders@hey"), Some(Family::Http));
        assert_eq!(Family::of("weather@orders@ghz"), Some(Family::Grpc));
        assert_eq!(Family::of("weather@orders@h2load"), None);
        assert_eq!(Family::of("parse http"), None);
    }
}
