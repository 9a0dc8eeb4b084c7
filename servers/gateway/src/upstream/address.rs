//! Where the next tier is, and how it is asked there.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// How the next tier is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// HTTP/1.1 with JSON.
    Http,
    /// gRPC without TLS.
    Grpc,
    /// gRPC with TLS.
    Grpcs,
}

/// An address such as `grpc://127.0.0.1:8080`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) scheme: Scheme,
    pub(crate) place: SocketAddr,
}

impl Address {
    /// Whether the next tier speaks TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.scheme == Scheme::Grpcs
    }

    /// Whether it is asked over HTTP/1.1.
    pub(crate) fn is_http(&self) -> bool {
        self.scheme == Scheme::Http
    }
}

impl Scheme {
    const ALL: [Self; 3] = [Self::Http, Self::Grpc, Self::Grpcs];

    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Grpc => "grpc",
            Self::Grpcs => "grpcs",
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (name, place) = text.split_once("://")?;
            let scheme = Scheme::ALL.into_iter().find(|scheme| scheme.name() == name)?;
            let place = place.trim_end_matches('/').parse().ok()?;
            Some(Self { scheme, place })
        };
        read().ok_or_else(|| {
            "expected http://, grpc:// or grpcs://, an IP address and a port, such as grpc://127.0.0.1:8080".to_owned()
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}", self.scheme.name(), self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn an_address_comes_back_as_it_was() {
        for text in ["http://127.0.0.1:80", "grpc://[::1]:8080", "grpcs://127.0.0.1:1"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn another_text_is_refused_with_an_example() {
        for text in [
            "",
            "127.0.0.1:80",
            "https://127.0.0.1:80",
            "grpc://localhost:80",
            "grpc://127.0.0.1",
        ] {
            let refused = text.parse::<Address>().unwrap_err();
            assert!(refused.contains("such as grpc://127.0.0.1:8080"), "{text}: {refused}");
        }
    }
}
