//! hyper without a framework: one large file each way.

use std::io;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::from_std(peers::listen()?)?;
    let file = peers::file();
    loop {
        let (stream, _) = listener.accept().await?;
        let file = file.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| respond(request, file.clone()));
            // A client that breaks off harms only itself.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn respond(request: Request<Incoming>, file: Bytes) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let body = if request.method() == Method::POST {
        let length = request.into_body().collect().await?.to_bytes().len();
        format!("{{\"length\":{length}}}").into()
    } else {
        file
    };
    Ok(Response::new(Full::new(body)))
}
