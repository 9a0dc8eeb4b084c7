//! `wirebench site serve`: serves a built site, and no other file, on this machine's loopback.

use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use percent_encoding::percent_decode_str;
use tower_http::services::ServeDir;

use crate::outcome::{Outcome, UsageError};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  wirebench site serve _site     then open the printed address; Ctrl-C ends it

Only requests to localhost, 127.0.0.1 and [::1] are answered. Links that lead out of the folder are not followed.")]
pub(crate) struct Args {
    /// The site's folder.
    #[arg(default_value = "_site")]
    site: PathBuf,
    /// The port on this machine's loopback; without it, a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    if !args.site.join("index.html").is_file() {
        let site = args.site.display();
        let remedy = format!("build one with: wirebench site build HISTORY --out {site}");
        return Err(UsageError(format!("{site}: holds no index.html; {remedy}")).into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(args))?;
    Ok(Outcome::Done)
}

/// Serves until interrupted. Listens on loopback only.
async fn serve(args: &Args) -> anyhow::Result<()> {
    let (site, port) = (&args.site, args.port);
    let unreadable = || format!("{}: cannot be read", site.display());
    let site = site.canonicalize().with_context(unreadable)?;
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let taken = || format!("port {port}: cannot be listened on; give another one with --port");
    let listener = listener.with_context(taken)?;
    println!("http://{}/", listener.local_addr()?);
    let files = Router::new().fallback_service(ServeDir::new(&site));
    let guarded = files.layer(from_fn_with_state(Arc::new(site), guard));
    axum::serve(listener, guarded).await?;
    Ok(())
}

/// Serves a request only if its Host header is this machine's and its file is in the folder. A web page could make a
/// browser send requests here under another host name (DNS rebinding).
async fn guard(State(site): State<Arc<PathBuf>>, request: Request, next: Next) -> Response {
    if !is_ours(request.headers()) {
        let message = "expected Host: localhost or 127.0.0.1\n";
        return (StatusCode::MISDIRECTED_REQUEST, message).into_response();
    }
    // As `ServeDir` reads it.
    let path = percent_decode_str(request.uri().path())
        .decode_utf8()
        .map(Cow::into_owned);
    match path {
        Ok(path) if !leads_outside(&site, &path) => next.run(request).await,
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn is_ours(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|ours| name.eq_ignore_ascii_case(ours))
}

/// True if a path of the site is a symbolic link or is in a linked folder, so that the file is elsewhere.
fn leads_outside(site: &Path, path: &str) -> bool {
    let mut file = site.join(path.trim_start_matches('/'));
    if file.is_dir() {
        file.push("index.html");
    }
    file.canonicalize().is_ok_and(|real| !real.starts_with(site))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_own_names_are_answered() {
        let with = |hosts: &[&str]| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, host.parse().unwrap());
            }
            is_ours(&headers)
        };
        for ours in ["localhost", "LocalHost:80", "127.0.0.1:45123", "[::1]", "[::1]:9"] {
            assert!(with(&[ours]), "{ours}");
        }
        for other in [
            "",
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "localhost.evil.example:1",
            "localhost:x",
            "::1",
            "127.0.0.2",
        ] {
            assert!(!with(&[other]), "{other}");
        }
        assert!(!with(&[]) && !with(&["localhost", "evil.example"]));
    }
}
