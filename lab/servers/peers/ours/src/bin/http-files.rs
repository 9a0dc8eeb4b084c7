//! axum on our runtime: one large file each way.

use std::io;
use std::process::ExitCode;

use axum::Router;
use axum::body::Bytes;
use axum::routing::get;
use server_runtime::{Incoming, NoMore, Serving, web};

fn main() -> ExitCode {
    server_runtime::run("http-files", "axum on our runtime, one large file each way", serve)
}

async fn serve(incoming: Incoming, serving: Serving, _own: NoMore) -> io::Result<()> {
    let file = ours::file();
    let download = || async move { file };
    let router = Router::new().route("/api/file", get(download).post(upload));
    web::serve(incoming, router, serving).await
}

async fn upload(content: Bytes) -> String {
    format!("{{\"length\":{}}}", content.len())
}
