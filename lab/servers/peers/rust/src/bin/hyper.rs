//! hyper without a framework: with `--fixed` a response that is a constant, otherwise the work of our own server.

use std::convert::Infallible;
use std::io;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

type HttpResponse = Response<Full<Bytes>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::from_std(peers::listen()?)?;
    let fixed = peers::has_flag("--fixed");
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            let service = service_fn(move |request| async move {
                Ok::<_, Infallible>(if fixed { constant() } else { respond(&request) })
            });
            // A client that breaks off harms only itself.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

fn constant() -> HttpResponse {
    json(StatusCode::OK, Bytes::from_static(peers::KYIV.as_bytes()))
}

fn respond(request: &Request<Incoming>) -> HttpResponse {
    match request.uri().path() {
        "/api/weather/current" => weather(request.uri().query().unwrap_or_default()),
        "/health" => Response::new(Full::from("ok")),
        _ => json(
            StatusCode::NOT_FOUND,
            Bytes::from_static(b"{\"error\":\"nothing here\"}"),
        ),
    }
}

fn weather(query: &str) -> HttpResponse {
    let city = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "city");
    match domain::current_weather(&city.map(|(_, city)| city).unwrap_or_default()) {
        Ok(weather) => json(StatusCode::OK, serde_json::to_vec(weather).expect("plain data").into()),
        Err(error) => json(StatusCode::NOT_FOUND, error.to_string().into()),
    }
}

fn json(status: StatusCode, body: Bytes) -> HttpResponse {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
