//! `wirebench site serve`.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use anyhow::Context as _;
use axum::Router;
use tower_http::services::ServeDir;

use crate::command::{Outcome, UsageError};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  wirebench site serve _site     then open the printed address; Ctrl-C ends it")]
pub(in crate::command) struct Args {
    /// The site's folder.
    #[arg(default_value = "_site")]
    site: PathBuf,
    /// The port on this machine's loopback; without it, a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<Outcome> {
    if !args.site.join("index.html").is_file() {
        let message = format!(
            "{}: holds no index.html; build one with: wirebench site build HISTORY --out {}",
            args.site.display(),
            args.site.display()
        );
        return Err(UsageError(message).into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(args))?;
    Ok(Outcome::Done)
}

/// Serves until it is interrupted. Only this machine can ask.
async fn serve(args: &Args) -> anyhow::Result<()> {
    let address = (Ipv4Addr::LOCALHOST, args.port);
    let listener = tokio::net::TcpListener::bind(address).await.with_context(|| {
        format!(
            "port {}: cannot be listened on; give another one with --port",
            args.port
        )
    })?;
    println!("http://{}/", listener.local_addr()?);
    let files = Router::new().fallback_service(ServeDir::new(&args.site));
    axum::serve(listener, files).await?;
    Ok(())
}
