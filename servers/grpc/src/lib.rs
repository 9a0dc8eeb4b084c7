//! Weather, users and a metrics document over gRPC, the standard health service, and server reflection.

mod metrics;
mod services;
mod users;
mod weather;

use std::io;

use clap::Args;
use server_runtime::rpc::{self, Clients};
use server_runtime::{Incoming, Own, Serving};
use tonic::codec::CompressionEncoding;

pub use services::{Services, routes};

/// The arguments of this server only.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "gRPC")]
pub struct Clientele {
    /// Answers gRPC-web too, over HTTP/1.1 and HTTP/2, on the same address
    #[arg(long)]
    grpc_web: bool,

    /// Compresses messages with gzip for clients that accept it
    #[arg(long)]
    gzip: bool,
}

impl Own for Clientele {
    fn alpn(&self) -> &'static [&'static str] {
        if self.grpc_web { &["h2", "http/1.1"] } else { &["h2"] }
    }
}

/// Serves connections until a stop is requested, and applies `serving` to every request.
///
/// # Errors
/// Those of the transport.
pub async fn serve(incoming: Incoming, serving: Serving, own: Clientele) -> io::Result<()> {
    let services = routes(own.gzip.then_some(CompressionEncoding::Gzip))
        .await
        .map_err(io::Error::other)?;
    let clients = if own.grpc_web {
        Clients::GrpcAndWeb
    } else {
        Clients::Grpc
    };
    rpc::serve_at_once(incoming, services, clients, serving).await
}

#[cfg(test)]
mod tests {
    use tonic::{Code, Status};

    use contract::weather_v1::weather_service_client::WeatherServiceClient;
    use contract::weather_v1::{GetCurrentWeatherRequest, GetCurrentWeatherResponse};

    /// Calls the services in process.
    async fn ask(city: &str) -> Result<GetCurrentWeatherResponse, Status> {
        let services = super::routes(None).await.unwrap();
        let request = GetCurrentWeatherRequest { city: city.to_owned() };
        let answer = WeatherServiceClient::new(services).get_current_weather(request).await?;
        Ok(answer.into_inner())
    }

    #[tokio::test]
    async fn a_known_city_is_answered() {
        let expected = GetCurrentWeatherResponse {
            city: "Kyiv".to_owned(),
            temperature_c: 21.5,
            humidity: 60,
            condition: "Cloudy".to_owned(),
        };
        assert_eq!(ask("kyiv").await.unwrap(), expected);
    }

    #[tokio::test]
    async fn an_unknown_city_is_not_found() {
        let status = ask("Atlantis").await.unwrap_err();
        assert_eq!(status.code(), Code::NotFound);
        let text = status.message();
        assert!(
            text.contains(r#"no weather for "Atlantis": known cities are Kyiv"#),
            "{text}"
        );
    }

    #[tokio::test]
    async fn a_missing_or_blank_city_is_an_invalid_argument() {
        for city in ["", " "] {
            let status = ask(city).await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument);
            assert!(status.message().contains(r#"{"city":"Kyiv"}"#), "{}", status.message());
        }
    }

    use contract::users_v1::users_service_client::UsersServiceClient;
    use contract::users_v1::{
        GetUserRequest, ListUsersRequest, PageUsersRequest, StreamUsersRequest, StreamUsersResponse,
    };
    use futures_util::StreamExt;

    async fn users() -> UsersServiceClient<super::Services> {
        UsersServiceClient::new(super::routes(None).await.unwrap())
    }

    #[tokio::test]
    async fn users_are_answered_one_by_one_in_lists_and_in_pages() {
        let mut client = users().await;
        let answer = client.get_user(GetUserRequest { id: 7 }).await.unwrap().into_inner();
        assert_eq!(answer.user, Some(domain::user(7).unwrap().into()));

        for (limit, expected) in [(None, 20), (Some(3), 3)] {
            let answer = client.list_users(ListUsersRequest { limit }).await.unwrap();
            assert_eq!(answer.into_inner(), (&*domain::users(expected).unwrap().users).into());
        }
        for (asked, expected) in [((None, None), (1, 50)), ((Some(143), Some(7)), (143, 7))] {
            let (page, size) = asked;
            let answer = client.page_users(PageUsersRequest { page, size }).await.unwrap();
            let expected = domain::page_of_users(expected.0, expected.1).unwrap();
            assert_eq!(answer.into_inner(), (&expected).into());
        }
    }

    #[tokio::test]
    async fn users_that_cannot_be_are_refused() {
        let mut client = users().await;
        for id in [0, -1, 1_001, i32::MAX, i32::MIN] {
            let status = client.get_user(GetUserRequest { id }).await.unwrap_err();
            assert_eq!(status.code(), Code::NotFound, "id {id}");
        }
        for limit in [0, -1, 101] {
            let request = ListUsersRequest { limit: Some(limit) };
            let status = client.list_users(request).await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument, "limit {limit}");
        }
        for (page, size, expected) in [
            (21, 50, Code::NotFound),
            (0, 50, Code::InvalidArgument),
            (1, -50, Code::InvalidArgument),
            (1, i32::MAX, Code::InvalidArgument),
        ] {
            let (page, size) = (Some(page), Some(size));
            let status = client.page_users(PageUsersRequest { page, size }).await.unwrap_err();
            assert_eq!(status.code(), expected, "page {page:?} of {size:?}");
        }
        let request = StreamUsersRequest {
            count: Some(10_001),
            interval_ms: None,
        };
        let status = client.stream_users(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_sends_user_after_user_at_its_own_pace() {
        for (interval_ms, expected_ms) in [(0, 0), (20, 40)] {
            let started = tokio::time::Instant::now();
            let request = StreamUsersRequest {
                count: Some(3),
                interval_ms: Some(interval_ms),
            };
            let stream = users().await.stream_users(request).await.unwrap().into_inner();
            let sent: Vec<StreamUsersResponse> = stream.map(Result::unwrap).collect().await;
            let ids: Vec<u32> = sent.into_iter().map(|answer| answer.user.unwrap().id).collect();
            assert_eq!(ids, [1, 2, 3]);
            // The clock of this test is stopped, and goes on only where everything waits for it.
            let took = started.elapsed().as_millis();
            assert!((expected_ms..expected_ms + 5).contains(&took), "{took} ms");
        }
    }

    #[tokio::test]
    async fn the_metrics_document_is_answered() {
        use contract::metrics_v1::GetMetricsDocumentRequest;
        use contract::metrics_v1::metrics_service_client::MetricsServiceClient;

        let mut client = MetricsServiceClient::new(super::routes(None).await.unwrap());
        let answer = client.get_metrics_document(GetMetricsDocumentRequest {}).await.unwrap();
        assert_eq!(answer.into_inner(), domain::metrics_document().into());
    }
}
